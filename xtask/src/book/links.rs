//! Links and images of the Markdown: the target exists with these letters, and has the anchor.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::page::Page;
use super::{Finding, paths};

/// Folders that are no part of the repository.
const OUTSIDE: [&str; 2] = ["target", ".git"];

/// What a link points to within the repository.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// Path from the root.
    pub path: String,
    pub fragment: Option<String>,
}

/// The target of a link of a page; `None` when it is on another host, an error when it cannot be followed.
pub fn target(page: &str, destination: &str) -> Result<Option<Target>, String> {
    if paths::has_scheme(destination) {
        return Ok(None);
    }
    let (path, fragment) = paths::parted(destination);
    let path = match paths::decoded(path) {
        path if path.starts_with('/') => {
            return Err("starts at the root of a host: write it from this page".into());
        }
        path if path.is_empty() => page.to_owned(),
        path => paths::joined(paths::folder(page), &path)
            .ok_or("leaves the repository: name the file within it")?,
    };
    let top = path.split('/').next().unwrap_or_default();
    if OUTSIDE.contains(&top) {
        return Err(format!(
            "points into `{top}`, which is no part of the repository"
        ));
    }
    Ok(Some(Target { path, fragment }))
}

/// Checks every link of the pages; also how many there are.
pub fn check(root: &Path, pages: &BTreeMap<String, Page>) -> io::Result<(usize, Vec<Finding>)> {
    let mut count = 0;
    let mut findings = Vec::new();
    for page in pages.values() {
        for link in &page.links {
            count += 1;
            let wrong = match target(&page.path, &link.destination) {
                Ok(None) => None,
                Ok(Some(_)) if link.at.is_none() => {
                    Some("is not written plainly: write it without escapes".into())
                }
                Ok(Some(target)) => wrong(root, pages, &target)?,
                Err(wrong) => Some(wrong),
            };
            if let Some(wrong) = wrong {
                let what = format!("the link `{}` {wrong}", link.destination);
                findings.push(page.finding(link.line, what));
            }
        }
    }
    Ok((count, findings))
}

fn wrong(
    root: &Path,
    pages: &BTreeMap<String, Page>,
    target: &Target,
) -> io::Result<Option<String>> {
    let Target { path, fragment } = target;
    if let Err(wrong) = paths::exact(root, path) {
        return Ok(Some(format!("has no target: {wrong}")));
    }
    let Some(fragment) = fragment else {
        return Ok(None);
    };
    let file = root.join(path);
    if file.is_dir() {
        return Ok(Some("names a place in a folder: remove the `#`".into()));
    }
    if !path.ends_with(".md") {
        let lines = std::fs::read_to_string(&file).map_or(0, |text| text.lines().count());
        let there = lines_of(fragment).is_some_and(|last| (1..=lines).contains(&last));
        return Ok((!there).then(|| format!("has no target: `{path}` has {lines} lines")));
    }
    let there = match pages.get(path) {
        Some(page) => page.anchors.contains(fragment),
        None => Page::read(path, std::fs::read_to_string(&file)?)
            .anchors
            .contains(fragment),
    };
    Ok((!there).then(|| format!("has no target: `{path}` has no heading `#{fragment}`")))
}

/// The last line that `L12` or `L12-L34` names.
fn lines_of(fragment: &str) -> Option<usize> {
    let last = fragment.rsplit('-').next()?;
    last.strip_prefix('L')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;
    use super::*;

    /// Findings of one page that holds the text, beside a few files.
    fn found(text: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| written(root.path(), path, text);
        let other = "# Title\n## A part\n";
        write("docs/page.md", text);
        write("docs/other.md", other);
        write("docs/Picture.png", "");
        write("src/code.rs", "one\ntwo\n");
        write("src/README.md", "# Code\n");
        let pages = [("docs/page.md", text), ("docs/other.md", other)]
            .map(|(path, text)| (path.to_owned(), Page::read(path, text.to_owned())));
        let (count, found) = check(root.path(), &pages.into()).unwrap();
        assert_eq!(count, text.matches("](").count());
        found.into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn good_links_pass() {
        let text = "## Here\n[a](other.md) [b](other.md#a-part) [c](#here) ![d](Picture.png) [e](../src) \
            [f](../src/code.rs#L2) [g](../src/README.md#code) [h](https://x.org/y#z) [i](mailto:a@b.c)";
        assert_eq!(found(text), Vec::<String>::new());
    }

    #[test]
    fn every_wrong_link_is_found() {
        let wrong = [
            ("[a](none.md)", "there is no `docs/none.md`"),
            ("[a](other.md#none)", "no heading `#none`"),
            ("[a](#none)", "no heading `#none`"),
            ("![a](picture.png)", "is written `Picture.png`"),
            ("[a](../src/code.rs#L3)", "has 2 lines"),
            ("[a](../src/code.rs#two)", "has 2 lines"),
            ("[a](../src/README.md#none)", "no heading `#none`"),
            ("[a](../src#x)", "remove the `#`"),
            ("[a](../../x.md)", "leaves the repository"),
            ("[a](/other.md)", "root of a host"),
            ("[a](../target/doc)", "no part of the repository"),
            ("[a](ot\\_her.md)", "not written plainly"),
        ];
        for (text, what) in wrong {
            let found = found(text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].contains(what), "{text}: {}", found[0]);
        }
    }
}
