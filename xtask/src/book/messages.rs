//! The messages that `docs/troubleshooting.md` quotes in its headings are those of the program.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Lit;

use super::Finding;
use super::page::Page;

const PAGE: &str = "docs/troubleshooting.md";
/// Shorter pieces than this many characters are found in anything.
const SHORTEST: usize = 12;

/// Headings of level 3 whose quoted message is in no string of the sources; `…` stands for what varies.
pub fn check(root: &Path, pages: &BTreeMap<String, Page>) -> io::Result<Vec<Finding>> {
    let Some(page) = pages.get(PAGE) else {
        return Ok(Vec::new());
    };
    let mut strings = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("ssb") {
            sources(&entry.path().join("src"), &mut strings)?;
        }
    }
    Ok(check_page(page, &strings))
}

fn check_page(page: &Page, strings: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for quoted in &page.quoted {
        for piece in pieces(&quoted.text) {
            if !strings.iter().any(|string| string.contains(&piece)) {
                let what = format!("no source says `{piece}`: quote the message as it is");
                findings.push(page.finding(quoted.line, what));
            }
        }
    }
    findings
}

/// The fixed pieces of a quoted message that are long enough, or the longest.
fn pieces(quoted: &str) -> Vec<String> {
    let mut pieces: Vec<String> = quoted.split('…').map(spaced).collect();
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.chars().count()));
    let long = pieces
        .iter()
        .filter(|piece| piece.chars().count() >= SHORTEST)
        .count();
    pieces.truncate(long.max(1));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The text with single spaces.
fn spaced(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn sources(folder: &Path, strings: &mut Vec<String>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, strings)?;
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path)?;
            let tokens: TokenStream = text
                .parse()
                .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
            strings_of(tokens, strings);
        }
    }
    Ok(())
}

/// The fixed pieces of all strings, also of those in macros; not of documentation and tests.
fn strings_of(tokens: TokenStream, strings: &mut Vec<String>) {
    let mut in_attribute = false;
    let mut in_tests = false;
    for token in tokens {
        let hash = matches!(&token, TokenTree::Punct(p) if matches!(p.as_char(), '#' | '!'));
        match token {
            TokenTree::Group(group) if in_attribute => {
                let words = group.stream().to_string();
                in_tests |= words.starts_with("cfg") && words.contains("test");
                if !words.starts_with("doc") {
                    strings_of(group.stream(), strings);
                }
            }
            // The item behind `#[cfg(test)]` ends with its braces or a semicolon.
            TokenTree::Group(group) if in_tests => in_tests = !braces(&group),
            TokenTree::Punct(p) if in_tests && p.as_char() == ';' => in_tests = false,
            TokenTree::Group(group) => strings_of(group.stream(), strings),
            TokenTree::Literal(literal) if !in_tests => {
                if let Lit::Str(text) = Lit::new(literal) {
                    strings.extend(fixed(&text.value()));
                }
            }
            _ => {}
        }
        in_attribute = hash;
    }
}

fn braces(group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
}

/// What is fixed in a string that may be a format: its pieces between `{…}`, with `{{` as the brace it means.
fn fixed(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let placeholder = rest
            .strip_prefix('{')
            .and_then(|inner| inner.split_once('}'))
            .filter(|(inner, _)| !inner.contains(['{', '"', '\n']));
        match placeholder {
            _ if rest.starts_with("{{") || rest.starts_with("}}") => {
                push(&mut pieces, c);
                rest = &rest[2..];
            }
            Some((_, behind)) => {
                pieces.push(String::new());
                rest = behind;
            }
            None => {
                push(&mut pieces, c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    pieces.iter().map(|piece| spaced(piece)).collect()
}

fn push(pieces: &mut [String], c: char) {
    if let Some(piece) = pieces.last_mut() {
        piece.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
        //! a message of documentation alone
        /// another message of documentation
        #[error("no bright-field pixel of {0} lies below the threshold {limit:.2}")]
        struct E;
        fn f() {
            return Err(wrong(format!("the file holds {n} frames, \
                which is {{not}} a scan:\n give a shape")));
        }
        #[cfg(test)]
        mod tests { fn f() { "a message of tests alone" } }
        const AFTER: &str = "a message behind the tests";
    "#;

    fn found(heading: &str) -> Vec<String> {
        let mut strings = Vec::new();
        strings_of(SOURCE.parse().unwrap(), &mut strings);
        let page = Page::read(PAGE, format!("# T\n\n### {heading}\n"));
        let found = check_page(&page, &strings);
        assert!(found.iter().all(|f| f.line == 3));
        found.into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn messages_of_the_sources_pass() {
        for heading in [
            "`no bright-field pixel of … lies below the threshold …`",
            "`the file holds … frames, which is {not} a scan: give a shape`",
            "`… frames, which is {not} a scan:  give a shape`",
            "`a message behind the tests`",
            "`give a shape` and `holds … scan`",
            "no code, no message",
        ] {
            assert_eq!(found(heading), Vec::<String>::new(), "{heading}");
        }
    }

    #[test]
    fn messages_of_nobody_are_found() {
        for heading in [
            "`no bright-field pixel of … lies above the threshold`",
            "`the file holds 3 frames`",
            "`a message of documentation alone`",
            "`another message of documentation`",
            "`a message of tests alone`",
            "`short …`",
            "`give a shape` and `something else entirely`",
        ] {
            assert_eq!(found(heading).len(), 1, "{heading}");
        }
    }

    #[test]
    fn sources_are_read_where_they_are() {
        let root = tempfile::tempdir().unwrap();
        let source = root.path().join("ssb-io/src/deep");
        std::fs::create_dir_all(&source).unwrap();
        std::fs::write(source.join("a.rs"), SOURCE).unwrap();
        let heading = |text: &str| {
            let page = Page::read(PAGE, format!("### `{text}`\n"));
            let pages = [(PAGE.to_owned(), page)].into();
            check(root.path(), &pages).unwrap().len()
        };
        assert_eq!(heading("lies below the threshold"), 0);
        assert_eq!(heading("lies above the threshold"), 1);
        assert_eq!(check(root.path(), &BTreeMap::new()).unwrap(), []);
    }
}
