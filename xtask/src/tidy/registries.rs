//! Every file of a registered kind is in its registry.

use super::{Finding, Source};

/// A registry: the file that lists, the folder whose files are listed, and what a listed file defines.
struct Registry {
    list: &'static str,
    files: &'static [&'static str],
    defines: &'static str,
    /// Whether it may list nothing.
    may_be_empty: bool,
}

const REGISTRIES: &[Registry] = &[
    Registry {
        list: "ssb/src/backends.rs",
        files: &["ssb-cpu/src/", "ssb-cpu-oracle/src/"],
        defines: ": BackendEntry = ",
        may_be_empty: false,
    },
    Registry {
        list: "ssb-kernels/src/backend/mod.rs",
        files: &["ssb-kernels/src/backend/"],
        defines: ": BackendEntry = ",
        may_be_empty: false,
    },
    Registry {
        list: "ssb-kernels/src/plan/mod.rs",
        files: &["ssb-kernels/src/plan/"],
        defines: ": &str = ",
        may_be_empty: false,
    },
    Registry {
        list: "ssb-core/src/own_terms/mod.rs",
        files: &["ssb-core/src/own_terms/"],
        defines: ": Term =",
        may_be_empty: true,
    },
    Registry {
        list: "ssb-io/src/format/mod.rs",
        files: &["ssb-io/src/format/"],
        defines: ": Format = ",
        may_be_empty: false,
    },
];

/// Whether the name stands in the text as a whole word.
fn lists(text: &str, name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(inside) && !text[at + name.len()..].starts_with(inside)
    })
}

pub fn complete(files: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for registry in REGISTRIES {
        let Some(list) = files.iter().find(|f| f.name() == registry.list) else {
            findings.push(Finding {
                file: registry.list.into(),
                what: "the registry is missing".into(),
            });
            continue;
        };
        let mut members = 0;
        for file in files {
            let name = file.name();
            if name == registry.list || !registry.files.iter().any(|f| name.starts_with(f)) {
                continue;
            }
            for line in file.text.lines().filter(|l| l.contains(registry.defines)) {
                members += 1;
                let item = line.split(registry.defines).next().unwrap_or_default();
                let item = item.rsplit(' ').next().unwrap_or_default();
                let module = file.path.file_stem().unwrap_or_default().to_string_lossy();
                let (path, bare) = (format!("{module}::{item}"), item.to_owned());
                // Members that share one item name are told apart by their module.
                let wanted = match item {
                    "FORMAT" => path,
                    "ENTRY" | "NAME" | "TERM" => module.into_owned(),
                    _ => bare,
                };
                if !lists(&list.text, &wanted) {
                    findings.push(file.finding(format!("`{wanted}` is not in {}", registry.list)));
                }
            }
        }
        if members == 0 && !registry.may_be_empty {
            findings.push(list.finding("no file defines a member: is the check out of date?"));
        }
    }
    findings
}
