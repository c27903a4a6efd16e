//! From a session's outcome to the result file, and the JSON document of a result.

use serde_json::{Map, Value, json};
use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{NUMERICS_VERSION, Provenance};
use ssb_io::result::{Outcome, ResultFile, Trial};

pub use crate::column_sign::{ColumnSign, ColumnState, column_sign};
use crate::digits::significant;
pub use crate::replay::ReplayOptions;
pub use crate::report::report;
pub use crate::result_figure::figure_data;
use crate::source::{region_in_words, region_of};
use crate::{Acquisition, DEGENERATE_LIMIT, Deviation, Fit, Image, Quantity, SearchRange, Session};

/// Which picture `/phase` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Estimator {
    /// `arg(mean_b O_b)`.
    #[default]
    PhaseOfMean,
    /// `mean_b arg O_b`, on the scan's grid.
    MeanPhase,
}

impl Estimator {
    /// Name on the command line and in the result file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PhaseOfMean => "phase-of-mean",
            Self::MeanPhase => "mean-phase",
        }
    }
}

/// The provenance that a request would have, to recognise a result that answers it.
#[must_use]
pub fn expected_provenance(acquisition: &Acquisition, request: Value) -> Provenance {
    Provenance {
        program: concat!("ssb ", env!("CARGO_PKG_VERSION")).into(),
        numerics_version: NUMERICS_VERSION.into(),
        source: acquisition.record.clone(),
        calibration: acquisition.calibration.clone(),
        disk: acquisition.disk.clone(),
        request,
        evaluator: Value::Null,
        seconds: Value::Null,
        warnings: Vec::new(),
    }
}

fn ranges(search: &[SearchRange]) -> Value {
    search
        .iter()
        .map(|r| (r.quantity.key(), json!([r.low, r.high])))
        .collect::<Map<String, Value>>()
        .into()
}

/// One standard deviation of each searched quantity, by its key; null where there are none.
fn deviations(fit: &Fit, pick: impl Fn(&Deviation) -> f64) -> Value {
    if fit.deviations.is_empty() {
        return Value::Null;
    }
    (fit.deviations.iter())
        .map(|d| (d.quantity.key(), json!(pick(d))))
        .collect::<Map<String, Value>>()
        .into()
}

fn single(array: &Array2<f64>) -> Array2<f32> {
    array.mapv(|v| v as f32)
}

impl Session {
    /// What a fit with this request is, to the bit: data, calibration, disk, request, versions, backend and
    /// device. Two fits with one identity make the same trials.
    #[must_use]
    pub fn fit_identity(&self, request: &Value) -> Value {
        let info = self.info();
        json!({
            "program": concat!("ssb ", env!("CARGO_PKG_VERSION")),
            "numerics_version": NUMERICS_VERSION,
            "source": self.record(),
            "calibration": self.calibration(),
            "disk": self.disk(),
            "request": request,
            "backend": info.backend,
            "device": info.device,
            "precision": info.precision,
            "topology": info.plan.topology,
        })
    }

    fn provenance(&self, request: Value, seconds: Value, warnings: Vec<String>) -> Provenance {
        let info = self.info();
        Provenance {
            program: concat!("ssb ", env!("CARGO_PKG_VERSION")).into(),
            numerics_version: NUMERICS_VERSION.into(),
            source: self.record().clone(),
            calibration: self.calibration().clone(),
            disk: self.disk().clone(),
            request,
            evaluator: json!(info),
            seconds,
            warnings,
        }
    }

    fn file(
        &self,
        image: &Image,
        estimator: Estimator,
        outcome: Outcome,
        trials: Vec<Trial>,
        provenance: Provenance,
    ) -> ResultFile {
        ResultFile {
            object: image
                .object
                .mapv(|z| Complex32::new(z.re as f32, z.im as f32)),
            phase_rad: match estimator {
                Estimator::PhaseOfMean => single(&image.phase_rad()),
                Estimator::MeanPhase => single(&image.mean_phase_rad),
            },
            amplitude: image.object.mapv(|z| Complex64::norm(z) as f32),
            mean_phase_rad: Some(single(&image.mean_phase_rad)),
            other_branch_phase_rad: None,
            mean_pattern: single(self.mean_pattern()),
            outcome,
            trials,
            provenance,
        }
    }

