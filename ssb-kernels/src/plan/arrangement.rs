//! One arrangement in numbers: buffers, packs, traffic.

use serde::Serialize;
use ssb_core::{DeviceFamily, Limits, Plan, Unsuitable};

use super::LineShape;
use crate::kernel::layout::Scan;
use crate::kernel::prepare::between;

/// Most candidates that share one read of G.
pub(crate) const MOST_CANDIDATES: usize = 2;

/// Half-plane points a second that one dispatch is modelled with, so that none lasts longer than
/// about 100 ms: a software adapter (measured on lavapipe, two cores), the slowest GPU of a phone, a
/// large one.
const SOFTWARE_POINTS_PER_S: u64 = 4_000_000;
const SMALL_POINTS_PER_S: u64 = 200_000_000;
const LARGE_POINTS_PER_S: u64 = 5_000_000_000;

/// What a plan depends on besides the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    /// Scan positions.
    pub scan: Scan,
    /// BF pixels that are stored: those that some rotation gives a non-zero aperture.
    pub stored: usize,
    /// Bytes of one sample as uploaded.
    pub sample_bytes: usize,
    /// Detector steps that differ between rows and columns.
    pub unequal: bool,
    /// BF pixels in one dispatch, when the caller chooses.
    pub bf_block: Option<usize>,
}

/// A planned arrangement of kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Arrangement {
    /// Name of the topology.
    pub topology: &'static str,
    pub(crate) request: Request,
    /// Lines along the rows axis, for stored columns.
    pub(crate) columns: LineShape,
    /// Lines along the columns axis, each two scan rows.
    pub(crate) rows: LineShape,
    /// BF pixels in one buffer of G.
    pub(crate) store: usize,
    /// BF pixels in one dispatch.
    pub(crate) pack: usize,
    /// BF pixels in one upload.
    pub(crate) upload: usize,
    /// Groups that share the BF pixels of a pack: first pass, second pass, sums over b.
    pub(crate) slots: [usize; 3],
    /// Sets of images that packs add to in turn: each stays a short float32 sum.
    pub(crate) sets: usize,
    /// Sets of squares likewise.
    pub(crate) square_sets: usize,
    /// Dispatches of packs between two waits for the device.
    pub(crate) depth: usize,
    /// G stays on the device; otherwise it is made anew from the counts, one buffer at a time.
    pub(crate) resident: bool,
    /// Whether the intermediate of a pack is moved through memory rather than cache.
    pub(crate) intermediate_moves: bool,
    /// Complex values of the intermediate of one BF pixel and candidate; 0 when there is none.
    pub(crate) intermediate: usize,
    /// Values of the real images of one BF pixel and candidate; 0 when phases are taken at once.
    pub(crate) images: usize,
    /// Bytes on the device, by use.
    pub(crate) bytes: Bytes,
}

/// Bytes on the device, by use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Bytes {
    pub(crate) g: u64,
    pub(crate) tables: u64,
    pub(crate) intermediate: u64,
    pub(crate) sums: u64,
    pub(crate) upload: u64,
}

impl Bytes {
    pub(crate) fn total(self) -> u64 {
        self.g + self.tables + self.intermediate + self.sums + self.upload
    }
}

/// What a topology decides; the rest of the arrangement follows.
pub(crate) struct Choice {
    pub(crate) topology: &'static str,
    pub(crate) columns: LineShape,
    pub(crate) rows: LineShape,
    /// Complex values of the intermediate of one BF pixel and candidate.
    pub(crate) intermediate: usize,
    /// Values of the real images of one BF pixel and candidate; 0 when phases are taken at once.
    pub(crate) images: usize,
    /// Bytes of intermediate that a pack should not exceed.
    pub(crate) intermediate_bytes: u64,
    /// Cubes that each pass should have.
    pub(crate) cubes: u64,
}

/// Points a second that dispatches are modelled with on this device.
pub(crate) fn points_per_s(limits: &Limits) -> u64 {
    match limits.family {
        _ if limits.software => SOFTWARE_POINTS_PER_S,
        DeviceFamily::Cuda | DeviceFamily::Apple => LARGE_POINTS_PER_S,
        _ => SMALL_POINTS_PER_S,
    }
}

/// Sets of images for a number of packs: at most eight packs a set, within 16 MiB, where the number of
/// images is small enough for rounding to show.
fn sets(packs: usize, set_bytes: u64) -> usize {
    packs
        .div_ceil(8)
        .clamp(1, ((16 << 20) / set_bytes.max(1)).max(1) as usize)
}

/// Scan positions from which on rounding averages out over the image, and BF pixels that may follow each
/// other in one float32 sum then.
const LARGE_SCAN: usize = 1 << 15;
const LARGE_ROW: usize = 32;

