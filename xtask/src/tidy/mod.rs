//! House rules that a program can check; see ARCHITECTURE.md.

mod registries;
mod sources;
mod texts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a check found wrong, with the file it is in.
pub struct Finding {
    pub file: PathBuf,
    pub what: String,
}

/// A tracked text file.
pub struct Source {
    /// Path from the workspace root.
    pub path: PathBuf,
    pub text: String,
}

impl Source {
    pub fn finding(&self, what: impl Into<String>) -> Finding {
        Finding {
            file: self.path.clone(),
            what: what.into(),
        }
    }

    /// The path with `/` between its parts.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().replace('\\', "/")
    }
}

type Check = fn(&[Source]) -> Vec<Finding>;

/// Every check: a name and a function over all files.
const CHECKS: &[(&str, Check)] = &[
    ("file size", sources::size),
    ("file names", sources::names),
    ("module lines", sources::module_line),
    ("unfinished code", sources::unfinished),
    ("panics", sources::panics),
    ("registries", registries::complete),
    ("links", texts::links),
];

/// Runs every check and prints a line each.
pub fn run() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    let mut files = Vec::new();
    if let Err(error) = collect(root, root, &mut files) {
        eprintln!("tidy: {error}");
        return ExitCode::FAILURE;
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut found = 0;
    for (name, check) in CHECKS {
        let findings = check(&files);
        println!("tidy: {name}: {} finding(s)", findings.len());
        for finding in &findings {
            println!("  {}: {}", finding.file.display(), finding.what);
        }
        found += findings.len();
    }
    println!("tidy: {} files read", files.len());
    if found == 0 && !files.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<Source>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                collect(root, &path, files)?;
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            let text = std::fs::read_to_string(&path)?;
            let path = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            files.push(Source { path, text });
        }
    }
    Ok(())
}
