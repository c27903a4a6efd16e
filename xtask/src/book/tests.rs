//! A small book as a whole: made, placed, copied, and found wrong when something is.

use std::fs;
use std::path::Path;

use super::*;

const CLI: &str = "#[derive(Parser)] struct Cli { #[command(subcommand)] verb: Verb }
    #[derive(Subcommand)] enum Verb { Fit(Args) }
    #[derive(Args)] struct Args { #[arg(long)] json: bool }";

/// A repository with three chapters, one of them outside of `docs/`.
fn repository(root: &Path, page: &str) {
    for (path, text) in [
        ("docs/book.toml", include_str!("../../../docs/book.toml")),
        ("docs/book.css", ""),
        (
            "docs/SUMMARY.md",
            "[Start](README.md)\n\n# Part\n\n- [Page](deep/page.md)\n- [More](../MORE.md)\n",
        ),
        (
            "docs/README.md",
            "# Start\n\n[Page](deep/page.md) ![](i.png)\n",
        ),
        ("docs/i.png", ""),
        ("docs/deep/page.md", page),
        (
            "MORE.md",
            "# More\n\n## A part\n\n[Start](docs/README.md) ![](docs/i.png) [Page](docs/deep/page.md#page)\n",
        ),
        ("README.md", "[More](MORE.md)\n\n    ssb fit --json\n"),
        ("src/code.rs", "fn f() {}\n"),
        ("ssb/src/cli/mod.rs", CLI),
        ("ssb/src/lib.rs", "const A: &str = \"no such specimen\";"),
    ] {
        written(root, path, text);
    }
}

/// Writes a file and the folders that it lies in.
pub fn written(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const PAGE: &str = "# Page\n\n[More](../../MORE.md#a-part) [Code](../../src/code.rs#L1) [Folder](../../src)\n\n\
    ```rust\n# hidden();\nfn f() {}\n```\n";

#[test]
fn a_right_book_is_whole() {
    let root = tempfile::tempdir().unwrap();
    repository(root.path(), PAGE);
    let output = root.path().join("target/docs");
    assert_eq!(made(root.path(), &output).unwrap(), 0);
    let read = |path: &str| fs::read_to_string(output.join(path)).unwrap();
    assert!(read("more.html").contains("href=\"deep/page.html#page\""));
    assert!(read("more.html").contains("href=\"index.html\""));
    assert!(read("deep/page.html").contains("href=\"../more.html#a-part\""));
    assert!(read("deep/page.html").contains("href=\"../source/src/code.rs\""));
    assert!(read("source/src/listing.html").contains("href=\"code.rs\""));
    assert!(!output.join("book.toml").exists());
    // Nothing is written beside the pages.
    assert!(!root.path().join("MORE.html").exists());
    // The same again, over what is there.
    assert_eq!(made(root.path(), &output).unwrap(), 0);
}

#[test]
fn what_is_wrong_is_counted() {
    let root = tempfile::tempdir().unwrap();
    let output = root.path().join("target/docs");
    // Once in the Markdown, in the page, and in the page of all pages.
    repository(root.path(), &PAGE.replace("#a-part", "#none"));
    assert_eq!(made(root.path(), &output).unwrap(), 3);
    repository(root.path(), PAGE);
    fs::write(root.path().join("docs/lost.md"), "# Lost\n").unwrap();
    assert_eq!(made(root.path(), &output).unwrap(), 1);
    let summary = "[Start](README.md)\n- [Page](deep/page.md)\n- [Lost](lost.md)\n- [No](no.md)\n";
    fs::write(root.path().join(SUMMARY), summary).unwrap();
    assert_eq!(made(root.path(), &output).unwrap(), 1);
}
