//! The program's verbs and flags, read from the definitions of its command line, and commands held against them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Fields, Ident, Item, Lit, Meta, Token, Type};

/// Flags that every verb has.
const ALWAYS: [&str; 3] = ["--help", "--version", "-h"];

/// The flags of one structure of arguments, each with its dashes.
#[derive(Clone, Default)]
struct Group {
    flags: BTreeSet<String>,
    /// Structures whose flags are part of it.
    flattened: Vec<String>,
}

/// The verbs and their flags.
pub struct Program {
    verbs: BTreeMap<String, BTreeSet<String>>,
}

/// What the source files define.
#[derive(Default)]
struct Definitions {
    groups: BTreeMap<String, Group>,
    /// By enumeration: its verbs, each with the structure of its arguments.
    verbs: BTreeMap<String, Vec<(String, String)>>,
    /// The enumeration that the program takes its verb from.
    subcommand: Option<String>,
}

impl Program {
    /// Reads the files of a folder.
    pub fn read(folder: &Path) -> io::Result<Program> {
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "rs") {
                texts.push(std::fs::read_to_string(path)?);
            }
        }
        Program::parsed(&texts)
    }

    fn parsed(texts: &[String]) -> io::Result<Program> {
        let mut definitions = Definitions::default();
        for text in texts {
            let file = syn::parse_file(text).map_err(io::Error::other)?;
            file.items.iter().for_each(|item| definitions.item(item));
        }
        let verbs = definitions
            .subcommand
            .as_ref()
            .and_then(|name| definitions.verbs.get(name))
            .ok_or_else(|| io::Error::other("the command line's verbs are not where they were"))?;
        let verbs = verbs
            .iter()
            .map(|(verb, arguments)| (verb.clone(), definitions.flags(arguments)))
            .collect();
        Ok(Program { verbs })
    }

    /// What is wrong with the commands of a line that start the program.
    pub fn wrong(&self, line: &str) -> Vec<String> {
        let calls = words(line);
        calls
            .iter()
            .flat_map(|call| self.wrong_call(call))
            .collect()
    }

    fn wrong_call(&self, call: &[String]) -> Vec<String> {
        let arguments = arguments(call);
        let Some((verb, rest)) = arguments.split_first() else {
            return Vec::new();
        };
        // A placeholder such as VERB, flags of the program itself, or its help.
        let placeholder = verb.chars().all(|c| c.is_ascii_uppercase());
        if placeholder || ALWAYS.contains(&verb.as_str()) || ["help", "-V"].contains(&verb.as_str())
        {
            return Vec::new();
        }
        let Some(flags) = self.verbs.get(verb) else {
            return vec![format!("`ssb` has no verb `{verb}`: see `ssb --help`")];
        };
        rest.iter()
            .take_while(|word| *word != "--")
            .filter_map(|word| flag(word))
            .filter(|flag| !flags.contains(flag) && !ALWAYS.contains(&flag.as_str()))
            .map(|flag| format!("`ssb {verb}` has no `{flag}`: see `ssb {verb} --help`"))
            .collect()
    }
}

/// The flag of a word: `--name` of `--name=value`, `-o`.
fn flag(word: &str) -> Option<String> {
    let name = word.split('=').next().unwrap_or_default();
    if let Some(long) = name.strip_prefix("--") {
        return (!long.is_empty()).then(|| name.to_owned());
    }
    let letter = name.strip_prefix('-')?.chars().next()?;
    letter.is_alphabetic().then(|| format!("-{letter}"))
}

