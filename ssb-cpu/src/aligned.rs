//! Floats that start on a cache line, so that no vector straddles two; large arrays on huge pages.
//!
//! G is read once an evaluation, a few KiB here and there: with pages of 4 KiB the processor waits for
//! address translation more than for memory (measured: the agreement took twice as long).

use memmap2::MmapMut;
use pulp::bytemuck;

/// Bytes of a cache line, and of the widest vector.
const LINE_BYTES: usize = 64;

/// From here on arrays are mapped, on huge pages where the system has them.
const LARGE_BYTES: usize = 4 << 20;

/// A fixed number of float32 values, aligned; 0 at first.
pub struct Aligned(Memory);

enum Memory {
    Small {
        values: Vec<f32>,
        start: usize,
        length: usize,
    },
    Mapped(MmapMut),
}

impl Aligned {
    /// `length` zeros; memory is touched when written to.
    pub fn new(length: usize) -> Self {
        if length * size_of::<f32>() >= LARGE_BYTES
            && let Some(mapped) = map(length)
        {
            return Self(Memory::Mapped(mapped));
        }
        let values = vec![0.0_f32; length + LINE_BYTES / size_of::<f32>()];
        let start = values.as_ptr().align_offset(LINE_BYTES);
        Self(Memory::Small {
            values,
            start,
            length,
        })
    }

    /// As [`Self::new`], or `None` when there is no memory.
    pub fn try_new(length: usize) -> Option<Self> {
        if length.checked_mul(size_of::<f32>())? >= LARGE_BYTES {
            return map(length).map(|mapped| Self(Memory::Mapped(mapped)));
        }
        Some(Self::new(length))
    }

    #[inline(always)]
    pub fn get(&self) -> &[f32] {
        match &self.0 {
            Memory::Small {
                values,
                start,
                length,
            } => &values[*start..*start + *length],
            Memory::Mapped(mapped) => bytemuck::cast_slice(mapped),
        }
    }

    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut [f32] {
        match &mut self.0 {
            Memory::Small {
                values,
                start,
                length,
            } => &mut values[*start..*start + *length],
            Memory::Mapped(mapped) => bytemuck::cast_slice_mut(mapped),
        }
    }
}

fn map(length: usize) -> Option<MmapMut> {
    let mapped = MmapMut::map_anon(length.checked_mul(size_of::<f32>())?).ok()?;
    // Advice: where it is not taken, pages stay small.
    #[cfg(target_os = "linux")]
    let _ = mapped.advise(memmap2::Advice::HugePage);
    Some(mapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_cache_line() {
        for n in [1, 7, 1000, 1 << 21] {
            let mut a = Aligned::new(n);
            assert_eq!(a.get().as_ptr() as usize % LINE_BYTES, 0);
            assert!(a.get_mut().len() == n && a.get().iter().all(|v| *v == 0.0));
        }
        assert!(Aligned::try_new(usize::MAX / 8).is_none());
        assert_eq!(Aligned::try_new(0).unwrap().get().len(), 0);
    }
}
