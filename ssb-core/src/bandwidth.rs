//! The measured copy bandwidth, the floor of every cost model (numerics section 7).

use std::time::Instant;

use crate::Error;

/// Timed copies; the median counts.
const RUNS: usize = 7;

/// Bytes a second, read and written ones together, of `copy`, which moves `bytes` from one place to another
/// and returns when they are there: the median of 7 runs after a first that is not timed.
///
/// # Errors
/// Those of `copy`.
///
/// ```
/// let (from, mut to) = (vec![1_u64; 1 << 16], vec![0_u64; 1 << 16]);
/// let per_s = ssb_core::copy_bandwidth(8 << 16, || {
///     to.copy_from_slice(&from);
///     Ok(())
/// })?;
/// assert!(per_s > 0.0);
/// # Ok::<(), ssb_core::Error>(())
/// ```
pub fn copy_bandwidth(
    bytes: u64,
    mut copy: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    copy()?;
    let mut seconds = [0.0; RUNS];
    for run in &mut seconds {
        let start = Instant::now();
        copy()?;
        *run = start.elapsed().as_secs_f64();
    }
    seconds.sort_by(f64::total_cmp);
    Ok(2.0 * bytes as f64 / seconds[RUNS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_known_duration_counts_both_directions() {
        let mut copies = 0;
        let per_s = copy_bandwidth(500, || {
            copies += 1;
            std::thread::sleep(std::time::Duration::from_millis(2));
            Ok(())
        })
        .unwrap();
        assert_eq!(copies, RUNS + 1);
        assert!(per_s > 1e4 && per_s <= 5e5, "{per_s}");
        assert!(copy_bandwidth(1, || Err(Error::Cancelled)).is_err());
    }
}
