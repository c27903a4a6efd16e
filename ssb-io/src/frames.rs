//! The frames of an acquisition: arrays in one or several files, which stored axis is which, and
//! the order in which frames visit the scan.

use crate::IoError;
use crate::codec::Scratch;
use crate::grid::Grid;
use crate::options::{Region, ScanOrder};
use crate::sample_type::SampleKind;
use crate::stored_array::{BlockError, StoredArray};

/// Decoded bytes that one piece of work aims at.
const WORK_BYTES: usize = 1 << 20;
/// Frames that one piece of work holds at most, unless a single block holds more.
const WORK_FRAMES: usize = 1024;

/// A run of frames in one stored array.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) array: StoredArray,
    /// Stored axes that count frames, slowest first: one (a stack) or two (scan row, scan col).
    pub(crate) frame_axes: Vec<usize>,
    /// Stored axes of the detector (row, col).
    pub(crate) det_axes: [usize; 2],
    /// Frames of the array before the first that counts.
    pub(crate) skip: usize,
    /// Frames that count.
    pub(crate) frames: usize,
}

impl Piece {
    /// Every frame of an array whose last two axes are the detector's and whose leading axes of
    /// length 1 beyond the scan's are dropped.
    pub(crate) fn whole(array: StoredArray) -> Self {
        let rank = array.shape().len();
        let frames = array.shape()[..rank - 2].iter().product();
        Self {
            frame_axes: (rank.saturating_sub(4)..rank - 2).collect(),
            det_axes: [rank - 2, rank - 1],
            skip: 0,
            frames,
            array,
        }
    }

    /// Every frame of an array with the axes as told.
    pub(crate) fn along(array: StoredArray, frame_axes: &[usize], det_axes: [usize; 2]) -> Self {
        let frames = frame_axes.iter().map(|a| array.shape()[*a]).product();
        Self {
            frame_axes: frame_axes.to_vec(),
            det_axes,
            skip: 0,
            frames,
            array,
        }
    }

    /// Takes the stored axes the other way round: the last one counts scan rows.
    pub(crate) fn reverse_axes(&mut self) {
        let rank = self.array.shape().len();
        let first = self.frame_axes.first().copied().unwrap_or(0);
        let mirrored = |axis: usize| rank - 1 - axis + first;
        for axis in &mut self.frame_axes {
            *axis = mirrored(*axis);
        }
        self.det_axes = self.det_axes.map(mirrored);
        self.frames = self
            .frame_axes
            .iter()
            .map(|a| self.array.shape()[*a])
            .product();
    }

    /// Extents along the frame axes; 1 row for a stack.
    pub(crate) fn scan_extent(&self) -> [usize; 2] {
        match self.frame_axes[..] {
            [row, col] => [self.extent(row), self.extent(col)],
            _ => [1, self.frames],
        }
    }

    /// The extent of an axis.
    fn extent(&self, axis: usize) -> usize {
        self.array.shape()[axis]
    }

    /// Detector shape.
    pub(crate) fn det_shape(&self) -> [usize; 2] {
        self.det_axes.map(|axis| self.extent(axis))
    }
}

/// The order in which frames visit the scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scan {
    /// `(rows, cols)` that are used.
    pub(crate) shape: [usize; 2],
    /// `(rows, cols)` of the scan, without flyback; more than are used for a region.
    pub(crate) whole: [usize; 2],
    /// The first (row, col) that is used.
    pub(crate) origin: [usize; 2],
    /// Frames before the first scan position.
    pub(crate) skip: usize,
    /// Frames after each line that are dropped.
    pub(crate) flyback: usize,
    pub(crate) order: ScanOrder,
}

impl Scan {
    /// Frames that a complete scan needs, the skipped ones included.
    pub(crate) fn frames_needed(&self) -> usize {
        let line = self.whole[1].saturating_add(self.flyback);
        self.whole[0].saturating_mul(line).saturating_add(self.skip)
    }

    /// The scan of a region of this one; `None` for a region that is empty or reaches beyond it.
    pub(crate) fn part(self, region: Region) -> Option<Self> {
        let (rows, cols) = (region.rows, region.cols);
        let inside = |[from, to]: [usize; 2], n: usize| from < to && to <= n;
        (inside(rows, self.whole[0]) && inside(cols, self.whole[1])).then(|| Self {
            shape: [rows[1] - rows[0], cols[1] - cols[0]],
            origin: [rows[0], cols[0]],
            ..self
        })
    }

