//! The library's interface is what `api.txt` says: a name, field or signature that changes is seen in review.
//!
//! `SSB_UPDATE_API=1 cargo test -p ssb --test api` writes the file anew.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

/// The crates whose types the library shows.
const CRATES: [(&str, &str); 3] = [
    ("ssb", "."),
    ("ssb_core", "../ssb-core"),
    ("ssb_io", "../ssb-io"),
];

/// At the top stand about this many names.
const AT_THE_TOP: usize = 16;

struct Source {
    /// Path below `src`.
    path: PathBuf,
    items: Vec<Item>,
}

/// An exported name: where it is written and what it leads to.
struct Export {
    full: String,
    name: String,
    krate: String,
    /// Modules on the way to it.
    way: Vec<String>,
}

fn shown(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| {
        let text = a.to_token_stream().to_string();
        text.contains("hidden") || text.contains("cfg (test)")
    })
}

fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("- >", "->"),
        ("->", " -> "),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("& ", "&"),
        (" ,", ","),
        (",)", ")"),
        (" ;", ";"),
        (" : ", ": "),
        ("[ ", "["),
        (" ]", "]"),
        ("' ", "'"),
    ] {
        text = text.replace(from, to);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn parse(path: &Path) -> Vec<Item> {
    let source = std::fs::read_to_string(path).unwrap();
    syn::parse_file(&source)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        .items
}

fn sources(root: &Path, below: &Path, into: &mut Vec<Source>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(root.join(below))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let relative = path.strip_prefix(root).unwrap().to_owned();
        if path.is_dir() {
            sources(root, &relative, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let items = parse(&path);
            into.push(Source {
                path: relative,
                items,
            });
        }
    }
}

fn leaves(tree: &UseTree, way: &mut Vec<String>, out: &mut Vec<(Vec<String>, String)>) {
    match tree {
        UseTree::Path(path) => {
            way.push(path.ident.to_string());
            leaves(&path.tree, way, out);
            way.pop();
        }
        UseTree::Name(name) => out.push((way.clone(), name.ident.to_string())),
        UseTree::Rename(name) => out.push((way.clone(), name.rename.to_string())),
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, way, out);
            }
        }
        UseTree::Glob(_) => panic!("a glob hides what is exported"),
    }
}

fn named(item: &Item) -> Option<(String, &Visibility)> {
    let (ident, visibility) = match item {
        Item::Struct(i) => (&i.ident, &i.vis),
        Item::Enum(i) => (&i.ident, &i.vis),
        Item::Trait(i) => (&i.ident, &i.vis),
        Item::Fn(i) => (&i.sig.ident, &i.vis),
        Item::Const(i) => (&i.ident, &i.vis),
        Item::Static(i) => (&i.ident, &i.vis),
        Item::Type(i) => (&i.ident, &i.vis),
        _ => return None,
    };
    Some((ident.to_string(), visibility))
}

fn exports(items: &[Item], root: &Path, modules: &[String], out: &mut Vec<Export>) {
    let full = |name: &str| {
        let mut path = vec!["ssb".to_owned()];
        path.extend(modules.iter().cloned());
        path.push(name.to_owned());
        path.join("::")
    };
    for item in items {
        match item {
            Item::Use(i) if shown(&i.vis) && !hidden(&i.attrs) => {
                let mut found = Vec::new();
                leaves(&i.tree, &mut Vec::new(), &mut found);
                for (mut way, name) in found {
                    let first = way.first().cloned().unwrap_or_default();
                    let krate = match CRATES.iter().find(|(k, _)| *k == first) {
                        Some((krate, _)) => {
                            way.remove(0);
                            (*krate).to_owned()
                        }
                        None => {
                            if !matches!(first.as_str(), "crate" | "self") {
                                way.splice(0..0, modules.iter().cloned());
                            }
                            "ssb".to_owned()
                        }
                    };
                    way.retain(|m| m != "crate" && m != "self");
                    out.push(Export {
                        full: full(&name),
                        name,
                        krate,
                        way,
                    });
                }
            }
            Item::Mod(i) if shown(&i.vis) && !hidden(&i.attrs) => {
                let mut modules = modules.to_vec();
                modules.push(i.ident.to_string());
                let read;
                let inner = match &i.content {
                    Some((_, items)) => items,
                    None => {
                        let path = root.join(modules.join("/"));
                        let file = path.with_extension("rs");
                        read = parse(&if file.is_file() {
                            file
                        } else {
                            path.join("mod.rs")
                        });
                        &read
                    }
                };
                out.push(Export {
                    full: modules.join("::"),
                    name: String::new(),
                    krate: String::new(),
                    way: Vec::new(),
                });
                exports(inner, root, &modules, out);
            }
            other => {
                if let Some((name, visibility)) = named(other)
                    && shown(visibility)
                {
                    out.push(Export {
                        full: full(&name),
                        name,
                        krate: "ssb".into(),
                        way: modules.to_vec(),
                    });
                }
            }
        }
    }
}

fn fields(prefix: &str, fields: &Fields, of_enum: bool, lines: &mut Vec<String>) {
    for (i, field) in fields.iter().enumerate() {
        if of_enum || shown(&field.vis) {
            let name = field
                .ident
                .as_ref()
                .map_or(i.to_string(), ToString::to_string);
            lines.push(format!("{prefix}.{name}: {}", text(&field.ty)));
        }
    }
}

