//! A library user: open a file, choose a backend at run time, fit, reconstruct.
//!
//! `cargo run --release --package ssb-examples --example choose_backend [-- BACKEND]`

use ssb::units::Length;
use ssb::{Backend, CalibrationHints, FitOptions, OpenOptions, ReconstructOptions, Session};
use ssb_io::write::AcquisitionLayout;
use ssb_testkit::simulate::{Counts, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for entry in ssb::backends::REGISTRY.entries {
        for device in (entry.devices)() {
            let state = device.unusable.as_deref().unwrap_or("usable");
            println!(
                "{:8} device {}: {}, {state}",
                entry.name, device.index, device.name
            );
        }
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("scan.h5");
    let scan = Simulation {
        scan_shape: [48, 48],
        ..Simulation::demo()
    }
    .run(&ssb::Control::default())?;
    let (calibration, control) = (&scan.truth.calibration, ssb::Control::default());
    let plain = AcquisitionLayout::Plain;
    match &scan.counts {
        Counts::U8(c) => {
            ssb_io::write::write_acquisition(&path, plain, c.view(), calibration, &control)?
        }
        Counts::U16(c) => {
            ssb_io::write::write_acquisition(&path, plain, c.view(), calibration, &control)?
        }
        Counts::U32(c) => {
            ssb_io::write::write_acquisition(&path, plain, c.view(), calibration, &control)?
        }
    };

    let name = std::env::args().nth(1).unwrap_or_else(|| "auto".into());
    let source = ssb::open(&path, &OpenOptions::default())?;
    let calibration = CalibrationHints::default(); // everything is in the file
    let session = Session::prepare(&source, calibration, Backend::from(name.as_str()))?;
    println!("{}\n{}", session.reason(), session.info().plan);

    let options = FitOptions::default()
        .with_search("C10", Length::from_nm(-30.0)..=Length::from_nm(30.0))?
        .with_search("C12", Length::from_nm(0.0)..=Length::from_nm(8.0))?;
    let fit = session.fit(&options)?;
    let c10 = fit.aberrations.get(0).magnitude_a / 10.0;
    println!("C10 = {c10:.2} nm, loss {:.6} rad^2", fit.loss);
    let image = session.reconstruct(&fit.aberrations, &ReconstructOptions::default())?;
    println!("phase of the mean object: {:?}", image.phase_rad().dim());
    Ok(())
}