    /// The result file of a reconstruction with given aberrations.
    #[must_use]
    pub fn reconstruction_file(
        &self,
        image: &Image,
        (estimator, upsample): (Estimator, usize),
        request: Value,
        seconds: Value,
        details: Value,
    ) -> ResultFile {
        let outcome = Outcome {
            best: image.candidate.clone(),
            loss: image.evaluation.loss,
            degenerate_fraction: image.evaluation.degenerate_fraction,
            agreement: None,
            gain: None,
            fitted: false,
            cancelled: false,
            estimator: estimator.name().into(),
            upsample,
            details,
        };
        let mut warnings = self.warnings().to_vec();
        warnings.extend(degenerate_warning(&outcome));
        let provenance = self.provenance(request, seconds, warnings);
        self.file(image, estimator, outcome, Vec::new(), provenance)
    }

    /// The result file of a fit with the image of its best candidate.
    #[must_use]
    pub fn fit_file(&self, fit: &Fit, image: &Image, request: Value, seconds: Value) -> ResultFile {
        let outcome = Outcome {
            best: fit.best.clone(),
            loss: fit.loss,
            degenerate_fraction: fit.degenerate_fraction,
            agreement: fit.agreement,
            gain: fit.gain,
            fitted: true,
            cancelled: fit.cancelled,
            estimator: Estimator::PhaseOfMean.name().into(),
            upsample: 1,
            details: json!({
                "start": fit.start,
                "search": ranges(&fit.search),
                "column_sign": fit.column_sign,
                "branches": fit.branches,
                "uncertainty": deviations(fit, |d| d.sigma),
                "uncertainty_of_noise": deviations(fit, |d| d.noise),
                "agreement_best": fit.agreement_best,
                "evaluations": fit.evaluations,
                "agreement_evaluations": fit.agreement_evaluations,
                "refinements": fit.refinements,
            }),
        };
        let trials = fit
            .trials
            .iter()
            .map(|t| Trial {
                number: t.number as u64,
                method: t.method.clone(),
                candidate: t.candidate.clone(),
                loss: t.loss,
                agreement: t.agreement,
                degenerate_fraction: t.degenerate_fraction,
                eligible: t.eligible,
            })
            .collect();
        let mut warnings = self.warnings().to_vec();
        warnings.extend(fit.warnings.iter().cloned());
        let provenance = self.provenance(request, seconds, warnings);
        let mut file = self.file(image, Estimator::PhaseOfMean, outcome, trials, provenance);
        file.other_branch_phase_rad = fit.branches.get(1).map(|b| single(&b.phase_rad));
        file
    }
}

/// The machine-readable document of a result: fresh and reused results print the same keys.
#[must_use]
pub fn document(result: &ResultFile) -> Value {
    let (o, p) = (&result.outcome, &result.provenance);
    let mut document = json!({
        "best": o.best,
        "loss": o.loss,
        "degenerate_fraction": o.degenerate_fraction,
        "agreement": o.agreement,
        "gain": o.gain,
        "fitted": o.fitted,
        "cancelled": o.cancelled,
        "estimator": o.estimator,
        "upsample": o.upsample,
        "bf_center_px": p.disk.center_px,
        "bf_radius_px": p.disk.radius_px,
        "seconds": p.seconds,
        "warnings": p.warnings,
    });
    for key in [
        "backend",
        "device",
        "software_adapter",
        "precision",
        "threads",
        "bf_pixels",
        "bf_active",
        "dc",
    ] {
        document[key] = p.evaluator[key].clone();
    }
    if let Some(region) = region_of(&p.source.options) {
        document["region"] = region.clone();
    }
    for (key, value) in o.details.as_object().into_iter().flatten() {
        document[key] = value.clone();
    }
    if o.fitted {
        let rotation_deg = p.calibration.rotation_deg.value;
        let trials = result.trials.iter().map(|t| trial(t, rotation_deg));
        document["trials"] = trials.collect::<Vec<_>>().into();
    }
    document
}

