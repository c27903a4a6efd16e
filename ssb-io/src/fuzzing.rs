//! Entries for `cargo fuzz` (feature `fuzzing`): bytes in, no panic out.

use std::cell::RefCell;
use std::path::PathBuf;

use hdf5_reader::messages::filter_pipeline::FilterDescription;
use ssb_core::Control;

use crate::codec::{Pipeline, Scratch};
use crate::{OpenOptions, open};

/// The first bytes choose a filter's settings and the size of the chunk, the rest is the chunk.
fn decode(id: u16, values: Vec<u32>, element: usize, len: usize, chunk: &[u8]) {
    let description = FilterDescription {
        id,
        name: None,
        client_data: values,
    };
    if let Ok(pipeline) = Pipeline::new(&[description], element) {
        let mut scratch = Scratch::default();
        scratch.raw.extend_from_slice(chunk);
        if pipeline.decode(&mut scratch, 0, len).is_ok() {
            assert_eq!(scratch.chunk.len(), len);
        }
    }
}

/// A bitshuffle chunk.
pub fn bitshuffle(data: &[u8]) {
    let [element, block, packing, low, high, chunk @ ..] = data else {
        return;
    };
    let element = usize::from(*element % 9);
    let len = usize::from(u16::from_le_bytes([*low, *high]));
    let values = vec![
        0,
        4,
        element as u32,
        u32::from(*block),
        u32::from(*packing % 4),
    ];
    decode(32008, values, element.max(1), len, chunk);
}

/// A chunk of one of the other filters.
pub fn chunk(data: &[u8]) {
    let [filter, element, low, high, chunk @ ..] = data else {
        return;
    };
    let id = [32000, 32001, 32004, 32015, 32026, 1][usize::from(*filter % 6)];
    let element = usize::from(*element % 9).max(1);
    let len = usize::from(u16::from_le_bytes([*low, *high]));
    decode(id, Vec::new(), element, len, chunk);
}

thread_local! {
    static FOLDER: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// A folder of this thread in memory where there is one.
fn folder() -> PathBuf {
    FOLDER.with_borrow_mut(|folder| {
        folder
            .get_or_insert_with(|| {
                let memory = PathBuf::from("/dev/shm");
                let base = if memory.is_dir() {
                    memory
                } else {
                    std::env::temp_dir()
                };
                let folder = base.join(format!("ssb-fuzz-{}", std::process::id()));
                let _ = std::fs::create_dir_all(&folder);
                folder
            })
            .clone()
    })
}

/// A file of this name: opened and read.
pub fn file(name: &str, data: &[u8]) {
    let path = folder().join(name);
    if std::fs::write(&path, data).is_err() {
        return;
    }
    let options = OpenOptions {
        scan_shape: Some([1, 2]),
        complete_rows_only: true,
        ..OpenOptions::default()
    };
    for options in [OpenOptions::default(), options] {
        if let Ok(source) = open(&path, &options) {
            let control = Control::default();
            let _ = source.mean_pattern(&control);
            let _ = source.gather(&[[0, 0]], &control);
        }
    }
}

/// An EMPAD description.
pub fn empad_xml(data: &[u8]) {
    crate::format::parse_empad(&String::from_utf8_lossy(data));
}

/// A result file.
pub fn result(data: &[u8]) {
    let path = folder().join("r.h5");
    if std::fs::write(&path, data).is_ok() {
        let _ = crate::result::ResultFile::read(&path);
        let _ = crate::result::ResultFile::read_provenance(&path);
    }
}
