//! The program serving simulated data.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ssb"))
}

/// A folder with simulated data whose answer is C10 9 nm, C12 3 nm, phi12 20 deg.
pub struct Data {
    pub folder: TempDir,
    pub file: PathBuf,
}

impl Data {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scan.h5");
        let status = program()
            .arg("simulate")
            .arg(&file)
            .args([
                "--scan-shape=64x60",
                "--det-shape=24x22",
                "--scan-step-a=0.3",
            ])
            .args(["--aberration=C10=9nm", "--aberration=C12=3nm"])
            .args([
                "--aberration=phi12=20deg",
                "--rotation-deg=8",
                "--quiet",
                "--json",
            ])
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        Self { folder, file }
    }
}

/// A running `ssb view`, ended when dropped.
pub struct Serving {
    child: Child,
    pub address: String,
    pub port: u16,
}

impl Serving {
    pub fn start(file: &Path, save_dir: &Path) -> Self {
        let mut child = program()
            .arg("view")
            .arg(file)
            .args([
                "--no-open",
                "--json",
                "--quiet",
                "--backend=cpu",
                "--save-dir",
            ])
            .arg(save_dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let port = told["port"].as_u64().unwrap().try_into().unwrap();
        let address = told["address"].as_str().unwrap().to_owned();
        Self {
            child,
            address,
            port,
        }
    }

    /// The token with the slashes around it.
    pub fn path(&self) -> &str {
        &self.address[self.address.rfind(&format!(":{}", self.port)).unwrap()..]
            [format!(":{}", self.port).len()..]
    }

    #[cfg(unix)]
    pub fn interrupt(mut self) -> std::process::ExitStatus {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
