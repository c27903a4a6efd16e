//! The factored correction along one Nyquist line of scan frequencies (numerics sections 3 and 4).
//!
//! `Gamma = A(k) exp(i (a+b)/2) [(W_m - W_p) cos d + i (W_m + W_p) sin d]`. The line runs along either
//! axis: stored columns run over `q_row`, the Nyquist row over `q_col`. Output is `S = -i C`, the
//! spectrum of the real image `s_b` of section 2.

/// `|Gamma|` below this is not normalised up to 1.
pub const GAMMA_FLOOR: f64 = 1e-8;

/// The soft aperture in float32; lengths are 1/Å, steps radians.
#[derive(Debug, Clone, Copy)]
pub struct ApertureShape {
    /// `semiangle / e + 1/2` for equal detector steps.
    pub offset: f32,
    /// `lambda / e` for equal detector steps.
    pub slope: f32,
    /// Semi-angle in radians.
    pub semiangle: f32,
    /// Wavelength in Å.
    pub wavelength: f32,
    /// Below this `|u|^2` the aperture is 1 whatever the direction.
    pub inner: f32,
}

impl ApertureShape {
    /// Of an acquisition.
    pub fn new(semiangle_rad: f64, wavelength_a: f64, det_step_rad: [f64; 2]) -> Self {
        let e = det_step_rad[0];
        let widest = det_step_rad[0].max(det_step_rad[1]);
        let inner = ((semiangle_rad - 0.5 * widest) / wavelength_a).max(0.0);
        Self {
            offset: (semiangle_rad / e + 0.5) as f32,
            slope: (wavelength_a / e) as f32,
            semiangle: semiangle_rad as f32,
            wavelength: wavelength_a as f32,
            inner: (inner * inner) as f32,
        }
    }
}

#[inline(always)]
fn clip(v: f32) -> f32 {
    let v = if v > 0.0 { v } else { 0.0 };
    if v < 1.0 { v } else { 1.0 }
}

#[inline(always)]
fn positive(v: f32) -> f32 {
    if v > 0.0 { v } else { 0.0 }
}

/// Equal detector steps: the edge is as wide in every direction.
#[inline(always)]
fn round_aperture(shape: &ApertureShape, u2: f32) -> f32 {
    clip(shape.offset - shape.slope * u2.sqrt())
}

/// Unequal steps: `e(u) = sqrt(n) / |u|`, `n = (u_row dalpha_row)^2 + (u_col dalpha_col)^2`.
#[inline(always)]
fn oval_aperture(shape: &ApertureShape, u2: f32, n: f32) -> f32 {
    let edge_times_u = n.sqrt();
    let edge_times_u = if edge_times_u > 1e-30 {
        edge_times_u
    } else {
        1e-30
    };
    let a = clip((shape.semiangle * u2.sqrt() - shape.wavelength * u2) / edge_times_u + 0.5);
    if u2 <= shape.inner { 1.0 } else { a }
}

