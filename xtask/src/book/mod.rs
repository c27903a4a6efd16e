//! `cargo xtask book`: the pages of `docs/` as one book of HTML pages, and what is wrong with them.
//!
//! Everything is checked twice where it can be: the Markdown, which is also read on a git host, and the rendered pages.

mod code;
mod commands;
mod contents;
mod html;
mod links;
mod messages;
mod page;
mod paths;
mod placing;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use commands::Program;
use page::Page;

/// The folder of the pages.
const DOCS: &str = "docs";
/// The page that lists the chapters.
const SUMMARY: &str = "docs/SUMMARY.md";
/// Pages that are no chapters and are checked like them.
const BESIDE: [&str; 2] = [SUMMARY, "README.md"];

/// What a check found wrong.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub file: String,
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// 0: a book without a finding; 1: findings, or no book.
pub fn run() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    match target_folder().and_then(|target| made(root, &target.join("docs"))) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("book: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder that this program was built into, two above it: `target/book/xtask`.
fn target_folder() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(2).unwrap_or(&program).to_path_buf())
}

/// Writes the book, prints what is wrong, and returns how much that is.
fn made(root: &Path, output: &Path) -> io::Result<usize> {
    let (pages, missing) = pages(root)?;
    let contents = contents::read(&pages, missing);
    let (links, mut findings) = links::check(root, &pages)?;
    findings.extend(code::check(
        &pages,
        &Program::read(&root.join("ssb/src/cli"))?,
    ));
    findings.extend(messages::check(root, &pages)?);
    let chapters = contents.places.len();
    if contents.complete {
        match placing::rendered(root, output, &pages, &contents) {
            Ok(copies) => {
                sources::write(root, output, &copies)?;
                findings.extend(html::check(output)?);
            }
            Err(error) => findings.push(Finding {
                file: SUMMARY.into(),
                line: 1,
                what: format!("mdBook makes no book of it: {error:#}"),
            }),
        }
    }
    findings.extend(contents.findings);
    findings.sort();
    findings.dedup();
    for Finding { file, line, what } in &findings {
        println!("{file}:{line}: {what}");
    }
    let index = output.join("index.html");
    println!(
        "book: {chapters} pages, {links} links, {} findings: {}",
        findings.len(),
        index.strip_prefix(root).unwrap_or(&index).display()
    );
    Ok(findings.len())
}

/// Every page of `docs/`, those beside it, and the chapters of the summary that lie elsewhere; and the chapters that
/// cannot be read.
fn pages(root: &Path) -> io::Result<(BTreeMap<String, Page>, BTreeSet<String>)> {
    let mut names = Vec::new();
    markdown(root, DOCS, &mut names)?;
    names.extend(BESIDE.map(String::from));
    let mut pages = BTreeMap::new();
    for name in names {
        let text = std::fs::read_to_string(root.join(&name))?;
        pages.insert(name.clone(), Page::read(&name, text));
    }
    let mut missing = BTreeSet::new();
    for entry in pages
        .get(SUMMARY)
        .map(contents::entries)
        .unwrap_or_default()
    {
        if pages.contains_key(&entry.path) {
            continue;
        }
        match std::fs::read_to_string(root.join(&entry.path)) {
            Ok(text) => {
                let page = Page::read(&entry.path, text);
                pages.insert(entry.path, page);
            }
            Err(_) => {
                missing.insert(entry.path);
            }
        }
    }
    Ok((pages, missing))
}

/// The Markdown files of a folder and those below it, as paths from the root.
fn markdown(root: &Path, folder: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            markdown(root, &name, names)?;
        } else if name.ends_with(".md") {
            names.push(name);
        }
    }
    Ok(())
}
