//! Decoded frames in groups: what looks at them does so for several frames at once, while they and what they
//! are added to are in cache.

use crate::IoError;
use crate::codec::Scratch;
use crate::frames::{FrameAt, Stack, Work};

/// Frames of a group, at most.
pub(crate) const GROUP: usize = 16;
/// Decoded bytes that are held for a group of small blocks.
const GROUP_BYTES: usize = 512 << 10;

/// A decoded frame of one tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// Scan position in row-major order.
    pub(crate) position: usize,
    /// The block from the frame's first sample on.
    pub(crate) data: &'a [u8],
}

/// Buffers of a worker: those of the decoder, and decoded blocks that wait for their group.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    scratch: Scratch,
    held: Vec<Vec<u8>>,
}

impl Reader {
    /// Reads the blocks of a piece of work and hands on their frames, group by group and in order.
    /// `bytes` is the size of a sample.
    ///
    /// # Errors
    /// A chunk that does not read.
    pub(crate) fn each_group(
        &mut self,
        stack: &Stack,
        work: &Work,
        blocks: &[(Vec<usize>, Vec<FrameAt>)],
        bytes: usize,
        mut take: impl FnMut(&[Frame<'_>]),
    ) -> Result<(), IoError> {
        let mut rest = blocks;
        while !rest.is_empty() {
            // As many blocks as give a group, unless they are large.
            let (mut count, mut frames, mut held_bytes) = (0, 0, 0);
            for (at, of_block) in rest {
                stack.read(work, at, of_block, &mut self.scratch)?;
                if self.held.len() == count {
                    self.held.push(Vec::new());
                }
                std::mem::swap(&mut self.held[count], &mut self.scratch.chunk);
                held_bytes += self.held[count].len();
                count += 1;
                frames += of_block.len();
                if frames >= GROUP || held_bytes >= GROUP_BYTES {
                    break;
                }
            }
            let (now, later) = rest.split_at(count);
            let decoded: Vec<Frame<'_>> = now
                .iter()
                .zip(&self.held)
                .flat_map(|((_, frames), block)| {
                    frames.iter().map(|f| Frame {
                        position: f.position,
                        data: &block[f.offset * bytes..],
                    })
                })
                .collect();
            decoded.chunks(GROUP).for_each(&mut take);
            rest = later;
        }
        Ok(())
    }
}
