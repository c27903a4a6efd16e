//! Links between the Markdown files.

use std::path::{Component, Path, PathBuf};

use super::{Finding, Source};

/// Relative links whose target does not exist.
pub fn links(files: &[Source]) -> Vec<Finding> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    let mut findings = Vec::new();
    for file in files
        .iter()
        .filter(|f| f.path.extension().is_some_and(|e| e == "md"))
    {
        for target in targets(&file.text) {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
                continue;
            }
            let folder = file.path.parent().unwrap_or(Path::new(""));
            if !root.join(normal(&folder.join(path))).exists() {
                findings.push(file.finding(format!("link to `{target}`: there is no such file")));
            }
        }
    }
    findings
}

/// The targets of `[text](target)`, code blocks left out.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let mut rest = line;
            while let Some(start) = rest.find("](") {
                rest = &rest[start + 2..];
                if let Some(end) = rest.find(')') {
                    found.push(&rest[..end]);
                }
            }
        }
    }
    found
}

fn normal(path: &Path) -> PathBuf {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts.iter().collect()
}
