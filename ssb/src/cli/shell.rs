//! `ssb completions` and `ssb man`: what a shell and `man` can know of the program.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use super::args::Cli;
use super::argument_groups::TalkArgs;
use super::console::Console;
use super::{Ending, writing};
use crate::Error;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Prints the completions: `source <(ssb completions bash)`.
pub fn completions(a: &CompletionsArgs) {
    let mut script = Vec::new();
    clap_complete::generate(a.shell, &mut Cli::command(), "ssb", &mut script);
    // Nothing is left to be told when stdout is gone.
    let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), &script);
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// An existing folder for the pages, e.g. ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Writes a page for the program and one for every verb.
pub fn man(a: &ManArgs, console: &Console) -> Result<Ending, Error> {
    let mut command = Cli::command();
    command.build();
    let mut pages = vec![("ssb".to_owned(), command.clone())];
    for verb in command.get_subcommands().filter(|v| v.get_name() != "help") {
        let name = format!("ssb-{}", verb.get_name());
        pages.push((name.clone(), verb.clone().display_name(name)));
    }
    let mut files = Vec::with_capacity(pages.len());
    for (name, command) in pages {
        let path = a.folder.join(format!("{name}.1"));
        writing::check_place(&path)?;
        let mut page = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut page)
            .map_err(|e| Error::output(&path, e, "choose another folder"))?;
        writing::write_whole(&path, &page)?;
        files.push(path.display().to_string());
    }
    console.finish(&json!({"files": files}), &files.join("\n"));
    Ok(Ending::Done)
}