/// What varies along a line: all slices have one length.
#[derive(Clone, Copy)]
pub struct Along<'a> {
    /// G, real and imaginary.
    pub g: [&'a [f32]; 2],
    /// cos d and sin d.
    pub d: [&'a [f32]; 2],
    /// cos and sin of minus (a+b)/2, the part that varies along the line.
    pub wave: [&'a [f32]; 2],
    /// `|q|^2` of the varying component.
    pub q2: &'a [f32],
    /// `2 k q` of the varying component.
    pub x: &'a [f32],
    /// `|q|^2` weighted with the squared detector step (unequal steps only).
    pub q2_steps: &'a [f32],
    /// `2 k q` weighted likewise (unequal steps only).
    pub x_steps: &'a [f32],
    /// sinc(r1 t/2) and sinc(r2 t/2) (thick model only).
    pub sinc: [&'a [f32]; 2],
}

/// What is fixed along a line.
#[derive(Debug, Clone, Copy)]
pub struct Fixed {
    /// The plane wave's fixed factor, real and imaginary.
    pub wave: [f32; 2],
    /// `|k|^2` plus the fixed component's `|q|^2`.
    pub base: f32,
    /// `2 k q` of the fixed component.
    pub x: f32,
    /// As `base`, weighted with the squared detector steps.
    pub base_steps: f32,
    /// As `x`, weighted likewise.
    pub x_steps: f32,
    /// `A(k)`.
    pub aperture: f32,
}

/// What is wanted of a line.
pub struct Out<'a> {
    /// `S`, real and imaginary; not normalised (`-i G conj Gamma`) for the agreement.
    pub s: [&'a mut [f32]; 2],
    /// `|Gamma|^2`.
    pub gamma2: &'a mut [f32],
}

/// Corrects one line; returns the number of its points with support at which
/// `|Gamma| <= 1e-8` (numerics section 8).
///
/// `UNEQUAL`: unequal detector steps; `THICK`: sinc weights; `NORMALISED`: divide by `|Gamma|`.
#[inline(always)]
pub fn correct_line<const UNEQUAL: bool, const THICK: bool, const NORMALISED: bool>(
    shape: &ApertureShape,
    along: &Along<'_>,
    fixed: &Fixed,
    out: Out<'_>,
) -> u32 {
    let n = along.q2.len();
    let [g_re, g_im] = along.g.map(|v| &v[..n]);
    let [cos_d, sin_d] = along.d.map(|v| &v[..n]);
    let [wave_re, wave_im] = along.wave.map(|v| &v[..n]);
    let (q2, x_along) = (&along.q2[..n], &along.x[..n]);
    let steps = if UNEQUAL { n } else { 0 };
    let (q2_steps, x_steps) = (&along.q2_steps[..steps], &along.x_steps[..steps]);
    let [sinc_m, sinc_p] = along.sinc.map(|v| &v[..if THICK { n } else { 0 }]);
    let [s_re, s_im] = out.s;
    let (s_re, s_im, gamma2) = (&mut s_re[..n], &mut s_im[..n], &mut out.gamma2[..n]);
    let floor = (GAMMA_FLOOR / f64::from(fixed.aperture)) as f32;
    let floor2 = floor * floor;
    let mut degenerate = 0;
    for i in 0..n {
        let sum = fixed.base + q2[i];
        let x = fixed.x + x_along[i];
        let (um2, up2) = (positive(sum - x), positive(sum + x));
        let (am, ap) = if UNEQUAL {
            let sum = fixed.base_steps + q2_steps[i];
            let x = fixed.x_steps + x_steps[i];
            (
                oval_aperture(shape, um2, positive(sum - x)),
                oval_aperture(shape, up2, positive(sum + x)),
            )
        } else {
            (round_aperture(shape, um2), round_aperture(shape, up2))
        };
        let (wm, wp) = if THICK {
            (am * sinc_m[i], ap * sinc_p[i])
        } else {
            (am, ap)
        };
        let real = (wm - wp) * cos_d[i];
        let imag = (wm + wp) * sin_d[i];
        let g2 = real * real + imag * imag;
        degenerate += u32::from((g2 <= floor2) & (am + ap > 0.0));
        let scale = if NORMALISED {
            let size = g2.sqrt();
            1.0 / if size > floor { size } else { floor }
        } else {
            fixed.aperture
        };
        // The whole plane wave, then G times its conjugate.
        let e_re = wave_re[i] * fixed.wave[0] - wave_im[i] * fixed.wave[1];
        let e_im = wave_re[i] * fixed.wave[1] + wave_im[i] * fixed.wave[0];
        let t_re = g_re[i] * e_re - g_im[i] * e_im;
        let t_im = g_re[i] * e_im + g_im[i] * e_re;
        // times -i (real - i imag)
        s_re[i] = (t_im * real - t_re * imag) * scale;
        s_im[i] = -(t_re * real + t_im * imag) * scale;
        gamma2[i] = g2 * fixed.aperture * fixed.aperture;
    }
    degenerate
}
