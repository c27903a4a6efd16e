//! Sums over the units of a cube, in a fixed order.

use cubecl::prelude::*;

/// Sum of `value` over the `units` of the cube, by halves; every unit must call it and gets the sum.
/// `shared` holds `units` floats at least and is free before and after.
#[cube]
pub(crate) fn sum_of_cube(
    shared: &mut SharedMemory<f32>,
    value: f32,
    #[comptime] units: usize,
) -> f32 {
    let unit = UNIT_POS as usize;
    shared[unit] = value;
    sync_cube();
    #[unroll]
    for level in 0..comptime!(units.next_power_of_two().ilog2()) {
        let reach = comptime!(units.next_power_of_two() >> (level + 1));
        if unit < reach && unit + reach < units {
            shared[unit] = shared[unit] + shared[unit + reach];
        }
        sync_cube();
    }
    let total = shared[0];
    sync_cube();
    total
}
