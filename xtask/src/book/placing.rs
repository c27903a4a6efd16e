//! Renders the book, with the chapters at their places in it and their links rewritten to these.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mdbook_driver::MDBook;
use mdbook_driver::book::Book;
use mdbook_driver::config::Config;
use mdbook_driver::errors::Result;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

use super::contents::Contents;
use super::links::{self, Target};
use super::page::Page;
use super::{DOCS, paths, sources};

/// A chapter as it is in the book.
#[derive(Debug, PartialEq, Eq)]
pub struct Placed {
    pub place: String,
    pub text: String,
    /// Files and folders of the repository that it links to and that are to be copied.
    pub copies: BTreeSet<String>,
}

/// The chapter with its links as the book needs them.
pub fn placed(root: &Path, page: &Page, places: &BTreeMap<String, String>) -> Placed {
    let place = places.get(&page.path).unwrap_or(&page.path);
    let mut placed = Placed {
        place: place.clone(),
        text: page.text.clone(),
        copies: BTreeSet::new(),
    };
    let mut edits = BTreeMap::new();
    for link in &page.links {
        let target = links::target(&page.path, &link.destination);
        let (Ok(Some(target)), Some(at)) = (target, &link.at) else {
            continue;
        };
        if link.destination.starts_with('#') {
            continue;
        }
        let (path, fragment) = in_book(root, &target, places, &mut placed.copies);
        let mut written = paths::encoded(&paths::relative(paths::folder(place), &path));
        if let Some(fragment) = fragment {
            written = format!("{written}#{fragment}");
        }
        // By place in the text: several links may share one definition.
        edits.insert(at.start, (at.clone(), written));
    }
    for (at, written) in edits.into_values().rev() {
        placed.text.replace_range(at, &written);
    }
    placed
}

/// Where the book has a target, and the fragment that it has there.
fn in_book<'a>(
    root: &Path,
    target: &'a Target,
    places: &BTreeMap<String, String>,
    copies: &mut BTreeSet<String>,
) -> (String, Option<&'a str>) {
    let path = &target.path;
    let index = format!("{path}/README.md");
    if let Some(place) = places.get(path) {
        return (place.clone(), target.fragment.as_deref());
    }
    if let Some(place) = places.get(&index) {
        return (place.clone(), None);
    }
    let folder = root.join(path).is_dir();
    match path.strip_prefix(DOCS).and_then(|p| p.strip_prefix('/')) {
        // mdBook copies these itself.
        Some(copied) if !folder && !copied.ends_with(".md") => (copied.to_owned(), None),
        _ => {
            copies.insert(path.clone());
            (sources::place(path, folder), None)
        }
    }
}

/// Writes the book into the folder, and says which files and folders of the repository are to be copied to it.
pub fn rendered(
    root: &Path,
    output: &Path,
    pages: &BTreeMap<String, Page>,
    contents: &Contents,
) -> Result<BTreeSet<String>> {
    let chapters = contents.places.keys().filter_map(|path| {
        let page = pages.get(path)?;
        Some((path.clone(), placed(root, page, &contents.places)))
    });
    let chapters = Chapters(chapters.collect());
    let copies = chapters.0.values().flat_map(|placed| placed.copies.clone());
    let copies = copies.collect();
    let docs = root.join(DOCS);
    let mut config = Config::from_disk(docs.join("book.toml"))?;
    config.build.build_dir = output.to_path_buf();
    MDBook::load_with_config(&docs, config)?
        .with_preprocessor(chapters)
        .build()?;
    // mdBook copies what is no page, its own settings too.
    std::fs::remove_file(output.join("book.toml"))?;
    Ok(copies)
}

/// Gives mdBook the chapters as they are in the book, by their paths in the repository.
struct Chapters(BTreeMap<String, Placed>);

impl Preprocessor for Chapters {
    fn name(&self) -> &str {
        "placing"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> Result<Book> {
        book.for_each_chapter_mut(|chapter| {
            let source = chapter.source_path.as_ref().map(|p| p.to_string_lossy());
            let path = source.and_then(|source| paths::joined(DOCS, &source));
            if let Some(placed) = path.and_then(|path| self.0.get(&path)) {
                chapter.path = Some(PathBuf::from(&placed.place));
                chapter.content.clone_from(&placed.text);
            }
        });
        Ok(book)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> BTreeMap<String, String> {
        [
            ("docs/README.md", "index.md"),
            ("docs/a.md", "a.md"),
            ("docs/deep/b.md", "deep/b.md"),
            ("ARCHITECTURE.md", "architecture.md"),
            ("benches/README.md", "benches.md"),
        ]
        .map(|(path, place)| (path.to_owned(), place.to_owned()))
        .into()
    }

    /// The text of the page in the book, and what is copied.
    fn text(path: &str, text: &str) -> (String, Vec<String>) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("src")).unwrap();
        let page = Page::read(path, text.to_owned());
        let placed = placed(root.path(), &page, &places());
        (placed.text, placed.copies.into_iter().collect())
    }

    #[test]
    fn links_follow_the_chapters() {
        let in_docs = "[1](a.md) [2](README.md#x) [3](../ARCHITECTURE.md#y) [4](../benches) [5](#z) ![6](i.png)";
        let (placed, copies) = text("docs/a.md", in_docs);
        assert_eq!(
            placed,
            "[1](a.md) [2](index.md#x) [3](architecture.md#y) [4](benches.md) [5](#z) ![6](i.png)"
        );
        assert!(copies.is_empty());
        let outside = "[1](../docs/a.md) ![2](../docs/i.png) [3](https://x.org)";
        let (placed, _) = text("benches/README.md", outside);
        assert_eq!(placed, "[1](a.md) ![2](i.png) [3](https://x.org)");
        let (placed, _) = text(
            "docs/deep/b.md",
            "[1](../a.md) [2][x] [3][x]\n\n[x]: ../README.md",
        );
        assert_eq!(placed, "[1](../a.md) [2][x] [3][x]\n\n[x]: ../index.md");
    }

    #[test]
    fn what_is_no_chapter_is_copied() {
        let (placed, copies) = text(
            "docs/deep/b.md",
            "[1](../../src/a%20b.rs#L3) [2](../../src) [3](../../README.md#x)",
        );
        assert_eq!(
            placed,
            "[1](../source/src/a%20b.rs) [2](../source/src/listing.html) [3](../source/README.txt)"
        );
        assert_eq!(copies, ["README.md", "src", "src/a b.rs"]);
    }
}
