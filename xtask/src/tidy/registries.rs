//! Every file of a registered kind is in its registry.

use super::{Finding, Source};

/// A registry: the file that lists, the folder whose files are listed, and what a listed file defines.
struct Registry {
    list: &'static str,
    files: &'static [&'static str],
    defines: &'static str,
}

const REGISTRIES: &[Registry] = &[
    Registry {
        list: "ssb/src/backends.rs",
        files: &["ssb-cpu/src/", "ssb-cpu-oracle/src/"],
        defines: ": BackendEntry = ",
    },
    Registry {
        list: "ssb-kernels/src/backend/mod.rs",
        files: &["ssb-kernels/src/backend/"],
        defines: ": BackendEntry = ",
    },
    Registry {
        list: "ssb-io/src/format/mod.rs",
        files: &["ssb-io/src/format/"],
        defines: ": Format = ",
    },
];

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
                // Formats share one item name and are told apart by their module.
                let wanted = if item == "FORMAT" { path } else { bare };
                if !list.text.contains(&wanted) {
                    findings.push(file.finding(format!("`{wanted}` is not in {}", registry.list)));
                }
            }
        }
        if members == 0 {
            findings.push(list.finding("no file defines a member: is the check out of date?"));
        }
    }
    findings
}