/// The words behind the program's name; empty when the call is of another program.
fn arguments(call: &[String]) -> &[String] {
    let assigned = |word: &String| word.split_once('=').is_some_and(|(name, _)| variable(name));
    let start = call
        .iter()
        .take_while(|word| *word == "$" || assigned(word))
        .count();
    let call = &call[start..];
    match call {
        [name, rest @ ..] if name == "ssb" || name.ends_with("/ssb") => rest,
        [name, run, rest @ ..] if name == "cargo" && run == "run" => {
            let dashes = rest.iter().position(|word| word == "--");
            let (options, behind) = rest.split_at(dashes.unwrap_or(rest.len()));
            let other =
                |word: &String| ["-p", "--package", "--bin", "--example"].contains(&word.as_str());
            match options.iter().any(other) {
                true => &[],
                false => behind.get(1..).unwrap_or_default(),
            }
        }
        _ => &[],
    }
}

fn variable(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || "_0123456789".contains(c))
}

/// The words of a line, one list for each command in it; a comment ends it.
fn words(line: &str) -> Vec<Vec<String>> {
    let mut calls = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    let end_word = |calls: &mut Vec<Vec<String>>, word: &mut String| {
        if let (false, Some(call)) = (word.is_empty(), calls.last_mut()) {
            call.push(std::mem::take(word));
        }
    };
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '#') if word.is_empty() => break,
            // Within a word it is an apostrophe.
            (None, '\'' | '"') if word.is_empty() || word.ends_with('=') => quote = Some(c),
            (None, '|' | ';' | '&' | '(' | ')') => {
                end_word(&mut calls, &mut word);
                calls.push(Vec::new());
            }
            (None, c) if c.is_whitespace() => end_word(&mut calls, &mut word),
            (None, c) => word.push(c),
        }
    }
    end_word(&mut calls, &mut word);
    calls
}

impl Definitions {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Struct(item) => {
                let mut group = Group::default();
                let Fields::Named(fields) = &item.fields else {
                    return;
                };
                for field in &fields.named {
                    let Some(name) = &field.ident else { continue };
                    for meta in metas(&field.attrs) {
                        if meta.path().is_ident("flatten") {
                            group.flattened.extend(type_name(&field.ty));
                        } else if meta.path().is_ident("subcommand") {
                            self.subcommand = type_name(&field.ty);
                        }
                        group.flags.extend(flags_of(&meta, name));
                    }
                }
                self.groups.insert(item.ident.to_string(), group);
            }
            Item::Enum(item) => {
                let verbs = item.variants.iter().filter_map(|variant| {
                    let arguments = variant.fields.iter().next();
                    let arguments = arguments.and_then(|field| type_name(&field.ty))?;
                    let metas = metas(&variant.attrs);
                    let named = metas.iter().find(|meta| meta.path().is_ident("name"));
                    let name = named.and_then(text).unwrap_or(kebab(&variant.ident));
                    Some((name, arguments))
                });
                self.verbs.insert(item.ident.to_string(), verbs.collect());
            }
            _ => {}
        }
    }

    /// The flags of a structure and of those that are part of it.
    fn flags(&self, name: &str) -> BTreeSet<String> {
        let Some(group) = self.groups.get(name) else {
            return BTreeSet::new();
        };
        let parts = group.flattened.iter().flat_map(|part| self.flags(part));
        parts.chain(group.flags.iter().cloned()).collect()
    }
}

/// What stands in `#[arg(…)]` and `#[command(…)]`.
fn metas(attributes: &[Attribute]) -> Vec<Meta> {
    let ours = attributes.iter().filter(|attribute| {
        let path = attribute.path();
        path.is_ident("arg") || path.is_ident("command") || path.is_ident("clap")
    });
    ours.filter_map(|a| {
        a.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .ok()
    })
    .flatten()
    .collect()
}

/// The flag that a part of `#[arg(…)]` gives to a field.
fn flags_of(meta: &Meta, field: &Ident) -> Option<String> {
    let name = meta.path().get_ident()?.to_string();
    let given = text(meta);
    match name.as_str() {
        "long" => Some(format!("--{}", given.unwrap_or(kebab(field)))),
        "alias" | "visible_alias" => Some(format!("--{}", given?)),
        "short" => {
            let own = field.unraw().to_string();
            Some(format!("-{}", given.unwrap_or(own).chars().next()?))
        }
        _ => None,
    }
}

