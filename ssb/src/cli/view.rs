//! `ssb view`: live steering of a data set, or of a result, in the browser.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use ssb_core::{Candidate, PrepareOptions};
use ssb_io::result::ResultFile;

use super::args::{AberrationArgs, BackendArgs, DataArgs, TalkArgs};
use super::console::Console;
use super::{Ending, opening};
use crate::source::options_of;
use crate::view::{Beginning, Folder, Listening, Place, Prepared, Setup};
use crate::{Acquisition, AcquisitionOptions, Error, HotPixels, Source, open};

/// Arguments of `ssb view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub known: AberrationArgs,
    /// Port of the loopback interface; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Print the address only, open no browser
    #[arg(long)]
    pub no_open: bool,
    /// Folder that the page saves results in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub save_dir: Option<PathBuf>,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// What is to be opened, and what is shown first.
struct Opened {
    source: Source,
    options: AcquisitionOptions,
    beginning: Beginning,
    /// Hash that the counts of a result should have.
    expected_sha256: Option<String>,
}

fn data(a: &ViewArgs, console: &Console) -> Result<Opened, Error> {
    let candidate = opening::candidate(Candidate::default(), &a.known, console)?;
    Ok(Opened {
        source: opening::source(&a.data, console)?,
        options: opening::acquisition_options(&a.data, a.backend.threads, a.backend.max_memory),
        beginning: Beginning {
            candidate,
            fitted: None,
            trials: Vec::new(),
            of_result: false,
            warnings: Vec::new(),
        },
        expected_sha256: None,
    })
}

/// The data file of a result: where it was, or beside the result.
fn data_of(result: &Path, recorded: &str) -> Result<PathBuf, Error> {
    let recorded = PathBuf::from(recorded);
    let beside = recorded.file_name().map(|name| result.with_file_name(name));
    [Some(recorded.clone()), beside]
        .into_iter()
        .flatten()
        .find(|p| p.exists())
        .ok_or_else(|| {
            Error::request(
                result.display().to_string(),
                format!("its data file {} is not there", recorded.display()),
                "put the data file back, or beside the result, or open the data file itself",
            )
        })
}

/// A result: its data read as they were, its candidate, its trials. Arguments about calibration, disk and
/// backend win.
fn result(a: &ViewArgs, result: ResultFile, console: &Console) -> Result<Opened, Error> {
    let p = result.provenance;
    let path = data_of(&a.data.file, &p.source.path)?;
    let recorded = options_of(&p.source.options["open"]).map_err(|e| {
        Error::request(
            a.data.file.display().to_string(),
            format!("how its data were opened is not understood: {e}"),
            "open the data file itself",
        )
    })?;
    let source = open(path, &recorded)?;
    let mut options =
        opening::acquisition_options(&a.data, a.backend.threads, a.backend.max_memory);
    let c = &mut options.calibration;
    c.voltage_kv.get_or_insert(p.calibration.voltage_kv);
    c.semiangle_mrad.get_or_insert(p.calibration.semiangle_mrad);
    c.scan_step_a.get_or_insert(p.calibration.scan_step_a);
    c.det_step_mrad.get_or_insert(p.calibration.det_step_mrad);
    c.rotation_deg.get_or_insert(p.calibration.rotation_deg);
    let same_disk = options.disk == Default::default();
    if same_disk && let Ok(disk) = serde_json::from_value(p.source.options["disk"].clone()) {
        options.disk = disk;
    }
    if p.source.options.get("hot_pixels_excluded").is_some() {
        options.hot_pixels = HotPixels::Exclude;
    }
    let best = result.outcome.best;
    let candidate = opening::candidate(best.clone(), &a.known, console)?;
    Ok(Opened {
        source,
        options,
        beginning: Beginning {
            candidate,
            fitted: result.outcome.fitted.then_some(best),
            trials: result.trials,
            of_result: true,
            warnings: p.warnings,
        },
        expected_sha256: same_disk.then_some(p.source.content_sha256),
    })
}

pub fn run(a: &ViewArgs, console: &Console) -> Result<Ending, Error> {
    let folder = match &a.save_dir {
        Some(path) => path.clone(),
        None => PathBuf::from("."),
    };
    let folder = folder
        .canonicalize()
        .map_err(|e| Error::output(&folder, e, "give an existing folder with --save-dir"))?;
    let listening = Listening::on(a.port)?;
    let opening_stage = console.stage("open");
    let is_result = ResultFile::read_provenance(&a.data.file).is_ok();
    let mut opened = if is_result {
        result(a, ResultFile::read(&a.data.file)?, console)?
    } else {
        data(a, console)?
    };
    let tell = |plan: &ssb_io::LoadPlan| console.note(&format!("plan: {plan}"));
    let acquisition =
        Acquisition::gather_telling(&opened.source, &opened.options, console.control(), &tell)?;
    for warning in &acquisition.warnings {
        console.warn(warning);
    }
    if opened
        .expected_sha256
        .as_ref()
        .is_some_and(|e| *e != acquisition.record.content_sha256)
    {
        let text = "the counts are not those that the result was made from (their hash differs)";
        console.warn(text);
        opened.beginning.warnings.insert(0, text.into());
    }
    opening_stage.end();
    let preparing = console.stage("prepare");
    let place = Place {
        backend: a.backend.backend.as_str().into(),
        options: PrepareOptions {
            device: a.backend.device,
            threads: a.backend.threads,
            max_memory_bytes: a.backend.max_memory,
            topology: a.backend.topology.clone(),
            ..PrepareOptions::default()
        },
    };
    let prepared = Prepared::new(acquisition, &place, console.control())?;
    preparing.end();
    let info = prepared.session.info();
    console.note(&format!(
        "backend: {} ({}); {}",
        info.backend,
        info.device,
        prepared.session.reason()
    ));
    console.note(&format!("plan: {}", info.plan));
    let address = listening.address();
    let document = json!({
        "address": address,
        "port": listening.port(),
        "backend": info.backend,
        "device": info.device,
        "software_adapter": info.software_adapter,
        "bf_pixels": info.bf_pixels,
        "save_dir": folder.display().to_string(),
    });
    console.address(&document, &format!("open {address} (Ctrl-C ends)"));
    if !a.no_open
        && let Err(e) = open_browser(&address)
    {
        console.warn(&format!(
            "no browser could be opened ({e}); open the address yourself"
        ));
    }
    let setup = Setup {
        source: opened.source,
        options: opened.options,
        place,
        folder: Folder { path: folder },
        beginning: opened.beginning,
    };
    listening.serve(setup, prepared, console.control())?;
    Ok(Ending::Done)
}

fn open_browser(address: &str) -> std::io::Result<()> {
    ::open::that_detached(address)
}