/// Slots that keep a sum over the BF pixels of a pack short: 8 in a row within 16 MiB of images, and fewer for
/// large scans, where rounding averages out and images are traffic.
pub(crate) fn short_slots(pack: usize, points: usize) -> usize {
    let most = (16 << 20) / (4 * MOST_CANDIDATES * points);
    let row = if points > LARGE_SCAN { LARGE_ROW } else { 8 };
    pack.div_ceil(row).min(most).max(1)
}

/// Bytes of the last cache that an intermediate may fill, with room left for G beside it.
pub(crate) fn cache_share_bytes(limits: &Limits) -> u64 {
    limits.cache_bytes / 4 * 3
}

/// Cubes that keep a device busy.
pub(crate) fn busy_cubes(limits: &Limits) -> u64 {
    match limits.processors {
        _ if limits.software => 8,
        0 => 256,
        n => 8 * u64::from(n),
    }
}

impl Arrangement {
    /// Completes a choice, or says what does not fit.
    pub(crate) fn new(
        request: &Request,
        limits: &Limits,
        choice: Choice,
    ) -> Result<Self, Unsuitable> {
        let scan = request.scan;
        let plane_bytes = 8 * scan.plane() as u64;
        let most = MOST_CANDIDATES as u64;
        let stored = request.stored.max(1);
        let per_pixel = most * (8 * choice.intermediate + 4 * choice.images) as u64;
        let wave_bytes = 8 * scan.wave_pairs(true) as u64;
        let table_fixed = 8 * scan.candidate_pairs(true, 0) as u64;
        // The largest pack: cache or memory for the intermediate, bindings, and 100 ms.
        let by_cache = choice.intermediate_bytes / per_pixel.max(1);
        let by_binding = (limits.binding_bytes / most).saturating_sub(table_fixed)
            / wave_bytes.max(8 * choice.intermediate as u64);
        let by_time = points_per_s(limits) / 10 / (most * scan.plane() as u64);
        let pack = by_cache
            .min(by_binding)
            .min(by_time)
            .clamp(1, stored as u64) as usize;
        let pack = request
            .bf_block
            .map_or(pack, |block| block.clamp(1, pack.max(1)));
        // G in as few buffers as bindings allow, each a whole number of packs.
        let by_binding =
            (limits.binding_bytes / plane_bytes.max(1)).clamp(1, stored as u64) as usize;
        if plane_bytes > limits.binding_bytes || by_binding < pack && by_binding < stored {
            return Err(Unsuitable(format!(
                "one BF pixel's half plane has {plane_bytes} bytes, one binding of the device {}",
                limits.binding_bytes
            )));
        }
        let upload_bytes_each =
            (8 * between(scan) + request.sample_bytes * scan.rows * scan.cols) as u64;
        let upload = (points_per_s(limits) / 10 / scan.plane() as u64)
            .min((256 << 20) / upload_bytes_each)
            .clamp(1, stored as u64) as usize;
        let slots = |tiles: usize, least: usize| {
            let wanted = choice.cubes.div_ceil(tiles.max(1) as u64) as usize;
            wanted.clamp(1, pack.div_ceil(least).max(1))
        };
        // Where the intermediate goes through memory, so do the images.
        let intermediate_moves = per_pixel * pack as u64 > cache_share_bytes(limits);
        let few_images = if intermediate_moves && scan.points() > LARGE_SCAN {
            pack.div_ceil(LARGE_ROW)
        } else {
            pack
        };
        let column_tiles = scan.half().div_ceil(choice.columns.lines);
        let row_tiles = (2 * scan.row_blocks()).div_ceil(choice.rows.lines);
        let slots = [
            slots(column_tiles, 2),
            slots(row_tiles, 3)
                .min(few_images)
                .max(short_slots(pack, scan.points())),
            slots(scan.plane().div_ceil(super::SUM_UNITS), 4),
        ];
        let points = scan.points() as u64;
        let packs = stored.div_ceil(pack);
        let sets = sets(packs, 4 * points * most * slots[1] as u64);
        // Squares of many packs in one float32 value would round the loss by up to 1e-7, where there are few
        // values for it to average out; the host reads them all after every evaluation.
        let square_set_bytes = 4 * most * (slots[1] * row_tiles) as u64;
        let square_sets = packs.clamp(1, ((512 << 10) / square_set_bytes).max(1) as usize);
        let sums = 4 * points * most * ((sets * slots[1]) as u64 + 1)
            + square_set_bytes * square_sets as u64
            + 12 * slots[2] as u64 * scan.plane() as u64
            + 8 * pack as u64 * most * scan.half() as u64
            + 4 * pack as u64 * most * scan.cols as u64;
        let acquisition = 4 * (scan.pixels() + scan.pixel_floats(request.unequal) * stored) as u64;
        let lists = 4 * most * stored as u64 * crate::kernel::layout::WAVE_FLOATS as u64;
        let tables = most * (table_fixed + pack as u64 * wave_bytes) + acquisition + lists;
        let intermediate = per_pixel * pack as u64;
        let upload_bytes = upload as u64 * upload_bytes_each;
        let rest = Bytes {
            g: 0,
            tables,
            intermediate,
            sums,
            upload: upload_bytes,
        };
        let room = limits.device_bytes.saturating_sub(rest.total());
        let resident = plane_bytes * stored as u64 <= room;
        let whole = |pixels: usize| (pixels / pack).max(1) * pack;
        let store = if resident {
            whole(by_binding).min(stored.next_multiple_of(pack))
        } else {
            whole(by_binding.min((room / plane_bytes) as usize).max(1))
        };
        let held = if resident { stored } else { store };
        let bytes = Bytes {
            g: plane_bytes * held as u64,
            ..rest
        };
        if bytes.total() > limits.device_bytes {
            return Err(Unsuitable(format!(
                "at least {} bytes of device memory are needed, {} are allowed: {:?}",
                bytes.total(),
                limits.device_bytes,
                bytes
            )));
        }
        let depth =
            (points_per_s(limits) / 4 / (most * scan.plane() as u64 * pack as u64)).clamp(1, 64);
        Ok(Self {
            topology: choice.topology,
            request: request.clone(),
            columns: choice.columns,
            rows: choice.rows,
            store,
            pack,
            upload,
            slots,
            sets,
            square_sets,
            depth: depth as usize,
            resident,
            intermediate_moves,
            intermediate: choice.intermediate,
            images: choice.images,
            bytes,
        })
    }