/// The lines of one item.
fn item_lines(full: &str, item: &Item) -> Vec<String> {
    let mut lines = Vec::new();
    match item {
        Item::Struct(i) => {
            lines.push(format!("{full}: struct{}", text(&i.generics)));
            fields(full, &i.fields, false, &mut lines);
        }
        Item::Enum(i) => {
            lines.push(format!("{full}: enum{}", text(&i.generics)));
            for variant in &i.variants {
                let name = format!("{full}::{}", variant.ident);
                lines.push(name.clone());
                fields(&name, &variant.fields, true, &mut lines);
            }
        }
        Item::Trait(i) => {
            lines.push(format!("{full}: trait"));
            for item in &i.items {
                if let TraitItem::Fn(f) = item {
                    lines.push(format!("{full}::{}", text(&f.sig)));
                }
            }
        }
        Item::Fn(i) => lines.push(format!("{full}: {}", text(&i.sig))),
        Item::Const(i) => lines.push(format!("{full}: const {}", text(&i.ty))),
        Item::Static(i) => lines.push(format!("{full}: static {}", text(&i.ty))),
        Item::Type(i) => lines.push(format!("{full}: type {}", text(&i.ty))),
        _ => {}
    }
    lines
}

/// Public functions and traits of a type, wherever its crate implements them.
fn impl_lines(full: &str, name: &str, files: &[&Source]) -> Vec<String> {
    let mut lines = Vec::new();
    for item in files.iter().flat_map(|s| &s.items) {
        let Item::Impl(i) = item else { continue };
        let Type::Path(of) = &*i.self_ty else {
            continue;
        };
        if of.path.segments.last().is_none_or(|s| s.ident != name) || hidden(&i.attrs) {
            continue;
        }
        match &i.trait_ {
            Some((_, path, _)) => lines.push(format!("{full}: {}", text(path))),
            None => {
                for item in &i.items {
                    match item {
                        ImplItem::Fn(f) if shown(&f.vis) && !hidden(&f.attrs) => {
                            lines.push(format!("{full}::{}", text(&f.sig)));
                        }
                        ImplItem::Const(c) if shown(&c.vis) => {
                            lines.push(format!("{full}::{}: {}", c.ident, text(&c.ty)));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    lines
}

fn lines_of(export: &Export, crates: &BTreeMap<String, Vec<Source>>) -> Vec<String> {
    let full = &export.full;
    let sources = &crates[&export.krate];
    let fits = |source: &Source| {
        let parts: Vec<String> = (source.path.with_extension("").iter())
            .map(|p| p.to_string_lossy().into_owned())
            .collect();
        export.way.iter().filter(|m| parts.contains(m)).count()
    };
    let mut found: Vec<(usize, &Source, &Item)> = Vec::new();
    for source in sources {
        for item in &source.items {
            if named(item).is_some_and(|(n, v)| n == export.name && shown(v)) {
                found.push((fits(source), source, item));
            }
        }
    }
    let best = found.iter().map(|f| f.0).max();
    let Some((_, source, item)) = found.iter().find(|f| Some(f.0) == best) else {
        // A crate, or what a macro makes.
        return vec![format!("{full}: re-export")];
    };
    let mut lines = item_lines(full, item);
    let alone = found.len() == 1;
    let files: Vec<&Source> = sources
        .iter()
        .filter(|s| alone || s.path.parent() == source.path.parent())
        .collect();
    if !matches!(item, Item::Fn(_)) {
        lines.extend(impl_lines(full, &export.name, &files));
    }
    lines
}

#[test]
fn the_interface_is_the_recorded_one() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut crates = BTreeMap::new();
    for (name, folder) in CRATES {
        let mut found = Vec::new();
        sources(&here.join(folder).join("src"), Path::new(""), &mut found);
        crates.insert(name.to_owned(), found);
    }
    let mut exported = Vec::new();
    exports(
        &parse(&here.join("src/lib.rs")),
        &here.join("src"),
        &[],
        &mut exported,
    );
    let top: Vec<&str> = (exported.iter())
        .filter(|e| !e.name.is_empty() && e.full.matches("::").count() == 1)
        .map(|e| e.full.as_str())
        .collect();
    assert!(top.len() <= AT_THE_TOP, "{} names: {top:?}", top.len());
    let mut lines: Vec<String> = (exported.iter())
        .filter(|e| !e.name.is_empty())
        .flat_map(|e| lines_of(e, &crates))
        .collect();
    lines.sort();
    lines.dedup();
    let now = lines.join("\n") + "\n";
    let record = here.join("tests/api.txt");
    if std::env::var_os("SSB_UPDATE_API").is_some() {
        std::fs::write(&record, &now).unwrap();
    }
    let recorded = std::fs::read_to_string(&record).expect("tests/api.txt");
    let (old, new): (Vec<&str>, Vec<&str>) = (recorded.lines().collect(), now.lines().collect());
    let gone: Vec<_> = old.iter().filter(|l| !new.contains(l)).collect();
    let come: Vec<_> = new.iter().filter(|l| !old.contains(l)).collect();
    assert!(
        gone.is_empty() && come.is_empty(),
        "the interface changed; SSB_UPDATE_API=1 records it\ngone: {gone:#?}\nnew: {come:#?}"
    );
}
