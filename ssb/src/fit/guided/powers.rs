//! How strong each scan frequency is, and the strongest ones with their spectra.

use ssb_core::ndarray::Array2;
use ssb_core::{AgreementBand, BandPoint, Control, Evaluator, Geometry, band_points};

use super::band_model::BandSpectra;
use super::basins::FIRST_BAND_PER_A;
use crate::Error;

/// Values of spectra asked at a time.
const MOST_VALUES: usize = 1 << 21;

/// Values (frequencies times BF pixels) of a model: more sees fainter specimens, and takes longer.
const MODEL_VALUES: usize = 150_000;
const FEWEST_FREQUENCIES: usize = 24;
const MOST_FREQUENCIES: usize = 160;

/// Share of the strongest frequency's signal that makes another one worth looking at.
const WORTH: f64 = 0.1;

/// Standard deviations of noise above which one frequency is a signal.
const SEEN: f64 = 8.0;

/// `sum_b |G_b|^2` of every frequency up to the end of the agreement's band, DC out: one read of the spectra.
///
/// Strong is what this has above the noise of counting: a crystal shows in its few reflections, whatever the
/// aberrations are.
pub(in crate::fit) struct Powers {
    /// In the order of the plane: the frequency, its `|q|` in 1/Å, its power in counts².
    all: Vec<(BandPoint, f64, f64)>,
    /// The band of the agreement.
    whole: AgreementBand,
    bf_active: usize,
    dc: f64,
}

impl Powers {
    /// # Errors
    /// As [`Evaluator::spectra`].
    pub(in crate::fit) fn of(
        evaluator: &mut dyn Evaluator,
        geometry: &Geometry,
        control: &Control,
    ) -> Result<Self, Error> {
        let whole = geometry.agreement_band();
        let band = AgreementBand {
            lo_per_a: 0.0,
            ..whole
        };
        let points = band_points(geometry, band);
        let (q_row, q_col) = (geometry.q_row_per_a(), geometry.q_col_per_a());
        let mut all = Vec::with_capacity(points.len());
        for points in points.chunks((MOST_VALUES / geometry.bf_pixels()).max(1)) {
            let spectra = evaluator.spectra(points, control)?;
            for (point, column) in points.iter().zip(spectra.columns()) {
                let power: f64 = column.iter().map(|z| f64::from(z.norm_sqr())).sum();
                all.push((*point, q_row[point.row].hypot(q_col[point.col]), power));
            }
        }
        let info = evaluator.info();
        Ok(Self {
            all,
            whole,
            bf_active: info.bf_active.max(1),
            dc: info.dc,
        })
    }

    /// The strongest frequencies of a band, as many as a model of the agreement takes, with the spectra of every BF
    /// pixel there; `None` for the band of the agreement.
    ///
    /// # Errors
    /// As [`Evaluator::spectra`].
    pub(super) fn strongest(
        &self,
        evaluator: &mut dyn Evaluator,
        ends_per_a: Option<[f64; 2]>,
        control: &Control,
    ) -> Result<BandSpectra, Error> {
        let most = (MODEL_VALUES / self.bf_active).clamp(FEWEST_FREQUENCIES, MOST_FREQUENCIES);
        self.strongest_of(evaluator, ends_per_a, most, control)
    }

    /// The `most` strongest of them.
    pub(in crate::fit) fn strongest_of(
        &self,
        evaluator: &mut dyn Evaluator,
        ends_per_a: Option<[f64; 2]>,
        most: usize,
        control: &Control,
    ) -> Result<BandSpectra, Error> {
        let [lo, hi] = ends_per_a.unwrap_or([self.whole.lo_per_a, self.whole.hi_per_a]);
        let mut kept: Vec<_> = (self.all.iter())
            .filter(|(_, q, _)| (lo..=hi).contains(q))
            .collect();
        kept.sort_by(|a, b| b.2.total_cmp(&a.2));
        kept.truncate(most);
        // In the order of the plane again: sums do not depend on how strong each is.
        let mut points: Vec<BandPoint> = kept.into_iter().map(|(point, ..)| *point).collect();
        points.sort_by_key(|p| (p.col, p.row));
        let scale = (1.0 / self.dc) as f32;
        let spectra: Array2<_> = evaluator.spectra(&points, control)?;
        Ok(BandSpectra {
            points,
            spectra: spectra.mapv_into(|z| z * scale),
        })
    }

    /// The lowest `|q|` in 1/Å that has a signal, of those that are not weak beside the strongest; `None` where nothing
    /// stands out. A crystal of short spacings shows nothing at lower ones but noise, which has peaks of its own.
    pub(super) fn first_signal(&self) -> Option<f64> {
        let active = self.bf_active as f64;
        // Counting alone adds the counts of all pixels to the power of any frequency.
        let noise = active * self.dc;
        let lo = self.whole.lo_per_a.min(0.25 * FIRST_BAND_PER_A);
        let signals = || {
            let within = self.all.iter().filter(|(_, q, _)| *q >= lo);
            within.map(|(_, q, power)| (*q, (power / noise - 1.0) * active.sqrt()))
        };
        let strongest = signals().map(|(_, s)| s).fold(0.0, f64::max);
        let least = SEEN.max(WORTH * strongest);
        let seen = signals().filter(|(_, s)| *s >= least);
        seen.map(|(q, _)| q).min_by(f64::total_cmp)
    }
}