    /// Scan position (in row-major order of what is used) of a frame; `None` for a dropped one.
    pub(crate) fn position(&self, frame: usize) -> Option<usize> {
        let [rows, cols] = self.whole;
        let frame = frame.checked_sub(self.skip)?;
        let line = cols + self.flyback;
        let (row, at) = (frame / line, frame % line);
        if row >= rows || at >= cols {
            return None;
        }
        let reversed = self.order == ScanOrder::Serpentine && row % 2 == 1;
        let place = [row, if reversed { cols - 1 - at } else { at }];
        let used = |axis: usize| {
            let from_first = place[axis].checked_sub(self.origin[axis])?;
            (from_first < self.shape[axis]).then_some(from_first)
        };
        Some(used(0)? * self.shape[1] + used(1)?)
    }
}

/// Part of the detector that one block covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile {
    /// Place in the grid along the detector axes.
    at: [usize; 2],
    /// First detector (row, col).
    pub(crate) start: [usize; 2],
    /// Detector (rows, cols).
    pub(crate) shape: [usize; 2],
    /// Elements between neighbours along detector (row, col) in a decoded block.
    pub(crate) strides: [usize; 2],
}

/// One piece of work: some consecutive blocks along the frames, for one tile of the detector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    piece: usize,
    /// Index into [`Stack::tiles`].
    pub(crate) tile: usize,
    first_cell: usize,
    cells: usize,
}

impl Work {
    /// Whether two pieces of work are tiles of the same frames.
    pub(crate) fn same_frames(&self, other: &Self) -> bool {
        self.piece == other.piece && self.first_cell == other.first_cell
    }
}

/// A used frame inside a decoded block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameAt {
    /// Scan position in row-major order.
    pub(crate) position: usize,
    /// Element offset of the frame in the block.
    pub(crate) offset: usize,
}

/// All frames of a source, in the order of acquisition.
#[derive(Debug, Clone)]
pub(crate) struct Stack {
    pieces: Vec<Piece>,
    scan: Scan,
    tiles: Vec<Tile>,
    work: Vec<Work>,
    /// Share of the stored work that holds a used frame.
    used: f64,
}

impl Stack {
    /// Plans the work over all used frames.
    pub(crate) fn new(pieces: Vec<Piece>, scan: Scan) -> Self {
        let (mut tiles, mut work) = (Vec::new(), Vec::new());
        for (p, piece) in pieces.iter().enumerate() {
            let grid = piece.array.grid();
            let (block, strides) = (piece.array.block(), piece.array.strides());
            let [row, col] = piece.det_axes;
            let first_tile = tiles.len();
            for at in Grid::new(&[grid[row], grid[col]]) {
                let start = [at[0] * block[row], at[1] * block[col]];
                tiles.push(Tile {
                    at: [at[0], at[1]],
                    start,
                    shape: [
                        (piece.extent(row) - start[0]).min(block[row]),
                        (piece.extent(col) - start[1]).min(block[col]),
                    ],
                    strides: [strides[row], strides[col]],
                });
            }
            let cells: usize = piece.frame_axes.iter().map(|a| grid[*a]).product();
            let frames: usize = piece.frame_axes.iter().map(|a| block[*a]).product();
            let bytes = block.iter().product::<usize>() * piece.array.sample().kind.bytes();
            let group = (WORK_BYTES / bytes.max(1))
                .min(WORK_FRAMES / frames.max(1))
                .max(1);
            for first_cell in (0..cells).step_by(group) {
                for tile in first_tile..tiles.len() {
                    work.push(Work {
                        piece: p,
                        tile,
                        first_cell,
                        cells: group.min(cells - first_cell),
                    });
                }
            }
        }
        let mut stack = Self {
            pieces,
            scan,
            tiles,
            work,
            used: 1.0,
        };
        if scan.shape != scan.whole {
            let all = std::mem::take(&mut stack.work);
            let count = all.len();
            let used = |w: &Work| !stack.blocks(w).is_empty();
            let work: Vec<Work> = all.into_iter().filter(used).collect();
            stack.used = work.len() as f64 / count.max(1) as f64;
            stack.work = work;
        }
        stack
    }

