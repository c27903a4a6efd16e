//! Paths of the repository as links write them: `/` between the parts, from the root, no `.` and `..`.

use std::path::Path;

/// `path` as seen from `folder`; `None` when it leaves the root.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The path of an address as it is written, and the decoded fragment after it.
pub fn parted(address: &str) -> (&str, Option<String>) {
    match address.split_once('#') {
        Some((path, fragment)) => (path, Some(decoded(fragment))),
        None => (address, None),
    }
}

/// The folder that a file is in, empty for the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// How a link in a file of `folder` writes `path`.
pub fn relative(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').collect();
    let shared = from
        .iter()
        .zip(&to[..to.len() - 1])
        .take_while(|(a, b)| a == b)
        .count();
    let mut parts = vec![".."; from.len() - shared];
    parts.extend(&to[shared..]);
    parts.join("/")
}

/// Checks that a file or folder is there with exactly these letters, on every file system.
pub fn exact(root: &Path, path: &str) -> Result<(), String> {
    let mut folder = root.to_path_buf();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let mut other = None;
        let mut found = false;
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            found |= name == part;
            if name.to_lowercase() == part.to_lowercase() {
                other = Some(name);
            }
        }
        match other {
            _ if found => folder.push(part),
            Some(name) => return Err(format!("`{part}` is written `{name}`")),
            None => return Err(format!("there is no `{path}`")),
        }
    }
    Ok(())
}

/// `%20` and its like as the characters they stand for.
pub fn decoded(text: &str) -> String {
    let hex = |byte: Option<&u8>| byte.and_then(|b| char::from(*b).to_digit(16));
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = (hex(bytes.get(at + 1)), hex(bytes.get(at + 2)));
        match (byte, digits) {
            (b'%', (Some(high), Some(low))) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A path as a Markdown link can hold it.
pub fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '(' | ')' | '<' | '>' | '"' | '%' | '#' | '?' => {
                out.push_str(&format!("%{:02X}", c as u32));
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether a link names a scheme or a host, such as `https://` or `mailto:`.
pub fn has_scheme(link: &str) -> bool {
    let scheme = |s: &str| {
        s.starts_with(|c: char| c.is_ascii_alphabetic())
            && s.chars()
                .all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    };
    link.starts_with("//") || link.split_once(':').is_some_and(|(s, _)| scheme(s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_told_apart() {
        assert_eq!(
            joined("docs", "../ARCHITECTURE.md").as_deref(),
            Some("ARCHITECTURE.md")
        );
        assert_eq!(
            joined("docs", "./adding/a.rs").as_deref(),
            Some("docs/adding/a.rs")
        );
        assert_eq!(joined("docs", "../../elsewhere"), None);
        assert_eq!(relative("", "a/b.md"), "a/b.md");
        assert_eq!(relative("a", "a/b.md"), "b.md");
        assert_eq!(relative("a/c", "a/b.md"), "../b.md");
        assert_eq!(relative("a", "b.md"), "../b.md");
        assert_eq!(folder("docs/a.md"), "docs");
        assert_eq!(folder("a.md"), "");
    }

    #[test]
    fn letters_must_be_the_same() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("docs/Viewer.md"), "").unwrap();
        assert_eq!(exact(root.path(), "docs/Viewer.md"), Ok(()));
        let wrong = exact(root.path(), "docs/viewer.md").unwrap_err();
        assert!(wrong.contains("`Viewer.md`"), "{wrong}");
        assert!(exact(root.path(), "docs/none.md").is_err());
    }

    #[test]
    fn links_are_decoded_and_encoded() {
        assert_eq!(decoded("a%20b%C3%A9"), "a bé");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded(&encoded("a (b) 1%.rs")), "a (b) 1%.rs");
        assert!(has_scheme("https://x.org") && has_scheme("mailto:a@b.c") && has_scheme("//x.org"));
        assert!(!has_scheme("a.md") && !has_scheme("#a:b") && !has_scheme("../a:b.md"));
    }
}
