//! The reference data of the independent implementation as a file that the program opens, and whether it can be fitted
//! on a GPU here.

use ssb::ndarray::Array4;
use ssb_testkit::refdata;

use crate::simulated::Data;

/// The counts of a reference set in their bright-field pixels, and the number of these.
pub fn reference_file(name: &str) -> (Data, usize) {
    let reference = refdata::load(name).unwrap();
    let disk = reference.disk("fitted").unwrap();
    let problem = reference.problem("fitted").unwrap();
    let evidence = problem.evidence();
    let [rows, cols] = evidence.scan_shape();
    let (det_rows, det_cols) = reference.pattern_sum.dim();
    let mut frames = Array4::<u16>::zeros((rows, cols, det_rows, det_cols));
    let mut column = vec![0.0; rows * cols];
    for (b, pixel) in disk.pixels.iter().enumerate() {
        let [kr, kc] = pixel.map(|i| i as usize);
        evidence.read_f64(b, &mut column);
        for (i, count) in column.iter().enumerate() {
            frames[[i / cols, i % cols, kr, kc]] = *count as u16;
        }
    }
    let data = Data::empty(&format!("{name}.h5"));
    ssb_io::write::write_acquisition(
        &data.file,
        ssb_io::write::AcquisitionLayout::Plain,
        frames.view(),
        &reference.calibration,
        &ssb::Control::default(),
    )
    .unwrap();
    (data, disk.pixels.len())
}

/// Whether `vulkan` can be tested here; without an adapter that must be there it is a failure.
pub fn vulkan_is_usable() -> bool {
    let usable = ssb::backends::REGISTRY
        .entries
        .iter()
        .filter(|entry| entry.name == "vulkan")
        .any(|entry| (entry.devices)().iter().any(|d| d.unusable.is_none()));
    if !usable {
        let required = std::env::var_os("SSB_REQUIRE_ADAPTER").is_some();
        assert!(!required, "no adapter for vulkan");
        eprintln!("SKIPPED on vulkan: no adapter");
    }
    usable
}
