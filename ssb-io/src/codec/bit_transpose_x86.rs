//! The bit transposition on 16 (SSE2) or 32 (AVX2) plane bytes at once, found at run time: masked swaps of bits between the 8 planes of a byte, then an interleave of
//! bytes. 256-bit registers hold two independent halves.

use std::arch::x86_64 as arch;

use pulp::NullaryFnOnce;
use pulp::x86::{V2, V3};

/// Registers of 16-byte lanes and what the transposition does with them.
trait Lanes: Copy {
    type Register: Copy;
    /// Bytes in a register.
    const BYTES: usize;
    fn load(self, bytes: &[u8]) -> Self::Register;
    /// Writes lane 0 at `at` and lane 1, if there is one, at `at + lane_step`.
    fn store(self, register: Self::Register, out: &mut [u8], at: usize, lane_step: usize);
    fn splat(self, byte: u8) -> Self::Register;
    fn and(self, a: Self::Register, b: Self::Register) -> Self::Register;
    fn xor(self, a: Self::Register, b: Self::Register) -> Self::Register;
    fn right<const N: i32>(self, a: Self::Register) -> Self::Register;
    fn left<const N: i32>(self, a: Self::Register) -> Self::Register;
    fn low(self, a: Self::Register, b: Self::Register) -> Self::Register;
    fn high(self, a: Self::Register, b: Self::Register) -> Self::Register;
}

/// 16 bytes at `at`.
#[inline(always)]
fn sixteen(bytes: &[u8], at: usize) -> [u8; 16] {
    let mut out = [0; 16];
    out.copy_from_slice(&bytes[at..at + 16]);
    out
}

impl Lanes for V2 {
    type Register = arch::__m128i;
    const BYTES: usize = 16;
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> Self::Register {
        pulp::cast(sixteen(bytes, 0))
    }
    #[inline(always)]
    fn store(self, register: Self::Register, out: &mut [u8], at: usize, _: usize) {
        let bytes: [u8; 16] = pulp::cast(register);
        out[at..at + 16].copy_from_slice(&bytes);
    }
    #[inline(always)]
    fn splat(self, byte: u8) -> Self::Register {
        pulp::cast([byte; 16])
    }
    #[inline(always)]
    fn and(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.sse2._mm_and_si128(a, b)
    }
    #[inline(always)]
    fn xor(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.sse2._mm_xor_si128(a, b)
    }
    #[inline(always)]
    fn right<const N: i32>(self, a: Self::Register) -> Self::Register {
        self.sse2._mm_srli_epi64::<N>(a)
    }
    #[inline(always)]
    fn left<const N: i32>(self, a: Self::Register) -> Self::Register {
        self.sse2._mm_slli_epi64::<N>(a)
    }
    #[inline(always)]
    fn low(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.sse2._mm_unpacklo_epi8(a, b)
    }
    #[inline(always)]
    fn high(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.sse2._mm_unpackhi_epi8(a, b)
    }
}

impl Lanes for V3 {
    type Register = arch::__m256i;
    const BYTES: usize = 32;
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> Self::Register {
        let mut all = [0; 32];
        all.copy_from_slice(&bytes[..32]);
        pulp::cast(all)
    }
    #[inline(always)]
    fn store(self, register: Self::Register, out: &mut [u8], at: usize, lane_step: usize) {
        let lanes: [[u8; 16]; 2] = pulp::cast(register);
        out[at..at + 16].copy_from_slice(&lanes[0]);
        out[at + lane_step..at + lane_step + 16].copy_from_slice(&lanes[1]);
    }
    #[inline(always)]
    fn splat(self, byte: u8) -> Self::Register {
        pulp::cast([byte; 32])
    }
    #[inline(always)]
    fn and(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.avx2._mm256_and_si256(a, b)
    }
    #[inline(always)]
    fn xor(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.avx2._mm256_xor_si256(a, b)
    }
    #[inline(always)]
    fn right<const N: i32>(self, a: Self::Register) -> Self::Register {
        self.avx2._mm256_srli_epi64::<N>(a)
    }
    #[inline(always)]
    fn left<const N: i32>(self, a: Self::Register) -> Self::Register {
        self.avx2._mm256_slli_epi64::<N>(a)
    }
    #[inline(always)]
    fn low(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.avx2._mm256_unpacklo_epi8(a, b)
    }
    #[inline(always)]
    fn high(self, a: Self::Register, b: Self::Register) -> Self::Register {
        self.avx2._mm256_unpackhi_epi8(a, b)
    }
}

