//! Launching without run-time bounds checks, in one place.

/// Launches a kernel of this crate on runtime `$runtime` without the bounds checks that CubeCL would compile into
/// every access.
///
/// What the checks would catch is caught before: the same texts run on the host in tests, where every access outside of a
/// buffer is an error (`text`), and every kernel proves itself on a device before its first use
/// (`evaluator::self_test`).
macro_rules! launch {
    ($runtime:ident, $kernel:ident, $($argument:expr),* $(,)?) => {{
        // SAFETY: the kernels guard every index by the extents that travel with the launch, and the buffers are
        // reserved by the plan that these extents come from.
        #[allow(unsafe_code, reason = "checked on the host and by self-tests instead")]
        unsafe {
            $kernel::launch_unchecked::<$runtime>($($argument),*)
        }
    }};
}
pub(crate) use launch;
