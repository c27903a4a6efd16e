//! One Markdown page as mdBook reads it: its links, anchors, code and headings, each with its place in the text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mdbook_markdown::pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};
use mdbook_markdown::{MarkdownOptions, new_cmark_parser};

use super::Finding;

/// A page of the book, or one that is checked like one.
#[derive(Default)]
pub struct Page {
    /// Path from the root of the repository.
    pub path: String,
    pub text: String,
    pub links: Vec<Link>,
    /// The fragments that a link to this page may have.
    pub anchors: BTreeSet<String>,
    pub blocks: Vec<Block>,
    /// Code within a line of text.
    pub spans: Vec<Line>,
    /// Code within headings of level 3.
    pub quoted: Vec<Line>,
}

/// A link or an image.
pub struct Link {
    pub destination: String,
    /// Where the destination is written; `None` when it is not written plainly.
    pub at: Option<Range<usize>>,
    pub line: usize,
}

/// A code block.
pub struct Block {
    /// What stands behind the fence; `None` for indented blocks.
    pub info: Option<String>,
    pub line: usize,
    pub lines: Vec<Line>,
}

impl Block {
    /// The first word behind the fence.
    pub fn language(&self) -> &str {
        let info = self.info.as_deref().unwrap_or_default();
        info.split([',', ' ', '{']).next().unwrap_or_default()
    }

    pub fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        lines.join("\n")
    }
}

/// A piece of text and the line it is on.
#[derive(Clone)]
pub struct Line {
    pub line: usize,
    pub text: String,
}

impl Page {
    pub fn read(path: &str, text: String) -> Page {
        let mut options = MarkdownOptions::default();
        // As in docs/book.toml.
        options.smart_punctuation = false;
        options.definition_lists = false;
        let parser = new_cmark_parser(&text, &options);
        let mut reader = Reader {
            text: &text,
            definitions: parser
                .reference_definitions()
                .iter()
                .map(|(label, definition)| (label.to_lowercase(), definition.span.clone()))
                .collect(),
            page: Page::default(),
            heading: None,
            in_block: false,
            in_image: false,
        };
        for (event, range) in parser.into_offset_iter() {
            reader.event(event, range);
        }
        let mut page = reader.page;
        page.path = path.to_owned();
        page.text = text;
        page
    }

    pub fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding {
            file: self.path.clone(),
            line,
            what: what.into(),
        }
    }
}

/// A heading while its words are gathered.
struct Heading {
    id: Option<String>,
    words: String,
    third: bool,
}

struct Reader<'a> {
    text: &'a str,
    /// Where the links that are used by a label are defined.
    definitions: BTreeMap<String, Range<usize>>,
    page: Page,
    heading: Option<Heading>,
    in_block: bool,
    in_image: bool,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        let line = self.line(range.start);
        match event {
            Event::Start(Tag::Link { dest_url, id, .. }) => self.link(&dest_url, &id, range),
            Event::Start(Tag::Image { dest_url, id, .. }) => {
                self.in_image = true;
                self.link(&dest_url, &id, range);
            }
            Event::End(TagEnd::Image) => self.in_image = false,
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => self.html(range),
            Event::Start(Tag::Heading { level, id, .. }) => {
                self.heading = Some(Heading {
                    id: id.map(|id| id.to_string()),
                    words: String::new(),
                    third: level == HeadingLevel::H3,
                });
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(heading) = self.heading.take() {
                    let anchors = &mut self.page.anchors;
                    let anchor = heading
                        .id
                        .unwrap_or_else(|| unique(&anchor(&heading.words), anchors));
                    anchors.insert(anchor);
                }
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                self.in_block = true;
                let info = match kind {
                    CodeBlockKind::Fenced(info) => Some(info.to_string()),
                    CodeBlockKind::Indented => None,
                };
                self.page.blocks.push(Block {
                    info,
                    line,
                    lines: Vec::new(),
                });
            }
            Event::End(TagEnd::CodeBlock) => self.in_block = false,
            Event::Code(code) => {
                let span = Line {
                    line,
                    text: code.to_string(),
                };
                if let Some(heading) = &mut self.heading {
                    heading.words.push_str(&code);
                    if heading.third {
                        self.page.quoted.push(span.clone());
                    }
                }
                self.page.spans.push(span);
            }
            Event::Text(words) => self.words(&words, line),
            Event::SoftBreak | Event::HardBreak => self.words(" ", line),
            _ => {}
        }
    }

    fn words(&mut self, words: &str, line: usize) {
        if let (true, Some(block)) = (self.in_block, self.page.blocks.last_mut()) {
            let lines = words.lines().enumerate();
            block.lines.extend(lines.map(|(number, text)| Line {
                line: line + number,
                text: text.to_owned(),
            }));
        } else if let (false, Some(heading)) = (self.in_image, &mut self.heading) {
            heading.words.push_str(words);
        }
    }

    fn link(&mut self, destination: &str, label: &str, range: Range<usize>) {
        let (within, mark) = match self.definitions.get(&label.to_lowercase()) {
            Some(definition) => (definition.clone(), "]:"),
            None => (range.clone(), "]("),
        };
        let source = &self.text[within.clone()];
        let at = source.rfind(mark).and_then(|found| {
            let rest = &source[found + 2..];
            let plain = rest.trim_start().trim_start_matches('<');
            let start = within.start + found + 2 + rest.len() - plain.len();
            plain
                .starts_with(destination)
                .then(|| start..start + destination.len())
        });
        self.page.links.push(Link {
            destination: destination.to_owned(),
            at,
            line: self.line(range.start),
        });
    }

    /// Links and anchors of HTML within the Markdown.
    fn html(&mut self, range: Range<usize>) {
        let html = &self.text[range.clone()];
        if html.starts_with("<!--") {
            return;
        }
        for name in ["href", "src", "id", "name"] {
            for (start, _) in html.match_indices(&format!(" {name}=\"")) {
                let start = start + name.len() + 3;
                let length = html[start..].find('"').unwrap_or(0);
                let value = html[start..start + length].to_owned();
                let at = range.start + start;
                if name == "id" || name == "name" {
                    self.page.anchors.insert(value);
                } else {
                    self.page.links.push(Link {
                        destination: value,
                        at: Some(at..at + length),
                        line: self.line(at),
                    });
                }
            }
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }
}

