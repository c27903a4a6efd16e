//! Velox EMD: recognised and refused, because its frames are stored with the frame axis last and
//! read as plain HDF5 they would be taken for something else (`formats.md` section 3.5).

use super::Format;
use crate::IoError;
use crate::hdf5::Object;

pub(super) const FORMAT: Format = Format {
    name: "Velox EMD",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| images(&root).is_some())
    },
    open: |candidate, _| {
        let fault = match candidate.container.as_ref().map(|c| c.root()).transpose()? {
            Some(root) => images(&root).unwrap_or(root).fault(),
            None => crate::error::Fault::of(candidate.path()),
        };
        Err(IoError::UnsupportedLayout(
            fault
                .expected("a layout that this version reads")
                .found("Velox EMD, which is not read yet")
                .action("export the scan as plain HDF5, py4DSTEM or NPY"),
        ))
    },
};

/// The group of images, as Velox alone names it.
fn images(root: &Object) -> Option<Object> {
    root.find("Data/Image").ok().flatten()
}
