//! Files and folders of the repository that chapters link to, copied to `source/` of the book.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The folder of the book that they go to.
pub const FOLDER: &str = "source";

/// Where the book has a file or folder; a page of Markdown as text, since mdBook takes links to `.md` for chapters.
pub fn place(path: &str, folder: bool) -> String {
    let path = path.replace(".md", ".txt");
    match folder {
        true => format!("{FOLDER}/{path}/listing.html"),
        false => format!("{FOLDER}/{path}"),
    }
}

/// Copies the files, and of folders the files that are directly in them, with a page that lists these.
pub fn write(root: &Path, output: &Path, copies: &BTreeSet<String>) -> io::Result<()> {
    for path in copies {
        let from = root.join(path);
        if from.is_dir() {
            list(root, output, path)?;
        } else if from.is_file() {
            copy(root, output, path)?;
        }
    }
    Ok(())
}

fn copy(root: &Path, output: &Path, path: &str) -> io::Result<()> {
    let to = output.join(place(path, false));
    std::fs::create_dir_all(to.parent().unwrap_or(output))?;
    std::fs::copy(root.join(path), to)?;
    Ok(())
}

fn list(root: &Path, output: &Path, path: &str) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join(path))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    let mut rows = String::new();
    for name in names {
        let file = format!("{path}/{name}");
        if root.join(&file).is_dir() {
            rows.push_str(&format!("<li>{}/</li>\n", escaped(&name)));
        } else {
            copy(root, output, &file)?;
            let link = super::paths::encoded(&name.replace(".md", ".txt"));
            rows.push_str(&format!(
                "<li><a href=\"{}\">{}</a></li>\n",
                escaped(&link),
                escaped(&name)
            ));
        }
    }
    let title = escaped(path);
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
        <meta name=\"color-scheme\" content=\"light dark\">\n\
        <style>body {{ font-family: sans-serif; margin: 2rem; line-height: 1.6; }}</style>\n</head>\n\
        <body>\n<h1>{title}</h1>\n<ul>\n{rows}</ul>\n</body>\n</html>\n"
    );
    let to = output.join(place(path, true));
    std::fs::create_dir_all(to.parent().unwrap_or(output))?;
    std::fs::write(to, page)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_copied_and_folders_listed() {
        let root = tempfile::tempdir().unwrap();
        let output = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("src/deep")).unwrap();
        std::fs::write(root.path().join("LICENSE"), "free").unwrap();
        std::fs::write(root.path().join("src/a&b.rs"), "code").unwrap();
        std::fs::write(root.path().join("src/README.md"), "text").unwrap();
        let copies = ["LICENSE", "src"].map(String::from).into();
        write(root.path(), output.path(), &copies).unwrap();
        let read = |path: &str| std::fs::read_to_string(output.path().join(path)).unwrap();
        assert_eq!(read("source/LICENSE"), "free");
        assert_eq!(read("source/src/a&b.rs"), "code");
        assert_eq!(read("source/src/README.txt"), "text");
        let listing = read("source/src/listing.html");
        assert!(listing.contains("<a href=\"a&amp;b.rs\">a&amp;b.rs</a>"));
        assert!(listing.contains("<a href=\"README.txt\">README.md</a>"));
        assert!(listing.contains("<li>deep/</li>"));
    }
}
