//! The book's contents, `docs/SUMMARY.md`: every page is listed, and every entry has a place in the book.

use std::collections::{BTreeMap, BTreeSet};

use super::page::Page;
use super::{DOCS, Finding, SUMMARY, links, paths};

/// The chapters.
#[derive(Default)]
pub struct Contents {
    /// From a chapter's path in the repository to its path in the book.
    pub places: BTreeMap<String, String>,
    /// Whether every entry can be read, so that a book can be made.
    pub complete: bool,
    pub findings: Vec<Finding>,
}

/// One line of the summary.
pub struct Entry {
    pub path: String,
    pub line: usize,
}

/// What the summary lists, in its order.
pub fn entries(summary: &Page) -> Vec<Entry> {
    let links = summary.links.iter();
    links
        .filter_map(|link| {
            let target = links::target(&summary.path, &link.destination).ok()??;
            Some(Entry {
                path: target.path,
                line: link.line,
            })
        })
        .collect()
}

/// Reads the summary among the pages; `missing` are entries without a file, which the check of links names.
pub fn read(pages: &BTreeMap<String, Page>, missing: BTreeSet<String>) -> Contents {
    let mut contents = Contents {
        complete: missing.is_empty(),
        ..Contents::default()
    };
    let Some(summary) = pages.get(SUMMARY) else {
        return contents;
    };
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for Entry { path, line } in entries(summary) {
        let mut wrong = |what| contents.findings.push(summary.finding(line, what));
        if missing.contains(&path) {
            continue;
        }
        if !path.ends_with(".md") {
            wrong(format!("`{path}` is no Markdown page: chapters are"));
            contents.complete = false;
            continue;
        }
        if contents.places.contains_key(&path) {
            wrong(format!("`{path}` is listed twice: remove one of them"));
            continue;
        }
        let place = place(&path);
        if let Some(other) = taken.get(&place) {
            wrong(format!(
                "`{path}` and `{other}` would both be `{place}` in the book: rename one"
            ));
            contents.complete = false;
        }
        taken.insert(place.clone(), path.clone());
        contents.places.insert(path, place);
    }
    for page in pages.values() {
        let of_docs = page.path.starts_with("docs/") && page.path != SUMMARY;
        if of_docs && !contents.places.contains_key(&page.path) {
            let what = format!("the page is not in {SUMMARY}: list it");
            contents.findings.push(page.finding(1, what));
        }
    }
    contents
}

/// Where the book holds a page: as in `docs/`, with README as the index; from elsewhere under its path in one word.
fn place(path: &str) -> String {
    if let Some(path) = path.strip_prefix(DOCS).and_then(|p| p.strip_prefix('/')) {
        return match path.strip_suffix("README.md") {
            Some(folder) => format!("{folder}index.md"),
            None => path.to_owned(),
        };
    }
    let folder = paths::folder(path);
    let name = match path.ends_with("/README.md") {
        true => folder,
        false => path.trim_end_matches(".md"),
    };
    format!("{}.md", name.replace('/', "-").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(pages: &[(&str, &str)], missing: &[&str]) -> Contents {
        let pages = pages
            .iter()
            .map(|(path, text)| ((*path).to_owned(), Page::read(path, (*text).to_owned())))
            .collect();
        read(&pages, missing.iter().map(|m| (*m).to_owned()).collect())
    }

    #[test]
    fn pages_get_their_places() {
        assert_eq!(place("docs/README.md"), "index.md");
        assert_eq!(place("docs/a/README.md"), "a/index.md");
        assert_eq!(place("docs/fitting.md"), "fitting.md");
        assert_eq!(place("ARCHITECTURE.md"), "architecture.md");
        assert_eq!(place("benches/README.md"), "benches.md");
        assert_eq!(place("a/b/c.md"), "a-b-c.md");
    }

    #[test]
    fn a_full_summary_has_no_finding() {
        let summary = "[Start](README.md)\n\n- [A](a.md)\n- [B](../B.md)\n";
        let pages = [
            (SUMMARY, summary),
            ("docs/README.md", ""),
            ("docs/a.md", ""),
            ("B.md", ""),
        ];
        let contents = contents(&pages, &[]);
        assert_eq!(contents.findings, []);
        assert!(contents.complete);
        assert_eq!(contents.places["B.md"], "b.md");
        assert_eq!(contents.places.len(), 3);
    }

    #[test]
    fn a_page_that_is_not_listed_is_found() {
        let pages = [
            (SUMMARY, "[Start](README.md)\n"),
            ("docs/README.md", ""),
            ("docs/deep/lost.md", ""),
        ];
        let found = contents(&pages, &[]).findings;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].file, "docs/deep/lost.md");
        assert!(found[0].what.contains("not in docs/SUMMARY.md"));
    }

    #[test]
    fn entries_must_be_pages_once_and_apart() {
        let summary = "- [A](a.md)\n- [A](a.md)\n- [A](../A.md)\n- [C](code.rs)\n";
        let pages = [(SUMMARY, summary), ("docs/a.md", ""), ("A.md", "")];
        let contents = contents(&pages, &[]);
        let lines: Vec<usize> = contents.findings.iter().map(|f| f.line).collect();
        assert_eq!(lines, [2, 3, 4]);
        assert!(!contents.complete);
    }

    #[test]
    fn a_missing_entry_makes_no_book() {
        let contents = contents(&[(SUMMARY, "- [A](a.md)\n")], &["docs/a.md"]);
        assert!(!contents.complete);
    }
}
