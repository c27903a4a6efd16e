//! Texts of every kernel and plan: written, compiled on the host, and by NVIDIA's compilers for a report.

mod catalogue;
mod occupancy;
mod report;
mod toolkit;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ssb_kernels::text::{RecordedKernel, TextError};

use report::Row;
use toolkit::Toolkit;

/// Nothing failed, but a step could not be done.
const SKIPPED: u8 = 3;

/// How a step went.
#[derive(Default)]
struct Step {
    passed: usize,
    failed: usize,
    skipped: Option<String>,
}

impl Step {
    fn print(&self, name: &str, of: usize) {
        match &self.skipped {
            Some(reason) => println!("kernels: {name}: SKIPPED ({of} texts not checked): {reason}"),
            None => println!(
                "kernels: {name}: {} passed, {} failed",
                self.passed, self.failed
            ),
        }
    }

    fn count(&mut self, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}

/// Runs `cargo xtask kernels`.
pub fn run(arguments: &[String]) -> ExitCode {
    let target = target_folder();
    let out = match arguments {
        [] => target.join("kernels"),
        [flag, folder] if flag == "--out" => PathBuf::from(folder),
        _ => {
            eprintln!("usage: cargo xtask kernels [--out DIR]");
            return ExitCode::from(2);
        }
    };
    match check(&out, &target) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("kernels: {message}");
            ExitCode::FAILURE
        }
    }
}

fn check(out: &Path, target: &Path) -> Result<ExitCode, String> {
    let kernels = distinct(catalogue::catalogue()?);
    if kernels.is_empty() {
        return Err("the catalogue is empty".to_owned());
    }
    let files = write(out, &kernels)?;
    println!("kernels: {} texts in {}", files.len(), out.display());

    let host = on_host(&kernels);
    let cuda: Vec<usize> = (0..kernels.len())
        .filter(|&i| kernels[i].target.compute_capability().is_some())
        .collect();
    let mut compiled = Step::default();
    let mut spilled = Vec::new();
    match Toolkit::new(&target.join("cuda-compilers")) {
        Err(reason) => compiled.skipped = Some(reason),
        Ok(toolkit) => {
            let rows = with_nvidia(&toolkit, &kernels, &files, &cuda, &mut compiled)?;
            report::print(&rows);
            spilled = rows
                .iter()
                .filter(|row| row.kernel.fused && row.usage.spill_bytes > 0)
                .map(|row| format!("{} of {}", row.kernel.kernel, row.kernel.plan))
                .collect();
        }
    }
    host.print("C++ compiler, CUDA and Metal", kernels.len());
    compiled.print("NVRTC and ptxas, CUDA", cuda.len());
    for name in &spilled {
        println!("kernels: fused kernel {name} spills registers");
    }
    let failed = host.failed + compiled.failed + spilled.len();
    Ok(if failed > 0 {
        ExitCode::FAILURE
    } else if host.skipped.is_some() || compiled.skipped.is_some() {
        ExitCode::from(SKIPPED)
    } else {
        ExitCode::SUCCESS
    })
}

/// One of each kernel, however often it is launched and in however many plans.
fn distinct(kernels: Vec<RecordedKernel>) -> Vec<RecordedKernel> {
    let mut seen = BTreeMap::new();
    for kernel in kernels {
        let key = (kernel.target, kernel.kernel.clone(), kernel.canonical());
        seen.entry(key).or_insert(kernel);
    }
    seen.into_values().collect()
}

/// Writes every text to `OUT/TARGET/PLAN-KERNEL-NAME.cu` or `.metal`.
fn write(out: &Path, kernels: &[RecordedKernel]) -> Result<Vec<PathBuf>, String> {
    let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
    let mut files = Vec::new();
    for kernel in kernels {
        let folder = out.join(kernel.target.name());
        let name = format!(
            "{}-{}-{}.{}",
            plain(&kernel.plan),
            kernel.kernel,
            kernel.fingerprint(),
            kernel.ending()
        );
        let file = folder.join(name);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, &kernel.text))
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        files.push(file);
    }
    Ok(files)
}

fn on_host(kernels: &[RecordedKernel]) -> Step {
    let mut step = Step::default();
    for kernel in kernels {
        match kernel.check_on_host() {
            Ok(()) => step.count(true),
            Err(error @ TextError::NoCompiler { .. }) => {
                step.skipped = Some(error.to_string());
                return step;
            }
            Err(error) => {
                println!("kernels: {} of {}: {error}", kernel.kernel, kernel.plan);
                step.count(false);
            }
        }
    }
    step
}

fn with_nvidia<'k>(
    toolkit: &Toolkit,
    kernels: &'k [RecordedKernel],
    files: &[PathBuf],
    cuda: &[usize],
    step: &mut Step,
) -> Result<Vec<Row<'k>>, String> {
    let jobs: Vec<_> = cuda
        .iter()
        .map(|&i| (kernels[i].target, files[i].as_path()))
        .collect();
    let outcomes = toolkit.compile(&jobs)?;
    let mut rows = Vec::new();
    for (&i, outcome) in cuda.iter().zip(outcomes) {
        let kernel = &kernels[i];
        step.count(outcome.is_ok());
        match outcome {
            Ok(usage) => rows.push(Row { kernel, usage }),
            Err(message) => println!("kernels: {} of {}: {message}", kernel.kernel, kernel.plan),
        }
    }
    Ok(rows)
}

/// Where cargo puts what it builds.
fn target_folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}
