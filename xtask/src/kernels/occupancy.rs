//! How many cubes of a kernel a multiprocessor can hold at once.

use ssb_kernels::text::Target;

/// What a multiprocessor has (CUDA C++ programming guide, technical specifications per compute capability).
struct Multiprocessor {
    warps: u32,
    blocks: u32,
    shared_bytes: u32,
}

const REGISTERS: u32 = 65_536;
/// Registers and warps are divided among four schedulers.
const SCHEDULERS: u32 = 4;
/// Registers are given to a warp in steps of this many.
const REGISTER_STEP: u32 = 256;
/// Shared memory is given to a block in steps of this many bytes, beside what the system keeps for each block.
const SHARED_STEP_BYTES: u32 = 128;
const SHARED_KEPT_BYTES: u32 = 1024;

fn multiprocessor(target: Target) -> Option<Multiprocessor> {
    let (warps, blocks, shared_kib) = match target {
        Target::Sm80 => (64, 32, 164),
        Target::Sm90 => (64, 32, 228),
        Target::Sm120 => (48, 24, 100),
        Target::AppleM => return None,
    };
    Some(Multiprocessor {
        warps,
        blocks,
        shared_bytes: shared_kib << 10,
    })
}

/// Theoretical occupancy of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Cubes that one multiprocessor holds.
    pub cubes: u32,
    /// Warps of them, in percent of what it can hold.
    pub percent: u32,
    /// What runs out first.
    pub limit: &'static str,
}

/// Occupancy of a kernel with cubes of `units` units; `None` where the target's limits are not known.
pub fn occupancy(
    target: Target,
    units: u32,
    registers: u32,
    shared_bytes: u32,
) -> Option<Occupancy> {
    let sm = multiprocessor(target)?;
    let warps = units.div_ceil(32).max(1);
    let of_warp = (registers.max(1) * 32).next_multiple_of(REGISTER_STEP);
    let by_registers = REGISTERS / SCHEDULERS / of_warp * SCHEDULERS / warps;
    let of_block = (shared_bytes + SHARED_KEPT_BYTES).next_multiple_of(SHARED_STEP_BYTES);
    let (cubes, limit) = [
        (sm.warps / warps, "warps"),
        (sm.blocks, "blocks"),
        (by_registers, "registers"),
        (sm.shared_bytes / of_block, "shared memory"),
    ]
    .into_iter()
    .min_by_key(|(cubes, _)| *cubes)?;
    Some(Occupancy {
        cubes,
        percent: cubes * warps * 100 / sm.warps,
        limit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        target: Target,
        units: u32,
        registers: u32,
        shared_bytes: u32,
    ) -> (u32, u32, &'static str) {
        let found = occupancy(target, units, registers, shared_bytes).unwrap();
        (found.cubes, found.percent, found.limit)
    }

    #[test]
    fn the_scarcest_resource_decides() {
        assert_eq!(found(Target::Sm80, 256, 32, 0), (8, 100, "warps"));
        assert_eq!(found(Target::Sm80, 256, 64, 0), (4, 50, "registers"));
        assert_eq!(found(Target::Sm90, 32, 16, 0), (32, 50, "blocks"));
        assert_eq!(found(Target::Sm90, 64, 32, 66_560), (3, 9, "shared memory"));
        assert_eq!(
            found(Target::Sm90, 1024, 64, 227 << 10),
            (1, 50, "registers")
        );
        assert_eq!(found(Target::Sm120, 256, 40, 0), (6, 100, "warps"));
        assert_eq!(
            found(Target::Sm120, 128, 96, 99 << 10),
            (1, 8, "shared memory")
        );
        assert_eq!(occupancy(Target::AppleM, 32, 32, 0), None);
    }

    #[test]
    fn registers_are_given_in_steps() {
        // 33 registers count as 40: 12 warps a scheduler.
        assert_eq!(found(Target::Sm80, 128, 33, 0), (12, 75, "registers"));
        assert_eq!(found(Target::Sm80, 128, 40, 0), (12, 75, "registers"));
        // 255 registers: 2 warps a scheduler.
        assert_eq!(found(Target::Sm80, 64, 255, 0), (4, 12, "registers"));
    }
}
