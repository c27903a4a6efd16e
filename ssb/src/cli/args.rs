//! The command line: verbs and the arguments that they share.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use super::argument_groups::{AberrationArgs, BackendArgs, DataArgs, TalkArgs};
use super::export::ExportArgs;
use super::report::ReportArgs;
use super::shell::{CompletionsArgs, ManArgs};
use super::show::ShowArgs;
use super::values;

/// What a newcomer does, in order.
const FIRST_STEPS: &str = "\
First steps:
  ssb demo                                the whole job on simulated data, with a figure
  ssb inspect scan.h5 --counts            is the file read as it was meant? what is missing is named
  ssb fit scan.h5 -o r.h5                 find C10, C12, phi12 (Ctrl-C keeps the best; --resume goes on)
  ssb report r.h5 -o r.html               warnings, numbers, figures, provenance on one page
  ssb view r.h5                           steer by hand in the browser

Values that the file does not hold are arguments: --voltage-kv 300 --semiangle-mrad 21.4 --scan-step-a 0.25
--det-step-mrad 1.2 --rotation-deg=-12. Aberrations carry units: --aberration C10=12.5nm --aberration phi12=14deg.
`ssb VERB --help` explains every option; --json prints one document for programs, everything else goes to stderr.
Exit codes: 0 done, 1 cannot be done (the message says why and what to do), 2 usage, 3 a fault of program or device,
130 cancelled.";

