//! Sums of the slots' images, and the sum of the squared total.

use cubecl::prelude::*;

use super::reduce::sum_of_cube;

/// Total over the first `images` of `stride` images of `points` values for each candidate (second axis of cubes), and the sum of
/// its squares over each cube's points; a unit takes `each` points, one cube's width apart.
#[cube(launch_unchecked)]
pub(crate) fn total_image(
    sums: &Array<f32>,
    total: &mut Array<f32>,
    squares: &mut Array<f32>,
    points: u32,
    images: u32,
    stride: u32,
    #[comptime] units: usize,
    #[comptime] each: usize,
) {
    let mut shared = SharedMemory::<f32>::new(units);
    let candidate = CUBE_POS_Y as usize;
    let points = points as usize;
    let mut square = f32::new(0.0);
    #[unroll]
    for i in 0..each {
        let point = (CUBE_POS_X as usize * each + i) * units + UNIT_POS as usize;
        if point < points {
            let mut value = f32::new(0.0);
            for image in 0..images as usize {
                value += sums[(candidate * stride as usize + image) * points + point];
            }
            total[candidate * points + point] = value;
            square += value * value;
        }
    }
    let all = sum_of_cube(&mut shared, square, units);
    if UNIT_POS == 0 {
        squares[candidate * CUBE_COUNT_X as usize + CUBE_POS_X as usize] = all;
    }
}
