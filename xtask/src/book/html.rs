//! The rendered pages: every relative address and fragment exists, and nothing is loaded from another host.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use super::{Finding, paths, sources};

/// What a page asks for.
struct Use {
    address: String,
    line: usize,
    /// Whether the page loads it, as a script or a picture; not so a link that a reader may follow.
    loads: bool,
}

/// What is read of a rendered page or a style sheet.
#[derive(Default)]
struct Seen {
    ids: BTreeSet<String>,
    uses: Vec<Use>,
    /// Lines of samples with a button that sends them away.
    sent: Vec<usize>,
}

/// Checks every page and style sheet of the book; the copied sources are not the book's own.
pub fn check(output: &Path) -> io::Result<Vec<Finding>> {
    let mut names = Vec::new();
    files(output, "", &mut names)?;
    let mut seen = BTreeMap::new();
    for name in &names {
        if name.ends_with(".html") {
            let text = std::fs::read_to_string(output.join(name))?;
            seen.insert(name.as_str(), scan(&text));
        } else if name.ends_with(".css") {
            let mut sheet = Seen::default();
            style(&std::fs::read_to_string(output.join(name))?, 1, &mut sheet);
            seen.insert(name.as_str(), sheet);
        }
    }
    let mut findings = Vec::new();
    for (name, page) in &seen {
        let mut wrong = |line, what| {
            findings.push(Finding {
                file: format!("{name} (rendered)"),
                line,
                what,
            });
        };
        for line in &page.sent {
            let what = "a sample that is sent to another host: set `runnable = false` in book.toml";
            wrong(*line, what.into());
        }
        for used in &page.uses {
            if let Some(what) = wrong_use(output, &seen, name, used) {
                wrong(used.line, format!("`{}` {what}", used.address));
            }
        }
    }
    Ok(findings)
}

fn files(output: &Path, folder: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(output.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if folder.is_empty() && name == sources::FOLDER {
            continue;
        }
        let path = match folder {
            "" => name,
            folder => format!("{folder}/{name}"),
        };
        if entry.path().is_dir() {
            files(output, &path, names)?;
        } else {
            names.push(path);
        }
    }
    Ok(())
}

fn wrong_use(output: &Path, seen: &BTreeMap<&str, Seen>, page: &str, used: &Use) -> Option<String> {
    let address = used.address.trim();
    if address.starts_with("data:") {
        return None;
    }
    if paths::has_scheme(address) {
        let what = "is loaded from elsewhere: put the file into docs/";
        return used.loads.then(|| what.to_owned());
    }
    let (path, fragment) = paths::parted(address);
    let path = paths::decoded(path.split('?').next().unwrap_or_default());
    let target = match path.as_str() {
        "" => Some(page.to_owned()),
        path if path.starts_with('/') => None,
        path => paths::joined(paths::folder(page), path),
    };
    let Some(target) = target else {
        return Some("leaves the book: link to a file of the repository".into());
    };
    if let Err(wrong) = paths::exact(output, &target) {
        return Some(format!("is not in the book: {wrong}"));
    }
    if output.join(&target).is_dir() {
        return Some("is a folder: link to a page in it".into());
    }
    let fragment = fragment.unwrap_or_default();
    let there = fragment.is_empty()
        || seen
            .get(target.as_str())
            .is_some_and(|page| page.ids.contains(&fragment));
    (!there).then(|| format!("has no place in the book: {target} has no id `{fragment}`"))
}

fn scan(text: &str) -> Seen {
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(text));
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.seen.take()
}

#[derive(Default)]
struct Sink {
    seen: RefCell<Seen>,
    in_style: RefCell<bool>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let line = usize::try_from(line).unwrap_or(0);
        match token {
            Token::TagToken(tag) => {
                let starts = tag.kind == TagKind::StartTag;
                self.in_style.replace(starts && &*tag.name == "style");
                if starts {
                    element(&tag, line, &mut self.seen.borrow_mut());
                }
                match &*tag.name {
                    "script" if starts => TokenSinkResult::RawData(RawKind::ScriptData),
                    "style" if starts => TokenSinkResult::RawData(RawKind::Rawtext),
                    _ => TokenSinkResult::Continue,
                }
            }
            Token::CharacterTokens(text) if *self.in_style.borrow() => {
                style(&text, line, &mut self.seen.borrow_mut());
                TokenSinkResult::Continue
            }
            _ => TokenSinkResult::Continue,
        }
    }
}

