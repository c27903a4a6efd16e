//! What opening will read and hold, before anything large is reserved.

use std::fmt;
use std::path::PathBuf;

use crate::IoError;
use crate::error::Fault;
use crate::gather::{BATCH, batch_work};
use crate::source::Source;

/// Bytes that reading will take; see [`Source::load_plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadPlan {
    file: PathBuf,
    /// Stored bytes of the files, compressed as they are; for a region about the share that it needs.
    pub stored_bytes: u64,
    /// Bytes of all used samples, decoded; never held at once.
    pub decoded_bytes: u64,
    /// Buffers of the threads and of the frames between two writes into the columns.
    pub buffer_bytes: u64,
    /// Bright-field columns.
    pub column_bytes: u64,
    /// Number of bright-field columns.
    pub columns: usize,
    /// Times that the data are read.
    pub passes: u8,
}

/// A size for people.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1_000_000 => write!(f, "{:.1} kB", bytes / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.1} MB", bytes / 1e6),
            _ => write!(f, "{:.2} GB", bytes / 1e9),
        }
    }
}

impl fmt::Display for LoadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "read {} ({} decoded) in {} pass{}; keep {} bright-field columns, {}; buffers {}; peak about {}",
            Size(self.stored_bytes),
            Size(self.decoded_bytes),
            self.passes,
            if self.passes == 1 { "" } else { "es" },
            self.columns,
            Size(self.column_bytes),
            Size(self.buffer_bytes),
            Size(self.peak_bytes()),
        )
    }
}

impl LoadPlan {
    /// Columns and buffers.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.column_bytes.saturating_add(self.buffer_bytes)
    }

    /// Compares the peak with a budget, or with the memory that is free where there is none.
    ///
    /// # Errors
    /// [`IoError::OverBudget`] or [`IoError::OutOfMemory`], with both numbers.
    pub fn check(&self, max_memory_bytes: Option<u64>) -> Result<(), IoError> {
        let (limit, what) = match (max_memory_bytes, free_memory_bytes()) {
            (Some(budget), _) => (budget, "the budget --max-memory"),
            (None, Some(free)) => (free, "the memory that is free"),
            (None, None) => return Ok(()),
        };
        if self.peak_bytes() <= limit {
            return Ok(());
        }
        let kind = match max_memory_bytes {
            Some(_) => IoError::OverBudget,
            None => IoError::OutOfMemory,
        };
        Err(kind(
            Fault::of(&self.file)
                .expected(format!("a peak within {what}, {}", Size(limit)))
                .found(format!("a plan to {self}"))
                .action(
                    "give a smaller --bf-radius-px, fewer --threads, a larger --max-memory, or a \
                     machine with more memory",
                ),
        ))
    }
}

/// Memory that can be had without pushing others out, where the system says so: the smaller of
/// what the machine and the process's group have left.
#[cfg(target_os = "linux")]
fn free_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let machine = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    let group = || -> Option<u64> {
        let number = |name: &str| -> Option<u64> {
            let path = format!("/sys/fs/cgroup/{name}");
            std::fs::read_to_string(path).ok()?.trim().parse().ok()
        };
        // The page cache of the group is given back when it is needed.
        let stat = std::fs::read_to_string("/sys/fs/cgroup/memory.stat").ok()?;
        let cache = stat.lines().find_map(|l| l.strip_prefix("file "));
        let cache: u64 = cache.and_then(|c| c.trim().parse().ok()).unwrap_or(0);
        let used = number("memory.current")?.saturating_sub(cache);
        Some(number("memory.max")?.saturating_sub(used))
    };
    Some(group().map_or(machine, |g| g.min(machine)))
}

#[cfg(not(target_os = "linux"))]
fn free_memory_bytes() -> Option<u64> {
    None
}

impl Source {
    /// Plans the reading of so many bright-field columns on the current pool of threads.
    #[must_use]
    pub fn load_plan(&self, columns: usize, passes: u8) -> LoadPlan {
        let [rows, cols, det_rows, det_cols] = self.shape();
        let points = (rows * cols) as u64;
        let bytes = self.sample_bytes() as u64;
        let threads = rayon::current_num_threads() as u64;
        let pieces = self.stack.pieces();
        let chunk = |p: &crate::frames::Piece| {
            p.array.block().iter().product::<usize>() as u64 * p.array.sample().kind.bytes() as u64
        };
        // Raw, decoded and one stage between, for each thread.
        let chunks = pieces.iter().map(chunk).max().unwrap_or(0);
        let pixels = (det_rows * det_cols) as u64;
        let work = self.stack.work();
        let batch = batch_work(&self.stack, columns, self.sample_bytes()).min(work.len()) as u64;
        // Gathered samples and sums of the pieces of work between two writes.
        let frames = self.stack.work_frames() as u64;
        let between = batch * (frames * columns as u64 * bytes + pixels * (16 + 4 + bytes + 8));
        debug_assert!(batch as usize <= BATCH);
        LoadPlan {
            file: self.path().to_owned(),
            stored_bytes: (self.stored_bytes() as f64 * self.stack.used_share()) as u64,
            decoded_bytes: points * pixels * bytes,
            buffer_bytes: 3 * chunks * threads + between + pixels * 64,
            column_bytes: columns as u64 * points * bytes,
            columns,
            passes,
        }
    }

    /// Bytes of all files that hold samples.
    fn stored_bytes(&self) -> u64 {
        if let Some(companion) = &self.companion {
            return companion.array().file().len();
        }
        let mut files: Vec<_> = self.stack.pieces().iter().map(|p| p.array.file()).collect();
        files.sort_by_key(|f| f.path());
        files.dedup_by_key(|f| f.path());
        files.iter().map(|f| f.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_over_its_budget_is_refused_with_both_numbers() {
        let plan = LoadPlan {
            file: PathBuf::from("scan.h5"),
            stored_bytes: 1_200_000_000,
            decoded_bytes: 19_300_000_000,
            buffer_bytes: 50_000_000,
            column_bytes: 4_750_000_000,
            columns: 9070,
            passes: 2,
        };
        assert!(plan.check(Some(4_800_000_000)).is_ok());
        let error = plan.check(Some(1_000_000_000)).unwrap_err().to_string();
        for words in ["1.00 GB", "4.80 GB", "9070", "19.30 GB", "2 passes"] {
            assert!(error.contains(words), "{words} in {error}");
        }
        assert!(plan.check(None).is_ok() || free_memory_bytes().is_some());
    }
}
