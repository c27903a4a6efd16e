//! The float64 reference: the definition of single-sideband ptychography, written out literally.
//!
//! One file per equation of numerics sections 1, 4 and 5. Full complex plane, one BF pixel at a
//! time, one thread, no symmetry, no tables: slow and plain on purpose. Every other backend is judged
//! against it, and it shares with them only the geometry (`k`, `q`, wavelength) and the table of
//! aberration terms. It is also a backend of its own, [`ORACLE`], taken by name only.
//!
//! ```
//! use ssb_core::Aberrations;
//! let mut ab = Aberrations::default();
//! ab.set("C10", "10nm")?;
//! // pi lambda |u|^2 C10
//! let chi = ssb_cpu_oracle::chi([0.3, 0.4], &ab, 0.02);
//! assert!((chi - std::f64::consts::PI * 0.02 * 0.25 * 100.0).abs() < 1e-12);
//! # Ok::<(), ssb_core::Error>(())
//! ```

mod agreement;
mod aperture;
mod chi;
mod correction;
mod degenerate;
mod entry;
mod evaluator;
mod gamma;
mod loss;
mod object;
mod probe;
mod transform;
mod upsampling;

pub use agreement::{Agreement, MIN_BAND_POINTS};
pub use aperture::aperture;
pub use chi::chi;
pub use correction::{GAMMA_FLOOR, corrected};
pub use degenerate::DegenerateCount;
pub use entry::ORACLE;
pub use evaluator::{Answers, Oracle, Stages};
pub use gamma::{Gamma, Overlap};
pub use loss::PhaseMoments;
pub use object::MeanSpectrum;
pub use probe::probe;
pub use transform::Transform;
pub use upsampling::padded_spectrum;
