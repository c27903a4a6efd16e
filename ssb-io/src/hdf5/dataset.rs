//! Datasets: shape, type, filters and chunk list, checked before any sample is read.

use hdf5_reader::Datatype;
use hdf5_reader::error::ByteOrder;
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::dataspace::DataspaceMessage;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use hdf5_reader::messages::layout::DataLayout;

use super::{Object, Value, value};
use crate::IoError;
use crate::codec::Pipeline;
use crate::sample_type::{SUPPORTED_TYPES, SampleKind, SampleType};
use crate::stored_array::{Chunks, Place, StoredArray};

/// The description of a dataset.
pub(crate) struct Dataset {
    pub(super) object: Object,
    pub(super) space: DataspaceMessage,
    datatype: Datatype,
    /// `None` for a virtual dataset.
    layout: Option<DataLayout>,
    filters: Vec<FilterDescription>,
    pub(super) fill: Vec<u8>,
    external: bool,
}

/// Largest decoded small value (a mask, a calibration axis).
const SMALL_BYTES: usize = 1 << 27;
/// Samples may take this many times the bytes of their file, well above what any filter saves; more
/// is a damaged header or data that were never written.
const MAX_EXPANSION: u64 = 4096;
/// Bytes that no file is too small for.
const ALLOWANCE: u64 = 16 << 20;
/// The most pixels of a detector (8192 x 4096).
const MAX_PIXELS: usize = 1 << 25;

impl Dataset {
    /// Describes an object that is a dataset; `None` for a group.
    pub(crate) fn of(object: &Object) -> Option<Self> {
        let mut space = None;
        let mut datatype = None;
        let mut layout = None;
        let mut filters = Vec::new();
        let mut fill = Vec::new();
        let mut external = false;
        for message in object.messages() {
            match message {
                HdfMessage::Dataspace(m) => space = Some(m.clone()),
                HdfMessage::Datatype(m) => datatype = Some(m.datatype.clone()),
                HdfMessage::DataLayout(m) => layout = Some(m.layout.clone()),
                HdfMessage::FilterPipeline(m) => filters.clone_from(&m.filters),
                HdfMessage::FillValue(m) => fill = m.value.clone().unwrap_or_default(),
                HdfMessage::ExternalFiles(_) => external = true,
                _ => {}
            }
        }
        if layout.is_none() && object.virtual_heap.is_none() {
            return None;
        }
        Some(Self {
            object: object.clone(),
            space: space?,
            datatype: datatype?,
            layout,
            filters,
            fill,
            external,
        })
    }

    pub(crate) fn object(&self) -> &Object {
        &self.object
    }

    /// The extent of every axis.
    pub(crate) fn shape(&self) -> Vec<usize> {
        let cap = |n: &u64| usize::try_from(*n).unwrap_or(usize::MAX);
        self.space.dims.iter().map(cap).collect()
    }

    /// Whether the data are elsewhere and mapped in.
    pub(crate) fn is_virtual(&self) -> bool {
        self.layout.is_none()
    }

