//! The files of the page, compiled in.

/// One file.
pub struct Asset {
    name: &'static str,
    pub mime: &'static str,
    pub bytes: &'static str,
}

macro_rules! assets {
    ($(($name:literal, $file:literal, $mime:literal)),* $(,)?) => {
        &[$(Asset { name: $name, mime: $mime, bytes: include_str!(concat!("page/", $file)) }),*]
    };
}

const ASSETS: &[Asset] = assets![
    ("", "index.html", "text/html; charset=utf-8"),
    ("style.css", "style.css", "text/css; charset=utf-8"),
    ("main.js", "main.js", "text/javascript; charset=utf-8"),
    ("link.js", "link.js", "text/javascript; charset=utf-8"),
    ("picture.js", "picture.js", "text/javascript; charset=utf-8"),
    (
        "controls.js",
        "controls.js",
        "text/javascript; charset=utf-8"
    ),
    ("panels.js", "panels.js", "text/javascript; charset=utf-8"),
    ("fit.js", "fit.js", "text/javascript; charset=utf-8"),
    ("keys.js", "keys.js", "text/javascript; charset=utf-8"),
];

/// The file of this name; the page itself has none.
pub fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|a| a.name == name)
}

/// What the page may load: its own files, and its own socket.
pub fn policy(port: u16) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' \
         ws://127.0.0.1:{port} ws://localhost:{port}; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
}
