//! Floats that start on a cache line, so that no vector straddles two.

/// Bytes of a cache line, and of the widest vector.
const LINE_BYTES: usize = 64;

/// A fixed number of float32 values, aligned; 0 at first.
pub struct Aligned {
    values: Vec<f32>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// `length` zeros; memory is touched when written to.
    pub fn new(length: usize) -> Self {
        let values = vec![0.0_f32; length + LINE_BYTES / size_of::<f32>()];
        let start = values.as_ptr().align_offset(LINE_BYTES);
        Self {
            values,
            start,
            length,
        }
    }

    /// As [`Self::new`], or `None` when there is no memory.
    pub fn try_new(length: usize) -> Option<Self> {
        let mut probe = Vec::<f32>::new();
        probe
            .try_reserve_exact(length + LINE_BYTES / size_of::<f32>())
            .ok()?;
        drop(probe);
        Some(Self::new(length))
    }

    #[inline(always)]
    pub fn get(&self) -> &[f32] {
        &self.values[self.start..self.start + self.length]
    }

    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut [f32] {
        &mut self.values[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_cache_line() {
        for n in [1, 7, 1000] {
            let mut a = Aligned::new(n);
            assert_eq!(a.get().as_ptr() as usize % LINE_BYTES, 0);
            assert!(a.get_mut().len() == n && a.get().iter().all(|v| *v == 0.0));
        }
        assert!(Aligned::try_new(usize::MAX / 8).is_none());
    }
}
