//! The Nyquist lines of even axes (numerics section 2).
//!
//! On such a line `S(v) = -i C(v)` splits into its Hermitian part, which belongs to the real image
//! `s_b` and returns to the half plane, and `i (S(v) - conj S(-v)) / 2`, the Hermitian part of `C`,
//! which adds a real term to `O_b` that varies along the line and alternates across it.

use rustfft::num_complex::Complex32;

/// Replaces `line = S` by its Hermitian part and writes the real term's spectrum to `real`.
#[inline(always)]
pub fn separate(line: &mut [Complex32], real: &mut [Complex32]) {
    let n = line.len();
    for v in 0..=n / 2 {
        let w = (n - v) % n;
        let (a, b) = (line[v], line[w]);
        line[v] = (a + b.conj()) * 0.5;
        line[w] = (b + a.conj()) * 0.5;
        let (p, q) = ((a - b.conj()) * 0.5, (b - a.conj()) * 0.5);
        real[v] = Complex32::new(-p.im, p.re);
        real[w] = Complex32::new(-q.im, q.re);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_hermitian_and_rebuild_the_line() {
        let line: Vec<Complex32> = (0..10)
            .map(|i| Complex32::new((i * i % 7) as f32, 1.0 - (i * 3 % 5) as f32))
            .collect();
        let (mut symmetric, mut real) = (line.clone(), vec![Complex32::default(); 10]);
        separate(&mut symmetric, &mut real);
        for v in 0..10 {
            let w = (10 - v) % 10;
            assert_eq!(symmetric[v], symmetric[w].conj());
            assert_eq!(real[v], real[w].conj());
            // S = symmetric - i real
            assert_eq!(line[v], symmetric[v] - Complex32::i() * real[v]);
        }
    }
}