/// A block to restore with registers of a kind. (A closure would not be inlined into the function
/// that has the processor's features.)
struct Job<'a, L> {
    lanes: L,
    planes: &'a [u8],
    element: usize,
    out: &'a mut [u8],
}

impl<L: Lanes> NullaryFnOnce for Job<'_, L> {
    type Output = usize;
    #[inline(always)]
    fn call(self) -> usize {
        by_element(self.lanes, self.planes, self.element, self.out)
    }
}

/// Restores as many groups of 8 elements as the kernels can, and says how many.
pub(super) fn untranspose(planes: &[u8], element: usize, out: &mut [u8]) -> usize {
    match V3::try_new() {
        Some(lanes) => lanes.vectorize(Job {
            lanes,
            planes,
            element,
            out,
        }),
        None => untranspose_v2(planes, element, out),
    }
}

/// The kernel of processors without AVX2; 0 without SSE 4.2, the level below.
pub(super) fn untranspose_v2(planes: &[u8], element: usize, out: &mut [u8]) -> usize {
    V2::try_new().map_or(0, |lanes| {
        lanes.vectorize(Job {
            lanes,
            planes,
            element,
            out,
        })
    })
}

#[inline(always)]
fn by_element<L: Lanes>(lanes: L, planes: &[u8], element: usize, out: &mut [u8]) -> usize {
    match element {
        1 => kernel::<L, 1>(lanes, planes, out),
        2 => kernel::<L, 2>(lanes, planes, out),
        4 => kernel::<L, 4>(lanes, planes, out),
        8 => kernel::<L, 8>(lanes, planes, out),
        _ => 0,
    }
}

#[inline(always)]
fn kernel<L: Lanes, const E: usize>(lanes: L, planes: &[u8], out: &mut [u8]) -> usize {
    let stride = planes.len() / (8 * E);
    // Bytes of a group of 8 elements, and of the 16 groups in one lane.
    let group = 8 * E;
    let lane_step = 16 * group;
    let mut i = 0;
    while i + L::BYTES <= stride {
        // `bytes[b][j]` holds byte `b` of element `8 i + j` for each column `i`.
        let mut bytes = [[lanes.splat(0); 8]; E];
        for (b, bytes) in bytes.iter_mut().enumerate() {
            for (k, plane) in bytes.iter_mut().enumerate() {
                *plane = lanes.load(&planes[(8 * b + k) * stride + i..]);
            }
            transpose_bits(lanes, bytes);
        }
        if E == 1 {
            // Three rounds of the shuffle put the 8 bytes of a column side by side.
            let mut registers = bytes[0];
            for _ in 0..3 {
                registers = shuffle(lanes, registers);
            }
            for (n, register) in registers.into_iter().enumerate() {
                lanes.store(register, out, i * group + 16 * n, lane_step);
            }
        } else {
            for half in 0..E / 2 {
                let mut registers = [lanes.splat(0); 16];
                for (m, register) in registers.iter_mut().enumerate() {
                    let m = 16 * half + m;
                    *register = bytes[m % E][m / E];
                }
                for _ in 0..4 {
                    registers = shuffle(lanes, registers);
                }
                for (n, register) in registers.into_iter().enumerate() {
                    lanes.store(register, out, (i + n) * group + 16 * half, lane_step);
                }
            }
        }
        i += L::BYTES;
    }
    i
}

/// Transposes the 8 x 8 bits that the registers hold at each byte place.
#[inline(always)]
fn transpose_bits<L: Lanes>(l: L, r: &mut [L::Register; 8]) {
    macro_rules! swap {
        ($n:literal, $mask:expr, $($a:literal $b:literal),*) => {
            let mask = l.splat($mask);
            $(
                let t = l.and(l.xor(l.right::<$n>(r[$a]), r[$b]), mask);
                r[$b] = l.xor(r[$b], t);
                r[$a] = l.xor(r[$a], l.left::<$n>(t));
            )*
        };
    }
    swap!(1, 0x55, 0 1, 2 3, 4 5, 6 7);
    swap!(2, 0x33, 0 2, 1 3, 4 6, 5 7);
    swap!(4, 0x0f, 0 4, 1 5, 2 6, 3 7);
}

/// One round of the perfect shuffle of the bytes of `N` registers: the number of a byte (register,
/// then place) is turned left by one bit.
#[inline(always)]
fn shuffle<L: Lanes, const N: usize>(l: L, r: [L::Register; N]) -> [L::Register; N] {
    let mut out = r;
    for k in 0..N / 2 {
        out[2 * k] = l.low(r[k], r[k + N / 2]);
        out[2 * k + 1] = l.high(r[k], r[k + N / 2]);
    }
    out
}
