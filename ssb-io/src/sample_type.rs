//! The sample types that counts are stored in, and how their bytes become numbers.

use std::ops::AddAssign;

use ssb_core::Sample;

/// A number type with its bytes in little-endian order.
pub(crate) trait Stored: Sample + Default + PartialOrd {
    /// Bytes of one sample.
    const BYTES: usize;
    /// The largest value, where the type is an integer.
    const MAX: Option<Self>;
    /// Decodes one sample from exactly `BYTES` bytes.
    fn decode(bytes: &[u8]) -> Self;
    /// Whether the value is a finite number.
    fn finite(self) -> bool;
    /// Sums over at most [`PART_FRAMES`] frames, narrow for speed and still exact for integers.
    type Part: Copy + Default + Send + Sync + AddAssign;
    /// The value as a partial sum; NaN and infinity count as 0.
    fn part(self) -> Self::Part;
    /// Adds a partial sum to an exact one (integers) or to a float64.
    fn add(part: Self::Part, total: &mut Total);
}

/// Frames whose 16-bit counts fit a 32-bit sum.
pub(crate) const PART_FRAMES: usize = 1 << 16;

/// A sum over any number of frames.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Total {
    pub(crate) integer: i64,
    pub(crate) real: f64,
}

macro_rules! stored {
    ($($type:ty, $max:expr, $finite:expr, $part:ty, $field:ident: $total:ty;)*) => {
        $(impl Stored for $type {
            const BYTES: usize = size_of::<$type>();
            const MAX: Option<Self> = $max;
            #[inline]
            fn decode(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<$type>()];
                word.copy_from_slice(bytes);
                Self::from_le_bytes(word)
            }
            #[inline]
            fn finite(self) -> bool { let f: fn($type) -> bool = $finite; f(self) }
            type Part = $part;
            #[inline]
            fn part(self) -> $part { if self.finite() { self.into() } else { Default::default() } }
            #[inline]
            #[allow(clippy::useless_conversion)]
            fn add(part: $part, total: &mut Total) { total.$field += <$total>::from(part); }
        })*
    };
}

stored! {
    u8, Some(Self::MAX), |_| true, u32, integer: i64;
    u16, Some(Self::MAX), |_| true, u32, integer: i64;
    u32, Some(Self::MAX), |_| true, i64, integer: i64;
    i8, Some(Self::MAX), |_| true, i64, integer: i64;
    i16, Some(Self::MAX), |_| true, i64, integer: i64;
    i32, Some(Self::MAX), |_| true, i64, integer: i64;
    f32, None, f32::is_finite, f64, real: f64;
    f64, None, f64::is_finite, f64, real: f64;
}

/// The number types that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SampleKind {
    U8,
    U16,
    U32,
    I8,
    I16,
    I32,
    F32,
    F64,
}

/// A stored number type: kind and byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleType {
    pub(crate) kind: SampleKind,
    pub(crate) big_endian: bool,
}

/// Runs `$body` with `$type` bound to the Rust type of a [`SampleKind`].
macro_rules! with_sample {
    ($kind:expr, $type:ident => $body:expr) => {
        match $kind {
            $crate::sample_type::SampleKind::U8 => {
                type $type = u8;
                $body
            }
            $crate::sample_type::SampleKind::U16 => {
                type $type = u16;
                $body
            }
            $crate::sample_type::SampleKind::U32 => {
                type $type = u32;
                $body
            }
            $crate::sample_type::SampleKind::I8 => {
                type $type = i8;
                $body
            }
            $crate::sample_type::SampleKind::I16 => {
                type $type = i16;
                $body
            }
            $crate::sample_type::SampleKind::I32 => {
                type $type = i32;
                $body
            }
            $crate::sample_type::SampleKind::F32 => {
                type $type = f32;
                $body
            }
            $crate::sample_type::SampleKind::F64 => {
                type $type = f64;
                $body
            }
        }
    };
}
pub(crate) use with_sample;

impl SampleKind {
    /// The kind of an integer or float of `bytes` bytes, if it is read.
    pub(crate) fn of(float: bool, signed: bool, bytes: usize) -> Option<Self> {
        Some(match (float, signed, bytes) {
            (false, false, 1) => Self::U8,
            (false, false, 2) => Self::U16,
            (false, false, 4) => Self::U32,
            (false, true, 1) => Self::I8,
            (false, true, 2) => Self::I16,
            (false, true, 4) => Self::I32,
            (true, _, 4) => Self::F32,
            (true, _, 8) => Self::F64,
            _ => return None,
        })
    }

    /// The kind of a NumPy name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        use SampleKind::{F32, F64, I8, I16, I32, U8, U16, U32};
        [U8, U16, U32, I8, I16, I32, F32, F64]
            .into_iter()
            .find(|kind| kind.dtype() == name)
    }

    /// NumPy's name.
    pub(crate) fn dtype(self) -> &'static str {
        with_sample!(self, T => <T as Sample>::DTYPE)
    }

    /// Bytes of one sample.
    pub(crate) fn bytes(self) -> usize {
        with_sample!(self, T => <T as Stored>::BYTES)
    }
}

/// The types that are read, for messages.
pub(crate) const SUPPORTED_TYPES: &str =
    "uint8, uint16, uint32, int8, int16, int32, float32 or float64";

/// Reverses the bytes of every sample.
pub(crate) fn swap_bytes(data: &mut [u8], bytes: usize) {
    if bytes > 1 {
        for sample in data.chunks_exact_mut(bytes) {
            sample.reverse();
        }
    }
}