    /// The sample type, if it is a number of any width.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(
            self.datatype,
            Datatype::FixedPoint { .. } | Datatype::FloatingPoint { .. }
        )
    }

    /// The sample type.
    ///
    /// # Errors
    /// [`IoError::UnsupportedDtype`].
    pub(crate) fn sample(&self) -> Result<SampleType, IoError> {
        let (float, signed, size, order) = match &self.datatype {
            Datatype::FixedPoint {
                size,
                signed,
                byte_order,
            } => (false, *signed, *size, byte_order),
            Datatype::FloatingPoint { size, byte_order } => (true, true, *size, byte_order),
            other => return Err(self.unsupported_type(&type_name(other))),
        };
        let kind = SampleKind::of(float, signed, usize::from(size))
            .ok_or_else(|| self.unsupported_type(&type_name(&self.datatype)))?;
        Ok(SampleType {
            kind,
            big_endian: matches!(order, ByteOrder::BigEndian),
        })
    }

    fn unsupported_type(&self, found: &str) -> IoError {
        IoError::UnsupportedDtype(
            self.object
                .fault()
                .expected(format!("samples of type {SUPPORTED_TYPES}"))
                .found(found)
                .action("convert the data"),
        )
    }

    /// The stored array behind the dataset: every filter known, every chunk inside the file.
    ///
    /// # Errors
    /// An unsupported type, filter or layout, a truncated file, or a header that does not parse.
    pub(crate) fn array(&self) -> Result<StoredArray, IoError> {
        let sample = self.sample()?;
        let bytes = sample.kind.bytes();
        self.build(sample, bytes)
    }

    fn build(&self, sample: SampleType, bytes: usize) -> Result<StoredArray, IoError> {
        let object = &self.object;
        let unsupported = |found: &str| {
            IoError::UnsupportedLayout(
                object
                    .fault()
                    .expected("contiguous or chunked data in an HDF5 file")
                    .found(found)
                    .action("rewrite the file with h5repack"),
            )
        };
        if self.external {
            return Err(unsupported("an external raw data file"));
        }
        let pipeline = Pipeline::new(&self.filters, bytes).map_err(|found| {
            IoError::UnsupportedFilter(
                object
                    .fault()
                    .expected(
                        "no filter or deflate, shuffle, fletcher32, LZF, LZ4, zstd, bitshuffle (alone or \
                         with LZ4 or zstd), Blosc, Blosc2, scale-offset, n-bit or szip",
                    )
                    .found(found)
                    .action("rewrite the data with one of these filters"),
            )
        })?;
        let shape = self.shape();
        let total = shape
            .iter()
            .try_fold(bytes, |n, d| n.checked_mul(*d))
            .ok_or_else(|| {
                IoError::BadHeader(
                    object
                        .fault()
                        .expected("a possible size")
                        .found(format!("the shape {shape:?}"))
                        .action("copy the file again"),
                )
            })?;
        self.check_size(total as u64, &format!("the shape {shape:?}"))?;
        let layout = self
            .layout
            .as_ref()
            .ok_or_else(|| unsupported("a virtual dataset"))?;
        let (offset_size, _) = object.container.widths();
        let place = match layout {
            DataLayout::Compact { data } if data.len() >= total => Place::Inline(data.clone()),
            DataLayout::Compact { .. } => return Err(unsupported("compact data cut short")),
            DataLayout::Contiguous { address, .. }
                if Cursor::is_undefined_offset(*address, offset_size) =>
            {
                Place::Chunks(Chunks::unwritten(&shape, &self.fill, bytes))
            }
            DataLayout::Contiguous { address, .. } => {
                let address = address.saturating_add(object.container.base());
                let end = address.saturating_add(total as u64);
                let len = object.container.file().len();
                if end > len {
                    return Err(IoError::Truncated(
                        object
                            .fault()
                            .expected(format!("{end} bytes"))
                            .found(format!("{len} bytes: the file is truncated"))
                            .action("copy the file again"),
                    ));
                }
                Place::Contiguous { address }
            }
            DataLayout::Chunked {
                address,
                dims,
                chunk_indexing,
                ..
            } => Place::Chunks(self.chunks(
                *address,
                dims,
                chunk_indexing.as_ref(),
                bytes,
                pipeline,
            )?),
        };
        StoredArray::new(
            object.container.file().clone(),
            &object.path,
            sample,
            shape,
            place,
        )
    }

    /// Refuses sizes that the file cannot hold, before anything is allocated.
    pub(super) fn check_size(&self, bytes: u64, what: &str) -> Result<(), IoError> {
        let len = self.object.container.file().len();
        let pixels = self.space.dims.iter().rev().take(2);
        let pixels = pixels.fold(1_usize, |n, d| n.saturating_mul(*d as usize));
        let stack = self.space.dims.len() > 2;
        if bytes <= len.saturating_mul(MAX_EXPANSION) + ALLOWANCE && !(stack && pixels > MAX_PIXELS)
        {
            return Ok(());
        }
        Err(IoError::Truncated(
            self.object
                .fault()
                .expected(format!("a file that can hold {what}, {bytes} bytes"))
                .found(format!("{len} bytes: damaged, truncated or never written"))
                .action("copy the file again"),
        ))
    }

    /// The stored elements of a small dataset in C order.
    fn bytes(&self, element: usize) -> Result<Vec<u8>, IoError> {
        // Elements are only moved: any sample type serves.
        let raw = SampleType {
            kind: SampleKind::U8,
            big_endian: false,
        };
        self.build(raw, element)?
            .with_element(element)
            .read_all(SMALL_BYTES)
    }

    /// Every value of a small dataset; `None` when it holds neither numbers nor text.
    ///
    /// # Errors
    /// As [`Dataset::array`], and a corrupt chunk.
    pub(crate) fn value(&self) -> Result<Option<Value>, IoError> {
        let (offset_size, _) = self.object.container.widths();
        match value::element_bytes(&self.datatype, offset_size) {
            Some(element) => {
                let bytes = self.bytes(element)?;
                Ok(value::decode(
                    &self.object.container,
                    &self.datatype,
                    &bytes,
                ))
            }
            None => Ok(None),
        }
    }
}

fn type_name(datatype: &Datatype) -> String {
    match datatype {
        Datatype::FixedPoint { size, signed, .. } => {
            format!(
                "{}int{}",
                if *signed { "" } else { "u" },
                8 * u32::from(*size)
            )
        }
        Datatype::FloatingPoint { size, .. } => format!("float{}", 8 * u32::from(*size)),
        Datatype::String { .. } => "text".into(),
        Datatype::Compound { .. } => "a compound type (complex numbers?)".into(),
        Datatype::VarLen { .. } => "values of variable length".into(),
        Datatype::Enum { .. } => "an enumeration".into(),
        _ => "another type".into(),
    }
}

impl Object {
    /// The value of a small dataset below this group; `None` when there is none.
    pub(crate) fn value(&self, path: &str) -> Result<Option<Value>, IoError> {
        match self.find(path)?.as_ref().and_then(Dataset::of) {
            Some(dataset) => dataset.value(),
            None => Ok(None),
        }
    }

    /// The number in a small dataset below this group, where there is one that reads.
    pub(crate) fn number(&self, path: &str) -> Option<f64> {
        self.value(path).ok()??.number()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Container;
    use super::*;

    /// Streams of the C bitshuffle library: every element size, lengths below 8, with left-over
    /// elements, and above one block.
    #[test]
    fn bitshuffle_vectors_decode() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/codec_bitshuffle_vectors.h5"
        );
        let root = Container::open(path.as_ref()).unwrap().root().unwrap();
        let compressed = root.find("compressed").unwrap().unwrap();
        let mut checked = 0;
        for link in compressed.links().unwrap() {
            let stream = Dataset::of(&compressed.follow(&link).unwrap().unwrap()).unwrap();
            let (name, packing) = link.name.rsplit_once('_').unwrap();
            let original = root.find(&format!("original/{name}")).unwrap().unwrap();
            let original = Dataset::of(&original).unwrap();
            let element = match &stream.datatype {
                Datatype::FixedPoint { size, .. } => usize::from(*size),
                other => panic!("{other:?}"),
            };
            let bytes = stream.bytes(element).unwrap();
            assert_eq!(bytes, original.bytes(element).unwrap(), "{}", link.name);
            assert!(["none", "lz4", "zstd"].contains(&packing));
            checked += 1;
        }
        assert_eq!(checked, 36);
    }
}