/// One trial as JSON; `rotation_deg` is the acquisition's, for a candidate without its own.
#[must_use]
pub fn trial(t: &Trial, rotation_deg: f64) -> Value {
    json!({
        "number": t.number,
        "method": t.method,
        "objective": t.objective(),
        "candidate": t.candidate,
        "rotation_deg": t.candidate.rotation_deg.unwrap_or(rotation_deg),
        "loss": t.loss,
        "agreement": t.agreement,
        "degenerate_fraction": t.degenerate_fraction,
        "eligible": t.eligible,
    })
}

/// The scan region that a result was made of, in words.
#[must_use]
pub fn region(result: &ResultFile) -> Option<String> {
    region_in_words(region_of(&result.provenance.source.options)?)
}

/// One standard deviation of a searched quantity, in its unit, where the fit states one.
pub(crate) fn uncertainty(outcome: &Outcome, key: &str) -> Option<f64> {
    outcome.details["uncertainty"][key].as_f64()
}

/// The candidate of an outcome in words: every value in both units that people use, with its uncertainty where a fit
/// states one (one standard deviation).
#[must_use]
pub fn in_words(outcome: &Outcome) -> Vec<String> {
    let candidate = &outcome.best;
    let sigma = |key: &str| uncertainty(outcome, key);
    let plus_minus =
        |sigma: Option<f64>, unit: &str| sigma.map(|s| format!("± {} {unit}", significant(s, 2)));
    let with = |mut line: String, sigmas: &[Option<String>]| {
        let told: Vec<&str> = sigmas.iter().flatten().map(String::as_str).collect();
        if !told.is_empty() {
            line.push_str(&format!("   ({})", told.join(", ")));
        }
        line
    };
    let mut lines = Vec::new();
    for (index, term) in ssb_core::TERMS.iter().enumerate() {
        let value = candidate.aberrations.get(index);
        if index > 1 && value.magnitude_a == 0.0 {
            continue;
        }
        let mut line = format!(
            "{:<4} {:>10.3} nm = {:>10.2} Å",
            term.name,
            value.magnitude_a / 10.0,
            value.magnitude_a
        );
        let mut sigmas = vec![plus_minus(sigma(&Quantity::Magnitude(index).key()), "nm")];
        if term.m > 0 {
            line.push_str(&format!(
                "   {:<6} {:>8.4} rad = {:>8.2} deg",
                term.angle_name,
                value.angle_rad,
                value.angle_rad.to_degrees()
            ));
            let angle = sigma(&Quantity::Angle(index).key()).map(f64::to_degrees);
            sigmas.push(plus_minus(angle, "deg"));
        }
        lines.push(with(line, &sigmas));
    }
    if let Some(rotation_deg) = candidate.rotation_deg {
        let told = plus_minus(sigma(&Quantity::Rotation.key()), "deg");
        lines.push(with(format!("rotation {rotation_deg:.3} deg"), &[told]));
    }
    let [row, col] = candidate.tilt_mrad;
    if [row, col] != [0.0; 2] || candidate.depth_spread_nm != 0.0 {
        let told = [
            (Quantity::TiltRow, "mrad"),
            (Quantity::TiltCol, "mrad"),
            (Quantity::DepthSpread, "nm"),
        ]
        .map(|(quantity, unit)| plus_minus(sigma(&quantity.key()), unit));
        let line = format!(
            "tilt {row:.3} mrad along rows, {col:.3} mrad along columns, depth spread {:.2} nm",
            candidate.depth_spread_nm
        );
        lines.push(with(line, &told));
    }
    lines
}

/// What to know of a candidate at which a share of the frequencies carries no information.
pub(crate) fn degenerate_warning(outcome: &Outcome) -> Option<String> {
    (outcome.degenerate_fraction > DEGENERATE_LIMIT).then(|| {
        format!(
            "degenerate: at these aberrations {:.1} % of the points carry no information (Gamma is 0 there): they are missing in the \
             image, and the loss must not be compared; at all aberrations zero this is the whole double overlap",
            100.0 * outcome.degenerate_fraction
        )
    })
}
