//! The measured copy bandwidth of this machine's memory.

use rayon::prelude::*;
use ssb_core::Error;

use crate::entry::NAME;

/// Bytes of each of the two arrays: far more than any last-level cache of today.
const ARRAY_BYTES: usize = 512 << 20;

/// Bytes that one worker copies at a time.
const PIECE_BYTES: usize = 4 << 20;

/// Bytes a second, read and written ones together, of a copy between two large arrays by every worker.
pub fn copy_bandwidth(pool: &rayon::ThreadPool) -> Result<f64, Error> {
    let [from, mut to] = [array(1)?, array(0)?];
    let piece = PIECE_BYTES / size_of::<u64>();
    pool.install(|| {
        ssb_core::copy_bandwidth(ARRAY_BYTES as u64, || {
            to.par_chunks_mut(piece)
                .zip(from.par_chunks(piece))
                .for_each(|(to, from)| to.copy_from_slice(from));
            Ok(())
        })
    })
}

fn array(value: u64) -> Result<Vec<u64>, Error> {
    let count = ARRAY_BYTES / size_of::<u64>();
    let mut array = Vec::new();
    array
        .try_reserve_exact(count)
        .map_err(|_| Error::Unsuitable {
            backend: NAME.into(),
            reason: format!(
                "the copy bandwidth is measured between two arrays of {} MiB, and there is no memory \
                 for them; free some",
                ARRAY_BYTES >> 20
            ),
        })?;
    array.resize(count, value);
    Ok(array)
}

#[cfg(test)]
mod tests {
    use crate::CPU;

    #[test]
    fn memory_copies_at_a_believable_rate_and_only_the_host_does() {
        let per_s = (CPU.copy_bandwidth)(None, Some(2)).unwrap();
        println!("{:.2} GB/s", per_s * 1e-9);
        assert!(per_s > 1e8 && per_s < 1e14, "{per_s}");
        let refused = (CPU.copy_bandwidth)(Some(1), None).unwrap_err();
        assert!(refused.to_string().contains("not number 1"), "{refused}");
    }
}
