//! Sine, cosine and arctangent on devices, within 1 to 2 ulp, the same source on every target (numerics
//! section 3).
//!
//! Vulkan and Metal permit far larger errors of their own. Minimax polynomials in the squared
//! argument: errors below 5e-11 (sine, cosine of an eighth of a turn) and 4e-10 (arctangent) before
//! rounding to float32.

#![allow(missing_docs, reason = "what `#[cube]` generates has no documentation")]

use cubecl::prelude::*;

/// cos and sin of one phase.
#[derive(CubeType, Clone, Copy)]
pub struct Turn {
    /// Its cosine.
    pub cos: f32,
    /// Its sine.
    pub sin: f32,
}

/// The part of a phase in turns that is left over whole turns, in -1/2 to 1/2; exact.
#[cube]
pub fn reduced(turns: f32) -> f32 {
    turns - turns.round()
}

/// cos and sin of `2 pi turns`; the reduction to an eighth of a turn is exact.
#[cube]
pub fn turn(turns: f32) -> Turn {
    let quarters = (turns * 4.0).round();
    let rest = turns - quarters * 0.25;
    let s = rest * rest;
    let sine =
        rest * (6.283_185_5 + s * (-41.341_7 + s * (81.605_2 + s * (-76.697_87 + s * 41.472_95))));
    let cosine = 1.0 + s * (-19.739_209 + s * (64.939_32 + s * (-85.442_85 + s * 59.220_41)));
    let quadrant = i32::cast_from(quarters) & 3;
    let odd = (quadrant & 1) == 1;
    let a = select(odd, cosine, sine);
    let b = select(odd, sine, cosine);
    Turn {
        cos: select(quadrant == 1 || quadrant == 2, -b, b),
        sin: select(quadrant >= 2, -a, a),
    }
}

/// sin(y) / y for `y = 2 pi turns`.
#[cube]
pub fn sinc(turns: f32) -> f32 {
    let y = turns * 6.283_185_5;
    let small = y.abs() < 1e-2;
    let quotient = turn(turns).sin / select(small, 1.0, y);
    let series = 1.0 - y * y * (1.0 / 6.0 - y * y / 120.0);
    select(small, series, quotient)
}

/// `atan2(y, x)`; 0 where both are 0.
#[cube]
pub fn atan2(y: f32, x: f32) -> f32 {
    let ay = y.abs();
    let ax = x.abs();
    let steep = ay > ax;
    let small = select(steep, ax, ay);
    let large = select(steep, ay, ax);
    let t = small / max(large, 1.175_494_4e-38);
    let s = t * t;
    let p = s * 0.001_112_078_7 + -0.007_304_101;
    let p = p * s + 0.022_496_583;
    let p = p * s + -0.044_618_545;
    let p = p * s + 0.067_346_34;
    let p = p * s + -0.088_069_074;
    let p = p * s + 0.110_566_75;
    let p = p * s + -0.142_794_93;
    let p = p * s + 0.199_996_31;
    let p = p * s + -0.333_333_25;
    let first = t + t * s * p;
    let octant = select(steep, std::f32::consts::FRAC_PI_2 - first, first);
    let half = select(x < 0.0, std::f32::consts::PI - octant, octant);
    select(y < 0.0, -half, half)
}
