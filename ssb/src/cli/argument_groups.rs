//! Argument groups that several verbs share.

use std::path::PathBuf;

use clap::Args;
use ssb_io::Region;

use super::values;

/// How to talk.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct TalkArgs {
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no notes; warnings and errors stay
    #[arg(long)]
    pub quiet: bool,
    /// Write what ran when to FILE, a Chrome trace (open it in Perfetto)
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// Where to compute.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Backend")]
pub struct BackendArgs {
    /// auto, or the name of a backend (`ssb devices` lists them)
    #[arg(long, default_value = "auto", value_name = "NAME")]
    pub backend: String,
    /// Device of the backend
    #[arg(long, value_name = "INDEX")]
    pub device: Option<usize>,
    /// Host threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = values::threads)]
    pub threads: Option<usize>,
    /// Memory budget of host and device, e.g. 16GiB
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub max_memory: Option<u64>,
    /// Arrangement of the GPU kernels: on-chip, two-pass, stepwise [default: by the plan]
    #[arg(long, value_name = "NAME")]
    pub topology: Option<String>,
}

/// The data and their orientation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Container, master file, or a folder with one master
    pub file: PathBuf,
    /// Object inside the file, when several fit
    #[arg(long, value_name = "PATH")]
    pub dataset: Option<String>,
    /// Scan rows x columns of a stack of frames
    #[arg(long, value_name = "RxC", value_parser = values::shape)]
    pub scan_shape: Option<[usize; 2]>,
    /// Frames before the first scan position
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip_frames: usize,
    /// Frames after each scan row that belong to the flyback
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub flyback_cols: usize,
    /// raster or serpentine
    #[arg(long, value_name = "ORDER", default_value = "raster", value_parser = ["raster", "serpentine"])]
    pub scan_order: String,
    /// Keep the whole rows of a scan that was stopped
    #[arg(long)]
    pub complete_rows_only: bool,
    /// Use this part of the scan: half-open rows and columns, e.g. 10:50,0:64
    #[arg(long, value_name = "R0:R1,C0:C1")]
    pub region: Option<Region>,
    /// Swap the detector's axes (first of the three)
    #[arg(long)]
    pub transpose: bool,
    /// Flip the detector's rows (second)
    #[arg(long)]
    pub flip_rows: bool,
    /// Flip the detector's columns (third)
    #[arg(long)]
    pub flip_cols: bool,
    /// Pixel mask file, or `none` to ignore the file's own
    #[arg(long, value_name = "FILE|none")]
    pub mask: Option<String>,
    /// off, report or exclude
    #[arg(long, value_name = "WHAT", default_value = "report", value_parser = ["off", "report", "exclude"])]
    pub hot_pixels: String,
    /// Acceleration voltage in kV
    #[arg(long, value_name = "KV", allow_hyphen_values = true)]
    pub voltage_kv: Option<f64>,
    /// Convergence semi-angle
    #[arg(long, value_name = "MRAD", allow_hyphen_values = true)]
    pub semiangle_mrad: Option<f64>,
    /// Scan step in Å: one number, or row,col
    #[arg(long, value_name = "S|R,C", allow_hyphen_values = true, value_parser = values::pair_or_one)]
    pub scan_step_a: Option<[f64; 2]>,
    /// Detector step in mrad per pixel: one number, or row,col
    #[arg(long, value_name = "S|R,C", allow_hyphen_values = true, value_parser = values::pair_or_one)]
    pub det_step_mrad: Option<[f64; 2]>,
    /// Scan-detector rotation in degrees; + turns detector rows towards columns (docs/conventions.md)
    #[arg(long, value_name = "DEG", allow_hyphen_values = true)]
    pub rotation_deg: Option<f64>,
    /// Radius of the bright-field disk in pixels
    #[arg(long, value_name = "PX", allow_hyphen_values = true)]
    pub bf_radius_px: Option<f64>,
    /// Centre of the bright-field disk in transformed pixels
    #[arg(long, value_name = "R,C", allow_hyphen_values = true, value_parser = values::pair)]
    pub bf_center: Option<[f64; 2]>,
    /// Leave out pixels at or below this fraction of the brightest
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub bf_threshold: Option<f64>,
}

/// Known aberrations and the thick model.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Aberrations")]
pub struct AberrationArgs {
    /// NAME=VALUE with a unit, e.g. C10=12.5nm, phi12=14deg, defocus=-12nm (repeatable)
    #[arg(long = "aberration", value_name = "NAME=VALUE")]
    pub aberrations: Vec<String>,
    /// Specimen tilt
    #[arg(long, value_name = "R,C", allow_hyphen_values = true, value_parser = values::pair)]
    pub tilt_mrad: Option<[f64; 2]>,
    /// Depth spread of the thick model
    #[arg(long, value_name = "NM", allow_hyphen_values = true)]
    pub depth_spread_nm: Option<f64>,
}
