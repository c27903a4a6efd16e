//! Small simulated data and how the program is run on them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a simulated acquisition, its calibration in the file.
pub struct Data {
    pub folder: TempDir,
    pub file: PathBuf,
}

pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ssb"))
}

impl Data {
    pub fn new() -> Self {
        Self::of(&["--scan-shape", "24x30", "--det-shape", "20x18"])
    }

    pub fn of(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scan.h5");
        let known = [
            "--aberration=C10=9nm",
            "--aberration=C12=3nm",
            "--aberration=phi12=20deg",
        ];
        let mut args = vec![
            "simulate",
            file.to_str().unwrap(),
            "--scan-step-a=0.3",
            "--json",
        ];
        args.extend(known.iter().chain(more));
        let output = program().args(&args).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        Self { folder, file }
    }

    /// A folder for a file that the test writes.
    pub fn empty(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        Self { folder, file }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Names of everything in the folder.
    pub fn listing(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

pub fn told(output: &Output) -> String {
    format!(
        "{:?}\n{}\n{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The only thing on stdout.
pub fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", told(output)))
}

/// Runs a verb on a file with `--json`; returns the exit code and the document.
pub fn json(verb: &str, file: &Path, args: &[&str]) -> (i32, Value) {
    let output = program()
        .arg(verb)
        .arg(file)
        .args(args)
        .arg("--json")
        .output()
        .unwrap();
    (output.status.code().unwrap(), document(&output))
}

/// As [`json`], for a run that must succeed.
pub fn done(verb: &str, file: &Path, args: &[&str]) -> Value {
    let (code, document) = json(verb, file, args);
    assert_eq!(code, 0, "{document}");
    document
}