/// The text or letter that `name = …` gives.
fn text(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Char(letter) => Some(letter.value().to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a type, that of its content for a box.
fn type_name(of: &Type) -> Option<String> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last()?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(inner) => match inner.args.first()? {
            syn::GenericArgument::Type(inner) => type_name(inner),
            _ => None,
        },
        _ => Some(last.ident.to_string()),
    }
}

/// `max_memory` and `MaxMemory` as `max-memory`.
fn kebab(name: &Ident) -> String {
    let mut out = String::new();
    for c in name.unraw().to_string().chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(c.to_lowercase().map(|c| if c == '_' { '-' } else { c }));
    }
    out
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn program() -> Program {
        let text = r#"
            #[derive(Parser)] struct Cli { #[command(subcommand)] verb: Verb }
            #[derive(Subcommand)] enum Verb {
                Fit(Box<FitArgs>),
                #[command(name = "look-at")] Look(super::LookArgs),
                OnePlace(LookArgs),
                Inspect(LookArgs),
            }
            #[derive(Args)] #[command(mut_arg("file", |f| f.value_name("DIR")))] struct FitArgs {
                file: PathBuf,
                #[arg(short, long, value_name = "R.h5")] out_file: PathBuf,
                #[arg(long = "fit", value_parser = ["a", "b"], default_value_t = 1)] mode: String,
                #[arg(long, alias = "old")] r#type: bool,
                #[command(flatten)] talk: TalkArgs,
            }
            #[derive(Args)] struct LookArgs { #[command(flatten)] talk: TalkArgs }
            #[derive(Args)] struct TalkArgs { #[arg(long)] json: bool }
        "#;
        Program::parsed(&[text.to_owned()]).unwrap()
    }

    #[test]
    fn right_commands_pass() {
        let program = program();
        for line in [
            "ssb fit a.h5 --out-file b.h5 -o c.h5 --fit=a --type --old --json",
            "ssb look-at --json; ssb one-place --help",
            "SSB_X=1 target/release/ssb fit --fit a && other --flag",
            "source <(ssb inspect bash)",
            "cargo run --release -- fit --json",
            "cargo run -p xtask -- tidy --none",
            "ssb fit 'a # --none' -3   # --none",
            "ssb --version",
            "ssb VERB --any",
            "ssb fit -- --none",
            "ssb inspect a   the fit's words",
            "cargo test --none",
        ] {
            assert_eq!(program.wrong(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn wrong_commands_are_found() {
        let program = program();
        for (line, what) in [
            ("ssb fitt a", "no verb `fitt`"),
            ("ssb look a", "no verb `look`"),
            ("ssb fit --out_file b", "no `--out_file`"),
            ("ssb fit --mode a", "no `--mode`"),
            ("ssb look-at --fit=a", "no `--fit`"),
            ("ssb look-at -o a", "no `-o`"),
            ("ls | ssb fit --none", "no `--none`"),
            ("source <(ssb complete bash)", "no verb `complete`"),
            ("cargo run --release -- fitt", "no verb `fitt`"),
            ("$ A=1 ./ssb fitt", "no verb `fitt`"),
        ] {
            let wrong = program.wrong(line);
            assert_eq!(wrong.len(), 1, "{line}: {wrong:?}");
            assert!(wrong[0].contains(what), "{line}: {}", wrong[0]);
        }
    }

    #[test]
    fn definitions_that_are_gone_are_an_error() {
        assert!(Program::parsed(&["struct A;".to_owned()]).is_err());
    }

    #[test]
    fn the_program_of_this_workspace_is_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let program = Program::read(&root.join("ssb/src/cli")).unwrap();
        assert!(program.verbs.len() > 10);
        let right = "ssb series a -o b --fit each --fit-on c --max-memory 1GiB --scan-shape 3x3";
        assert_eq!(program.wrong(right), Vec::<String>::new());
    }
}
