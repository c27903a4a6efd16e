//! Registries that are put together from several tables.

/// Two tables in one, at compile time; `N` is the length of both together.
///
/// ```
/// static BOTH: [u8; 3] = ssb_core::joined(&[1, 2], &[3]);
/// assert_eq!(BOTH, [1, 2, 3]);
/// ```
#[must_use]
pub const fn joined<T: Copy, const N: usize>(first: &[T], second: &[T]) -> [T; N] {
    let mut all = [if first.is_empty() {
        second[0]
    } else {
        first[0]
    }; N];
    let mut i = 0;
    while i < first.len() + second.len() {
        all[i] = if i < first.len() {
            first[i]
        } else {
            second[i - first.len()]
        };
        i += 1;
    }
    all
}
