//! Checks over single Rust files.

use super::{Finding, Source};

const LONGEST_FILE: usize = 400;

/// Names that say nothing about what a file holds.
const BANNED_NAMES: [&str; 6] = ["utils", "common", "helpers", "base", "misc", "engine"];

fn rust(files: &[Source]) -> impl Iterator<Item = &Source> {
    files
        .iter()
        .filter(|f| f.path.extension().is_some_and(|e| e == "rs"))
}

/// Library and program code: under a crate's `src`, checks themselves left out.
fn shipped(files: &[Source]) -> impl Iterator<Item = &Source> {
    rust(files).filter(|f| {
        let name = f.name();
        name.contains("/src/") && !name.starts_with("xtask/") && !name.ends_with("/tests.rs")
    })
}

pub fn size(files: &[Source]) -> Vec<Finding> {
    rust(files)
        .filter_map(|f| {
            let lines = f.text.lines().count();
            (lines > LONGEST_FILE)
                .then(|| f.finding(format!("{lines} lines; split by meaning at {LONGEST_FILE}")))
        })
        .collect()
}

pub fn names(files: &[Source]) -> Vec<Finding> {
    rust(files)
        .filter(|f| {
            f.path.components().any(|part| {
                let part = part.as_os_str().to_string_lossy();
                BANNED_NAMES.contains(&part.trim_end_matches(".rs"))
            })
        })
        .map(|f| f.finding("a name of the field says what the file holds"))
        .collect()
}

pub fn module_line(files: &[Source]) -> Vec<Finding> {
    rust(files)
        .filter(|f| {
            let first = f.text.lines().next().unwrap_or_default();
            !first.starts_with("//! ") || first.len() < 12
        })
        .map(|f| f.finding("the first line is a `//!` line that says what the file holds"))
        .collect()
}

pub fn unfinished(files: &[Source]) -> Vec<Finding> {
    const MARKS: [&str; 6] = [
        "todo!(",
        "unimplemented!(",
        "TODO",
        "FIXME",
        "XXX",
        "#[ignore",
    ];
    marked(
        rust(files).filter(|f| !f.name().starts_with("xtask/")),
        &MARKS,
        |_| true,
    )
}

pub fn panics(files: &[Source]) -> Vec<Finding> {
    const MARKS: [&str; 3] = [".unwrap()", ".expect(\"", "panic!("];
    marked(shipped(files), &MARKS, |line| {
        !line.trim_start().starts_with("//")
    })
}

/// Lines with a mark, up to the file's test module.
fn marked<'a>(
    files: impl Iterator<Item = &'a Source>,
    marks: &[&str],
    counts: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let before_tests = file
            .text
            .lines()
            .take_while(|l| !l.starts_with("#[cfg(test)]"));
        for (number, line) in before_tests.enumerate() {
            if counts(line)
                && let Some(mark) = marks.iter().find(|m| line.contains(**m))
            {
                findings.push(file.finding(format!("line {}: `{mark}`", number + 1)));
            }
        }
    }
    findings
}