/// Single-sideband ptychography of 4D-STEM data.
#[derive(Debug, Parser)]
#[command(name = "ssb", version, about, max_term_width = 100, after_help = FIRST_STEPS)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The whole job on simulated data in a new folder: data, result, figure, truth beside fit
    Demo(DemoArgs),
    /// List backends and devices: usable or why not
    Devices(DevicesArgs),
    /// Layout, shapes, frames, mask, calibration with its origin, bright-field disk
    Inspect(Box<InspectArgs>),
    /// Write simulated data with a known answer
    Simulate(Box<SimulateArgs>),
    /// Reconstruct with known aberrations, no search
    Reconstruct(Box<ReconstructArgs>),
    /// Fit the aberrations and reconstruct
    Fit(Box<FitArgs>),
    /// Score candidates
    Eval(Box<EvalArgs>),
    /// Draw the figure of a result
    Show(ShowArgs),
    /// Write the arrays of a result as files
    Export(ExportArgs),
    /// Write everything about a result on one HTML page that needs nothing else
    Report(ReportArgs),
    /// Write the bright-field columns, lossless, to a file of their own
    Convert(Box<ConvertArgs>),
    /// Live steering in the browser: aberrations, rotation, tilt, while the picture follows
    #[cfg(feature = "view")]
    View(Box<super::view::ViewArgs>),
    /// Numbered acquisitions of a folder: one shared fit or one each, all phases in one file
    Series(Box<SeriesArgs>),
    /// The conformance suite on this machine, one line a check
    Parity(ParityArgs),
    /// Benchmarks on simple counts in memory, one line (with --json: one JSON line) each
    Bench(BenchArgs),
    /// Print the completions for a shell: source <(ssb completions bash)
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// New folder
    #[arg(default_value = "ssb-demo")]
    pub dir: PathBuf,
    /// Seed of the specimen, the noise and the search
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub struct DevicesArgs {
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub struct InspectArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Read everything: sum, largest count, hash, bright-field disk
    #[arg(long)]
    pub counts: bool,
    /// Host threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = values::threads)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// File to write
    #[arg(short, long, value_name = "COLS.h5")]
    pub output: PathBuf,
    /// Host threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = values::threads)]
    pub threads: Option<usize>,
    /// Memory budget, e.g. 16GiB
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub max_memory: Option<u64>,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// JSON list of candidates: [{"C10_nm": 15, "C12_nm": 6, "phi12_rad": 0.5}, …]
    #[arg(long, value_name = "C.json")]
    pub candidates: PathBuf,
    /// phase-variance or agreement
    #[arg(long, default_value = "phase-variance", value_parser = ["phase-variance", "agreement"])]
    pub objective: String,
    /// Candidates in one call of the evaluator [default: all]
    #[arg(long, value_name = "N", value_parser = values::positive)]
    pub batch: Option<usize>,
    /// Upsampling of the saved objects: 1, 2, 3, 4 or 8
    #[arg(long, value_name = "U", default_value_t = 1)]
    pub upsample: usize,
    /// Save the mean phase of each candidate as float64 [n, R, C]
    #[arg(long, value_name = "OUT.npy")]
    pub save_phase: Option<PathBuf>,
    /// Save the complex object of each candidate as complex64 [n, R, C]
    #[arg(long, value_name = "OUT.npy")]
    pub save_object: Option<PathBuf>,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Where a result goes.
#[derive(Debug, Clone, Args)]
pub struct ResultArgs {
    /// Result file
    #[arg(short, long, value_name = "R.h5")]
    pub output: PathBuf,
    /// Recompute even when the file holds this very result; a journal of an unfinished fit is discarded
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ReconstructArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub known: AberrationArgs,
    #[command(flatten)]
    pub result: ResultArgs,
    /// phase-of-mean or mean-phase: which picture `/phase` holds
    #[arg(long, default_value = "phase-of-mean", value_parser = ["phase-of-mean", "mean-phase"])]
    pub estimator: String,
    /// Finer output sampling: 1, 2, 3, 4 or 8
    #[arg(long, value_name = "U", default_value_t = 1)]
    pub upsample: usize,
    /// Also evaluate the exact loss
    #[arg(long)]
    pub loss: bool,
    /// Take the aberrations of this result, with the changes that other arguments give
    #[arg(long, value_name = "R0.h5")]
    pub from: Option<PathBuf>,
    /// Those of its trial N instead of its best
    #[arg(long, value_name = "N", requires = "from")]
    pub trial: Option<u64>,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
#[command(
    mut_arg("file", |f| f.value_name("DIR").help("Folder of the numbered acquisitions")),
    mut_arg("output", |o| o.value_name("OUT_DIR").help("Folder of the results and of phases.h5")),
    mut_arg("resume", |r| r.hide(true))
)]
pub struct SeriesArgs {
    #[command(flatten)]
    pub fit: FitArgs,
    /// One fit whose aberrations all are reconstructed with, or one fit each
    #[arg(long = "fit", value_name = "WHICH", default_value = "shared", value_parser = ["shared", "each"])]
    pub mode: String,
    /// The acquisition that the shared fit is made on [default: the first]
    #[arg(long, value_name = "NAME")]
    pub fit_on: Option<String>,
    /// Names that belong to the series, with # for every number, e.g. 'scan_#.h5' [default: the only kind there is]
    #[arg(long, value_name = "NAME#")]
    pub pattern: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub struct FitArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub result: ResultArgs,
    /// guided (agreement from coarse to fine, then the exact loss), or the exact loss alone: tpe, random, grid
    #[arg(long, default_value = "guided", value_name = "METHOD")]
    pub method: String,
    /// Trials of tpe, random and grid, the start included
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub trials: usize,
    /// Seed of the search
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Range searched, e.g. C10=-40nm:40nm (repeatable; also rotation=-5deg:5deg, tilt_row, tilt_col, depth_spread); without a term: C10=-40nm:40nm, C12=0nm:10nm and phi12, wider with guided where detector and field can show more; with one, only the terms named
    #[arg(long, value_name = "NAME=LOW:HIGH")]
    pub search: Vec<String>,
    /// Start, e.g. C12=5nm (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub start: Vec<String>,
    /// Hold a term, e.g. C30=1.2um (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub fix: Vec<String>,
    /// nelder-mead (guided: quadratic models), gradient (needs the feature `burn`), or none
    #[arg(long, default_value = "nelder-mead", value_parser = ["nelder-mead", "gradient", "none"])]
    pub refine: String,
    /// Fit specimen tilt and depth spread with C10, C12 and phi12, by the agreement
    #[arg(long)]
    pub tilt: bool,
    /// Estimate the rotation from the curl of the centre of mass, and search it within 8 deg of that
    #[arg(long)]
    pub rotation_from_curl: bool,
    /// Score whether atom columns are bright, and take the rotation 180 deg away when they are only there
    #[arg(long, default_value = "on", value_parser = ["on", "off"])]
    pub check_rotation: String,
    /// Continue a fit that was cancelled or killed, from the journal beside its result (R.h5.journal)
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    #[command(flatten)]
    pub known: AberrationArgs,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Data file to write; the truth goes beside it
    pub output: PathBuf,
    /// atoms, lattice, or a NumPy file with the phase of the specimen in rad
    #[arg(long, default_value = "atoms", value_name = "atoms|lattice|FILE.npy")]
    pub object: String,
    /// Scan rows x columns
    #[arg(long, default_value = "64x64", value_name = "RxC", value_parser = values::shape)]
    pub scan_shape: [usize; 2],
    /// Detector rows x columns
    #[arg(long, default_value = "32x32", value_name = "RxC", value_parser = values::shape)]
    pub det_shape: [usize; 2],
    /// Electrons in one pattern
    #[arg(long, default_value_t = 20_000.0, value_name = "N")]
    pub dose_e_per_pattern: f64,
    /// Seed of specimen and noise
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    #[command(flatten)]
    pub known: AberrationArgs,
    /// Specimen thickness
    #[arg(long, default_value_t = 0.0, value_name = "NM")]
    pub thickness_nm: f64,
    /// Scan-detector rotation
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "DEG",
        allow_hyphen_values = true
    )]
    pub rotation_deg: f64,
    /// Beam energy
    #[arg(long, default_value_t = 300.0, value_name = "KV")]
    pub voltage_kv: f64,
    /// Convergence semi-angle
    #[arg(long, default_value_t = 30.0, value_name = "MRAD")]
    pub semiangle_mrad: f64,
    /// Scan step in Å: one number, or row,col
    #[arg(long, default_value = "0.25", value_name = "S|R,C", value_parser = values::pair_or_one)]
    pub scan_step_a: [f64; 2],
    /// Detector step in mrad per pixel [default: the disk fills two thirds of the detector]
    #[arg(long, value_name = "S|R,C", value_parser = values::pair_or_one)]
    pub det_step_mrad: Option<[f64; 2]>,
    /// plain, arina or emd
    #[arg(long, default_value = "plain", value_parser = ["plain", "arina", "emd"])]
    pub layout: String,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub struct ParityArgs {
    /// Problems by name, e.g. 31x37,64x64 [default: all but the large]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub problems: Vec<String>,
    /// The large problems too: minutes of the float64 reference
    #[arg(long)]
    pub large: bool,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Scan rows x columns (repeatable) [default: 128x128 and 256x256]
    #[arg(long, value_name = "RxC", value_parser = values::shape)]
    pub scan_shape: Vec<[usize; 2]>,
    /// Bright-field pixels, all active
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = values::positive)]
    pub bf: usize,
    /// Timed runs of each benchmark, after a first one that is told apart
    #[arg(long, default_value_t = 7, value_name = "K", value_parser = values::positive)]
    pub runs: usize,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}
