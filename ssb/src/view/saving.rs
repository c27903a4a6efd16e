//! Writing what is shown as a result file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use ssb_core::{Control, check_upsampling};

use super::message::SaveRequest;
use super::prepare::{Place, Prepared};
use crate::record::Estimator;
use crate::{Error, Fit, FitOptions};

/// The last fit of this run.
pub struct LastFit {
    pub fit: Fit,
    pub options: FitOptions,
    pub seconds: f64,
}

/// The folder that results go to; pages name only files in it.
#[derive(Debug, Clone)]
pub struct Folder {
    pub path: PathBuf,
}

impl LastFit {
    fn request(&self, place: &Place) -> Value {
        let o = &self.options;
        json!({
            "verb": "view",
            "method": o.method,
            "trials": o.trials,
            "seed": o.seed,
            "search": o.search,
            "start": o.start,
            "fix": o.fix,
            "refine": o.refine,
            "candidate": self.fit.start,
            "device": place.options.device,
        })
    }
}

impl Folder {
    /// A new file of the folder; an existing one is never replaced.
    fn new_file(&self, name: &str) -> Result<PathBuf, Error> {
        let name = name.trim();
        let refuse = |problem: &str| {
            Err(Error::request(
                "file name",
                problem,
                "give a name such as scan_view.h5",
            ))
        };
        let plain = Path::new(name).file_name().is_some_and(|n| n == name);
        if !plain || name.contains(['/', '\\', '\0', ':']) || name.starts_with('.') {
            return refuse("it is not a plain name in the folder that results go to");
        }
        if name.len() > 200 {
            return refuse("it is longer than 200 bytes");
        }
        let mut name = name.to_owned();
        if !name.ends_with(".h5") {
            name.push_str(".h5");
        }
        let path = self.path.join(name);
        if path.symlink_metadata().is_ok() {
            return Err(Error::output(
                path,
                "it exists, and nothing is replaced from the page",
                "choose another name",
            ));
        }
        Ok(path)
    }

    /// Writes the candidate that a page shows; what the last fit found is written as that fit.
    ///
    /// # Errors
    /// A name that is not plain or taken, a fault of the backend, or a disk that refuses.
    pub fn save(
        &self,
        request: &SaveRequest,
        prepared: &Prepared,
        last_fit: Option<&LastFit>,
        place: &Place,
        control: &Control,
    ) -> Result<Value, Error> {
        check_upsampling(request.upsample)?;
        let path = self.new_file(&request.name)?;
        let since = Instant::now();
        let session = &prepared.session;
        let image = session.image(request.candidate.clone(), request.upsample, control)?;
        let mut seconds = json!({
            "prepare": prepared.prepare_seconds,
            "reconstruct": since.elapsed().as_secs_f64(),
        });
        let fitted = last_fit.filter(|l| l.fit.best == request.candidate && request.upsample == 1);
        let result = match fitted {
            Some(last) => {
                seconds["fit"] = last.seconds.into();
                session.fit_file(&last.fit, &image, last.request(place), seconds)
            }
            None => {
                let asked = json!({
                    "verb": "view",
                    "candidate": request.candidate,
                    "candidate_from": "steered by hand",
                    "estimator": Estimator::PhaseOfMean.name(),
                    "upsample": request.upsample,
                    "device": place.options.device,
                });
                let mut details =
                    json!({"aberrations": "steered by hand, not fitted", "from": "ssb view"});
                if let Some(last) = last_fit {
                    details["nearest_fit"] = json!({"best": last.fit.best, "loss": last.fit.loss});
                }
                let form = (Estimator::PhaseOfMean, request.upsample);
                session.reconstruction_file(&image, form, asked, seconds, details)
            }
        };
        result.write(&path)?;
        Ok(json!({
            "kind": "saved",
            "file": path.display().to_string(),
            "name": path.file_name().map(|n| n.to_string_lossy()),
            "fitted": fitted.is_some(),
            "loss": result.outcome.loss,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_plain_names_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let into = Folder {
            path: folder.path().to_owned(),
        };
        let made = into.new_file(" scan view ").unwrap();
        assert_eq!(made, folder.path().join("scan view.h5"));
        std::fs::write(folder.path().join("taken.h5"), b"x").unwrap();
        let long = "x".repeat(300);
        for name in [
            "", ".", "..", "../a", "/etc/a", "a/b", "a\\b", ".hidden", "c:x", "taken", "taken.h5",
            &long,
        ] {
            assert!(into.new_file(name).is_err(), "{name:?}");
        }
    }
}