    /// Share of the stored samples that has to be read, about.
    pub(crate) fn used_share(&self) -> f64 {
        self.used
    }

    pub(crate) fn scan(&self) -> &Scan {
        &self.scan
    }

    pub(crate) fn kind(&self) -> SampleKind {
        self.pieces
            .first()
            .map_or(SampleKind::U8, |p| p.array.sample().kind)
    }

    /// Stored detector shape.
    pub(crate) fn det_shape(&self) -> [usize; 2] {
        self.pieces.first().map_or([0, 0], Piece::det_shape)
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(crate) fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Frames of the largest piece of work.
    pub(crate) fn work_frames(&self) -> usize {
        let frames = |w: &Work| {
            let piece = &self.pieces[w.piece];
            let block = piece.array.block();
            w.cells
                * piece
                    .frame_axes
                    .iter()
                    .map(|a| block[*a])
                    .product::<usize>()
        };
        self.work.iter().map(frames).max().unwrap_or(0)
    }

    /// All work, in the order of the frames.
    pub(crate) fn work(&self) -> &[Work] {
        &self.work
    }

    /// Place in the grid and used frames of every block of a piece of work; blocks without a used
    /// frame are left out.
    pub(crate) fn blocks(&self, work: &Work) -> Vec<(Vec<usize>, Vec<FrameAt>)> {
        let piece = &self.pieces[work.piece];
        let before: usize = self.pieces[..work.piece].iter().map(|p| p.frames).sum();
        let (grid, block) = (piece.array.grid(), piece.array.block());
        let strides = piece.array.strides();
        let tile = &self.tiles[work.tile];
        let mut blocks = Vec::with_capacity(work.cells);
        for cell in work.first_cell..work.first_cell + work.cells {
            let mut at = vec![0; grid.len()];
            let mut rest = cell;
            for axis in piece.frame_axes.iter().rev() {
                at[*axis] = rest % grid[*axis];
                rest /= grid[*axis];
            }
            let starts = piece.frame_axes.iter().map(|a| at[*a] * block[*a]);
            let starts: Vec<usize> = starts.collect();
            let extents: Vec<usize> = piece
                .frame_axes
                .iter()
                .zip(&starts)
                .map(|(a, start)| (piece.extent(*a) - start).min(block[*a]))
                .collect();
            let mut frames = Vec::with_capacity(extents.iter().product());
            for inner in Grid::new(&extents) {
                let (mut number, mut offset) = (0, 0);
                for (d, axis) in piece.frame_axes.iter().enumerate() {
                    number = number * piece.extent(*axis) + starts[d] + inner[d];
                    offset += inner[d] * strides[*axis];
                }
                let used = number
                    .checked_sub(piece.skip)
                    .filter(|n| *n < piece.frames)
                    .and_then(|n| self.scan.position(before + n));
                frames.extend(used.map(|position| FrameAt { position, offset }));
            }
            if !frames.is_empty() {
                [at[piece.det_axes[0]], at[piece.det_axes[1]]] = tile.at;
                blocks.push((at, frames));
            }
        }
        blocks
    }

    /// Reads one block of a piece of work into `scratch.chunk`.
    ///
    /// # Errors
    /// The chunk and a frame in it are named.
    pub(crate) fn read(
        &self,
        work: &Work,
        at: &[usize],
        frames: &[FrameAt],
        scratch: &mut Scratch,
    ) -> Result<(), IoError> {
        let array = &self.pieces[work.piece].array;
        array.read_block(at, scratch).map_err(|error: BlockError| {
            let position = frames.first().map_or(0, |f| f.position);
            let [row, col] = self.place(position);
            array.failure(&error, &format!("chunk {at:?} with frame ({row}, {col})"))
        })
    }

    /// (row, col) of a position in the whole scan.
    pub(crate) fn place(&self, position: usize) -> [usize; 2] {
        let ([_, cols], [row, col]) = (self.scan.shape, self.scan.origin);
        [row + position / cols, col + position % cols]
    }
}