fn element(tag: &Tag, line: usize, seen: &mut Seen) {
    let element = &*tag.name;
    let followed = matches!(element, "a" | "area");
    for attribute in &tag.attrs {
        let value = attribute.value.to_string();
        match (&*attribute.name.local, element) {
            ("id", _) | ("name", "a") => {
                seen.ids.insert(value);
            }
            ("class", _) if value.split(' ').any(|class| class == "playground") => {
                seen.sent.push(line);
            }
            ("style", _) => style(&value, line, seen),
            ("srcset", _) => seen.uses.extend(value.split(',').map(|part| Use {
                address: part.split_whitespace().next().unwrap_or("").to_owned(),
                line,
                loads: true,
            })),
            ("href" | "src" | "poster", _) | ("data", "object") | ("action", "form") => {
                seen.uses.push(Use {
                    address: value,
                    line,
                    loads: !followed,
                });
            }
            _ => {}
        }
    }
}

/// What a style sheet loads: `url(…)`, and `@import "…"`.
fn style(text: &str, line: usize, seen: &mut Seen) {
    let mut add = |at: usize, address: &str| {
        seen.uses.push(Use {
            address: address.trim().trim_matches(['"', '\'']).to_owned(),
            line: line + text[..at].matches('\n').count(),
            loads: true,
        });
    };
    for (at, mark) in text.match_indices("url(") {
        let rest = &text[at + mark.len()..];
        let quoted = rest.chars().next().filter(|c| "\"'".contains(*c));
        let end = match quoted {
            Some(quote) => rest[1..].find(quote).map(|end| end + 1),
            None => rest.find(')'),
        };
        add(at, &rest[..end.unwrap_or(rest.len())]);
    }
    for (at, mark) in text.match_indices("@import ") {
        let rest = &text[at + mark.len()..];
        if rest.starts_with(['"', '\'']) {
            add(at, rest.split(';').next().unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let output = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| written(output.path(), path, text);
        write("page.html", page);
        write("other.html", "<h2 id=\"here\">x</h2>");
        write("css/a.css", "body { background: url('../i.png') }");
        write("i.png", "");
        write("source/src/broken.html", "<img src=none.png>");
        let found = check(output.path()).unwrap();
        found.into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn a_right_page_passes() {
        let page = "<link rel=stylesheet href=css/a.css><script src=\"css/a.css?x\">if (a < b) \
            { \"<img src=none>\" }</script><style>a { b: url(i.png) }</style>\n\
            <a href=\"other.html#here\">a</a><a href=\"#\">b</a><a href=https://x.org>c</a>\
            <img src=\"data:x\" srcset=\"i.png 2x\"><a href=\"source/src/broken.html\">d</a>";
        assert_eq!(found(page), Vec::<String>::new());
    }

    #[test]
    fn every_wrong_use_is_found() {
        let wrong = [
            ("<a href=none.html>", "there is no `none.html`"),
            ("<a href=Other.html>", "is written `other.html`"),
            ("<a href=other.html#none>", "no id `none`"),
            ("<a href=#none>", "no id `none`"),
            ("<a href=../x.html>", "leaves the book"),
            ("<a href=/x.html>", "leaves the book"),
            ("<a href=css/>", "is a folder"),
            ("<img src=none.png>", "there is no `none.png`"),
            (
                "<img srcset='i.png, none.png 2x'>",
                "there is no `none.png`",
            ),
            ("<img src=https://x.org/i.png>", "loaded from elsewhere"),
            (
                "<script src=//x.org/a.js></script>",
                "loaded from elsewhere",
            ),
            (
                "<link rel=stylesheet href=https://x.org/a.css>",
                "loaded from",
            ),
            (
                "<style>@import 'https://x.org/a.css';</style>",
                "loaded from",
            ),
            (
                "<p style=\"background: url(https://x.org/a)\">",
                "loaded from",
            ),
            ("<pre class=\"a playground\">", "sent to another host"),
        ];
        for (page, what) in wrong {
            let found = found(page);
            assert_eq!(found.len(), 1, "{page}: {found:?}");
            assert!(found[0].contains(what), "{page}: {}", found[0]);
        }
    }
}