/// The anchor that mdBook makes of a heading's words.
fn anchor(words: &str) -> String {
    words
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            '_' | '-' => Some(c),
            c if c.is_alphanumeric() => Some(c),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect()
}

/// The anchor, with a number where it is taken.
fn unique(anchor: &str, taken: &BTreeSet<String>) -> String {
    let mut tries =
        std::iter::once(anchor.to_owned()).chain((1..).map(|number| format!("{anchor}-{number}")));
    tries.find(|t| !taken.contains(t)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_where_they_are_written() {
        let text = "[a](one.md#x) ![i](two.png \"t\")\n[b][l] <img alt=\"\" src=\"three.png\">\n\n[l]: <four.md>\n";
        let page = Page::read("docs/p.md", text.to_owned());
        let found: Vec<(&str, usize)> = page
            .links
            .iter()
            .map(|link| (&text[link.at.clone().unwrap()], link.line))
            .collect();
        let wanted = [
            ("one.md#x", 1),
            ("two.png", 1),
            ("four.md", 2),
            ("three.png", 2),
        ];
        assert_eq!(found, wanted);
        assert!(page.links.iter().all(|l| text.contains(&l.destination)));
    }

    #[test]
    fn a_linked_image_has_two_destinations() {
        let text = "[![alt](small.png)](big.png)";
        let page = Page::read("docs/p.md", text.to_owned());
        let found: Vec<&str> = page
            .links
            .iter()
            .map(|link| &text[link.at.clone().unwrap()])
            .collect();
        assert_eq!(found, ["big.png", "small.png"]);
    }

    #[test]
    fn anchors_are_those_of_mdbook() {
        let text =
            "# One, `--two` and *three*\n## Same\n## Same\n## Own {#mine}\n<a id=\"raw\"></a>\n";
        let page = Page::read("docs/p.md", text.to_owned());
        let anchors: Vec<&str> = page.anchors.iter().map(String::as_str).collect();
        assert_eq!(
            anchors,
            ["mine", "one---two-and-three", "raw", "same", "same-1"]
        );
    }

    #[test]
    fn code_has_its_lines() {
        let text =
            "text\n\n    ssb fit\n    more\n\n```json,x\n{\n}\n```\n### `a` and `b`\n## `c`\n";
        let page = Page::read("docs/p.md", text.to_owned());
        let lines: Vec<Vec<usize>> = page
            .blocks
            .iter()
            .map(|block| block.lines.iter().map(|line| line.line).collect())
            .collect();
        assert_eq!(lines, [vec![3, 4], vec![7, 8]]);
        assert_eq!(page.blocks[0].info, None);
        assert_eq!(page.blocks[1].language(), "json");
        assert_eq!(page.blocks[1].text(), "{\n}");
        assert_eq!(page.quoted.len(), 2);
        assert_eq!(page.spans.len(), 3);
    }
}