    /// Cubes along the lines of both passes: tiles of stored columns, and of pairs of rows; 1 where a
    /// cube takes them all.
    pub(crate) fn tiles(&self) -> [usize; 2] {
        let scan = self.request.scan;
        if self.intermediate == 0 {
            return [1, 1];
        }
        [
            scan.half().div_ceil(self.columns.lines),
            (2 * scan.row_blocks()).div_ceil(self.rows.lines),
        ]
    }

    /// BF pixels in the longest pack.
    pub(crate) fn longest_pack(&self) -> usize {
        self.pack.min(self.store).min(self.request.stored)
    }

    /// Bytes without which this arrangement cannot run: one pack of G at a time.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.bytes.total() - self.bytes.g
            + 8 * (self.request.scan.plane() * self.longest_pack()) as u64
    }

    /// Packs of one pass over the BF pixels.
    pub(crate) fn packs(&self) -> usize {
        let whole = self.request.stored / self.store;
        let rest = self.request.stored % self.store;
        whole * self.store.div_ceil(self.pack) + rest.div_ceil(self.pack)
    }

    /// Bytes moved by a loss of `m` candidates together (numerics section 7), tables and images
    /// included. An intermediate that stays in cache does not count.
    #[must_use]
    pub fn loss_bytes(&self, m: usize) -> u64 {
        let scan = self.request.scan;
        let (stored, m) = (self.request.stored as u64, m as u64);
        let g = 8 * scan.plane() as u64 * stored;
        let through = if self.intermediate_moves && self.intermediate > 0 {
            2 * m * (8 * self.intermediate + 4 * self.images) as u64 * stored
        } else {
            0
        };
        let images = 2 * 4 * m * (scan.rows * scan.cols * self.slots[1] * self.packs()) as u64;
        let images = if self.intermediate_moves {
            images
        } else {
            8 * m * (scan.points() * self.sets * self.slots[1]) as u64
        };
        g + through + images + self.table_bytes(m)
    }

    /// Bytes moved by one object or agreement.
    #[must_use]
    pub fn object_bytes(&self) -> u64 {
        let scan = self.request.scan;
        8 * scan.plane() as u64 * (self.request.stored + self.slots[2]) as u64 + self.table_bytes(1)
    }

    fn table_bytes(&self, m: u64) -> u64 {
        let scan = self.request.scan;
        let stored = self.request.stored as u64;
        let waves = 2 * 8 * m * stored * (scan.rows + scan.half()) as u64;
        waves + 4 * stored * scan.pixel_floats(self.request.unequal) as u64
    }

    /// The plan as every backend reports it.
    #[must_use]
    pub fn summary(&self, column_bytes: u64) -> Plan {
        let lists = 8 * (self.request.stored * 2 * crate::kernel::layout::WAVE_FLOATS) as u64;
        Plan {
            topology: self.topology,
            bf_block: self.pack,
            blocks: self.packs(),
            host_bytes: column_bytes + self.bytes.upload + lists + self.bytes.sums,
            device_bytes: self.bytes.total(),
            loss_bytes: self.loss_bytes(1),
            object_bytes: self.object_bytes(),
        }
    }
}
