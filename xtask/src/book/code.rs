//! Code in the pages: every block names its language, JSON and TOML can be read, and commands of the program exist.

use std::collections::BTreeMap;

use super::commands::Program;
use super::page::{Block, Line, Page};
use super::{Finding, SUMMARY};

/// Languages whose lines are commands.
const SHELLS: [&str; 5] = ["sh", "bash", "shell", "console", "zsh"];

pub fn check(pages: &BTreeMap<String, Page>, program: &Program) -> Vec<Finding> {
    let pages = pages.values().filter(|page| page.path != SUMMARY);
    pages.flat_map(|page| check_page(page, program)).collect()
}

fn check_page(page: &Page, program: &Program) -> Vec<Finding> {
    let mut findings = Vec::new();
    for block in &page.blocks {
        let data = match (block.info.as_deref(), block.language()) {
            (Some(info), _) if info.trim().is_empty() => Err((
                block.line,
                "the code block names no language: write one behind the ```, `text` if it is none"
                    .into(),
            )),
            (_, "json") => json(block),
            (_, "toml") => toml(block),
            _ => Ok(()),
        };
        if let Err((line, what)) = data {
            findings.push(page.finding(line, what));
        }
        if block.info.is_none() || SHELLS.contains(&block.language()) {
            for command in commands(&block.lines) {
                let wrong = program.wrong(&command.text).into_iter();
                findings.extend(wrong.map(|what| page.finding(command.line, what)));
            }
        }
    }
    for span in page
        .spans
        .iter()
        .filter(|span| span.text.starts_with("ssb "))
    {
        let wrong = program.wrong(&span.text).into_iter();
        findings.extend(wrong.map(|what| page.finding(span.line, what)));
    }
    findings
}

fn json(block: &Block) -> Result<(), (usize, String)> {
    let read: Result<serde_json::Value, _> = serde_json::from_str(&block.text());
    read.map(drop).map_err(|error| {
        let line = block.line + error.line();
        (line, format!("this is no JSON: {error}"))
    })
}

fn toml(block: &Block) -> Result<(), (usize, String)> {
    let text = block.text();
    let read: Result<toml::Table, _> = toml::from_str(&text);
    read.map(drop).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or_default();
        let line = block.line + 1 + before.matches('\n').count();
        (line, format!("this is no TOML: {}", error.message()))
    })
}

/// The commands of a block: lines that end with a backslash go on.
fn commands(lines: &[Line]) -> Vec<Line> {
    let mut commands: Vec<Line> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        let text = line.text.trim_end();
        let (text, more) = match text.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (text, false),
        };
        match commands.last_mut() {
            Some(command) if goes_on => {
                command.text.push(' ');
                command.text.push_str(text);
            }
            _ => commands.push(Line {
                line: line.line,
                text: text.to_owned(),
            }),
        }
        goes_on = more;
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::commands::tests::program;

    fn found(text: &str) -> Vec<(usize, String)> {
        let page = Page::read("docs/p.md", text.to_owned());
        let found = check_page(&page, &program());
        found.into_iter().map(|f| (f.line, f.what)).collect()
    }

    #[test]
    fn right_code_passes() {
        let text = "text\n\n    ssb fit a.h5 \\\n        --out-file b.h5   # --no-flag\n    ssb inspect a.h5   any words\n\n\
            ```sh\n$ ssb fit a.h5 | tee x\n```\n\n```json\n{\"a\": 1}\n```\n\n```toml\na = 1\n```\n\n\
            ```rust,no_run\nfn f() {}\n```\n`ssb VERB --help` and `ssb fit --json` and `--whatever`\n";
        assert_eq!(found(text), []);
    }

    #[test]
    fn every_wrong_block_is_found() {
        let wrong = [
            ("a\n\n```\nx\n```\n", 3, "names no language"),
            ("```json\n{\n  \"a\": 1,\n}\n```\n", 4, "no JSON"),
            ("```toml\na = 1\nb = = 2\n```\n", 3, "no TOML"),
            ("```sh\nls\nssb fitt a\n```\n", 3, "`fitt`"),
            ("a\n\n    ssb fit a \\\n        --none b\n", 3, "`--none`"),
            ("a\n\n    cd x\n    ssb fit --none\n", 4, "`--none`"),
            ("a\nb `ssb fit --none`\n", 2, "`--none`"),
        ];
        for (text, line, what) in wrong {
            let found = found(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].0, line, "{text}");
            assert!(found[0].1.contains(what), "{text}: {}", found[0].1);
        }
    }
}
