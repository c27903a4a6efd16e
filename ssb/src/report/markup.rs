//! The few pieces of HTML that a report is made of; all text goes through [`escaped`].

use serde_json::Value;

use crate::digits::significant;

/// Text that cannot become markup.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// A number to `digits` significant digits, with its full double beside it.
pub(super) fn number(value: f64, digits: usize) -> String {
    format!(
        "<data value=\"{value:?}\">{}</data>",
        significant(value, digits)
    )
}

/// A page that grows.
pub(super) struct Page {
    html: String,
}

impl Page {
    pub(super) fn new(title: &str, style: &str) -> Self {
        let title = escaped(title);
        Self {
            html: format!(
                "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
                 <meta name=\"viewport\" content=\"width=device-width\">\
                 <title>{title}: ssb report</title><style>\n{style}</style></head><body>\n"
            ),
        }
    }

    /// Markup as it is.
    pub(super) fn raw(&mut self, html: &str) {
        self.html.push_str(html);
        self.html.push('\n');
    }

    pub(super) fn open_section(&mut self, id: &str, heading: &str) {
        self.raw(&format!(
            "<section id=\"{id}\"><h2>{}</h2>",
            escaped(heading)
        ));
    }

    pub(super) fn close_section(&mut self) {
        self.raw("</section>");
    }

    pub(super) fn section(&mut self, id: &str, heading: &str, fill: impl FnOnce(&mut Self)) {
        self.open_section(id, heading);
        fill(self);
        self.close_section();
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.raw(&format!("<p>{}</p>", escaped(text)));
    }

    /// A table of cells that are markup already.
    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.raw("<table><thead><tr>");
        for cell in head {
            self.raw(&format!("<th scope=\"col\">{}</th>", escaped(cell)));
        }
        self.raw("</tr></thead><tbody>");
        for row in rows {
            self.raw("<tr>");
            for (i, cell) in row.iter().enumerate() {
                self.raw(&match i {
                    0 => format!("<th scope=\"row\">{cell}</th>"),
                    _ => format!("<td>{cell}</td>"),
                });
            }
            self.raw("</tr>");
        }
        self.raw("</tbody></table>");
    }

    /// A document that a program can read back; `<` cannot end the element early.
    pub(super) fn json(&mut self, id: &str, document: &Value) {
        let text = document.to_string().replace('<', "\\u003c");
        self.raw(&format!(
            "<script type=\"application/json\" id=\"{id}\">{text}</script>"
        ));
    }

    pub(super) fn end(mut self) -> String {
        self.raw("</body></html>");
        self.html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_double() {
        assert_eq!(
            number(12.053420763163983, 5),
            "<data value=\"12.053420763163983\">12.053</data>"
        );
    }

    #[test]
    fn text_stays_text() {
        let mut page = Page::new("<script>", "");
        page.paragraph("a < b & \"c\"");
        page.json("x", &serde_json::json!({"a": "</script><b>"}));
        let html = page.end();
        assert!(html.contains("a &lt; b &amp; &quot;c&quot;"), "{html}");
        assert!(html.contains("<title>&lt;script&gt;"), "{html}");
        assert_eq!(html.matches("</script>").count(), 1, "{html}");
    }
}
