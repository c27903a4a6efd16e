//! The system's C++ compiler, and the folder of what it has compiled.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::error::TextError;
use super::source::{fingerprint, prepare};

/// The files that a text is compiled with.
const HOST_FILES: [(&str, &str); 6] = [
    ("kernel_host.h", include_str!("host/kernel_host.h")),
    ("numbers_host.h", include_str!("host/numbers_host.h")),
    ("cuda_runtime.h", include_str!("host/cuda_runtime.h")),
    ("metal_stdlib", include_str!("host/metal_stdlib")),
    ("memory_checks.h", include_str!("host/memory_checks.h")),
    ("run.cpp", include_str!("host/run.cpp")),
];

/// For everything: no warnings, since the texts are made by a machine.
const SHARED_FLAGS: [&str; 4] = ["-std=c++17", "-fPIC", "-fvisibility=hidden", "-w"];

/// For a kernel's text: it reads one type's bytes as another's, has its own `sin` and `max`, and is compiled with the hooks
/// that `run.cpp` defines.
const TEXT_FLAGS: [&str; 7] = [
    "-O1",
    "-fno-builtin",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-rtti",
    "-fsanitize=thread",
];

/// Local variables that nothing was written to hold huge numbers. Older compilers do not know it.
const FRESH_LOCALS: &str = "-ftrivial-auto-var-init=pattern";

/// The most of a compiler's message that an error repeats.
const MESSAGE_LINES: usize = 12;

/// A C++ compiler with the host files in place.
#[derive(Debug)]
pub struct HostCompiler {
    command: OsString,
    folder: PathBuf,
    run_object: PathBuf,
    fresh_locals: bool,
    salt: String,
}

/// The compiler of this process.
pub fn host_compiler() -> Result<&'static HostCompiler, TextError> {
    static COMPILER: OnceLock<Result<HostCompiler, TextError>> = OnceLock::new();
    COMPILER
        .get_or_init(HostCompiler::find)
        .as_ref()
        .map_err(Clone::clone)
}

impl HostCompiler {
    fn find() -> Result<Self, TextError> {
        let named = std::env::var_os("CXX").filter(|name| !name.is_empty());
        let candidates: Vec<OsString> = match named {
            Some(name) => vec![name],
            None => ["c++", "g++", "clang++"].map(OsString::from).to_vec(),
        };
        Self::first_of(&candidates)
    }

    fn first_of(candidates: &[OsString]) -> Result<Self, TextError> {
        let answer = candidates.iter().find_map(|command| {
            let output = Command::new(command).arg("--version").output().ok()?;
            let version = String::from_utf8_lossy(&output.stdout).into_owned();
            output.status.success().then_some((command, version))
        });
        let Some((command, version)) = answer else {
            let tried: Vec<_> = candidates.iter().map(|c| c.to_string_lossy()).collect();
            return Err(TextError::NoCompiler {
                tried: tried.join(", "),
            });
        };
        let mut salt = version;
        for part in HOST_FILES.iter().map(|(_, text)| *text).chain(TEXT_FLAGS) {
            salt += part;
        }
        let name = fingerprint(&salt, "", &command.to_string_lossy());
        let folder = own_folder()?.join(name);
        create_folder(&folder)?;
        for (name, text) in HOST_FILES {
            place(&folder, name, |path| fs::write(path, text))?;
        }
        let mut compiler = HostCompiler {
            command: command.clone(),
            run_object: folder.join("run.o"),
            folder,
            fresh_locals: true,
            salt,
        };
        if compiler.compile_run(&[FRESH_LOCALS]).is_err() {
            compiler.fresh_locals = false;
            compiler.compile_run(&[])?;
        }
        Ok(compiler)
    }

    fn compile_run(&self, more: &[&str]) -> Result<(), TextError> {
        let source = self.folder.join("run.cpp");
        let mut outcome = Ok(());
        place(&self.folder, "run.o", |path| {
            let mut command = Command::new(&self.command);
            command
                .args(SHARED_FLAGS)
                .args(["-O2", "-c"])
                .args(more)
                .arg(&source);
            outcome = self.call(command.arg("-o").arg(path), "(the host's part)", &source);
            Ok(())
        })?;
        outcome
    }

    /// Compiles a text to a shared object and returns its path. An object that an earlier process left is used again.
    pub fn object(&self, text: &str, kernel: &str, ending: &str) -> Result<Object, TextError> {
        let name = fingerprint(text, kernel, &self.salt);
        let text_file = format!("{name}.{ending}");
        let source = prepare(text, kernel, &text_file).ok_or_else(|| TextError::NoText {
            kernel: kernel.to_owned(),
            reason: "its text does not define it".to_owned(),
        })?;
        let object = Object {
            path: self.folder.join(format!("{name}.so")),
            arguments: source.arguments,
        };
        if object.path.exists() {
            return Ok(object);
        }
        let text_path = place(&self.folder, &text_file, |path| {
            fs::write(path, &source.text)
        })?;
        let entry = place(&self.folder, &format!("{name}.cpp"), |path| {
            fs::write(path, &source.entry)
        })?;
        let mut outcome = Ok(());
        place(&self.folder, &format!("{name}.so"), |path| {
            outcome = self.compile(&entry, path, kernel, &text_path);
            Ok(())
        })?;
        outcome.map(|()| object)
    }

    fn compile(
        &self,
        entry: &Path,
        object: &Path,
        kernel: &str,
        text: &Path,
    ) -> Result<(), TextError> {
        let unit = object.with_extension("o");
        let mut command = Command::new(&self.command);
        command.args(SHARED_FLAGS).args(TEXT_FLAGS).arg("-I");
        command.arg(&self.folder).arg("-c").arg(entry);
        if self.fresh_locals {
            command.arg(FRESH_LOCALS);
        }
        self.call(command.arg("-o").arg(&unit), kernel, text)?;
        let mut command = Command::new(&self.command);
        command.arg("-shared").arg(&unit).arg(&self.run_object);
        command.arg("-o").arg(object).arg("-lm");
        if cfg!(target_os = "linux") {
            command.args(["-ldl", "-Wl,-Bsymbolic"]);
        }
        let linked = self.call(&mut command, kernel, text);
        fs::remove_file(&unit).map_err(TextError::file("remove", &unit))?;
        linked
    }

    fn call(&self, command: &mut Command, kernel: &str, text: &Path) -> Result<(), TextError> {
        let output = command
            .output()
            .map_err(TextError::file("run", &self.command))?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = message.lines().take(MESSAGE_LINES).collect();
        Err(TextError::Compile {
            kernel: kernel.to_owned(),
            message: lines.join("\n"),
            text: text.to_owned(),
        })
    }
}

/// A compiled text.
#[derive(Debug)]
pub struct Object {
    /// The shared object.
    pub path: PathBuf,
    /// The number of arguments that a launch must give.
    pub arguments: usize,
}

/// The folder of this user's compiled texts. Code is loaded from it, so nobody else may write there.
fn own_folder() -> Result<PathBuf, TextError> {
    let user = std::env::var("USER").unwrap_or_default();
    let user: String = user.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let folder = std::env::temp_dir().join(format!("ssb-kernel-texts-{user}"));
    create_folder(&folder)?;
    check_owner(&folder)?;
    Ok(folder)
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> Result<(), TextError> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(TextError::file("create", folder))
}

#[cfg(unix)]
fn check_owner(folder: &Path) -> Result<(), TextError> {
    use std::os::unix::fs::MetadataExt;
    let ours = tempfile::NamedTempFile::new()
        .and_then(|file| file.as_file().metadata())
        .map_err(TextError::file("create a file in", std::env::temp_dir()))?;
    let theirs = fs::symlink_metadata(folder).map_err(TextError::file("read", folder))?;
    if theirs.is_dir() && theirs.uid() == ours.uid() && theirs.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(TextError::file("load code from", folder)(
        "another user can write there; remove it or set TMPDIR",
    ))
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> Result<(), TextError> {
    fs::create_dir_all(folder).map_err(TextError::file("create", folder))
}

#[cfg(not(unix))]
fn check_owner(folder: &Path) -> Result<(), TextError> {
    Err(TextError::file("load code from", folder)(
        "kernel texts run on Linux and macOS only",
    ))
}

/// Writes a file under a name of its own and renames it, so that nobody sees half of it. Nothing is left if `write` made no file.
fn place(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<PathBuf, TextError> {
    let target = folder.join(name);
    let making = tempfile::Builder::new()
        .prefix("making-")
        .tempdir_in(folder)
        .map_err(TextError::file("create a folder in", folder))?;
    let made = making.path().join(name);
    write(&made).map_err(TextError::file("write", &made))?;
    if made.exists() {
        fs::rename(&made, &target).map_err(TextError::file("rename", &made))?;
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_one_clear_error() {
        let missing = ["no-such-c++", "nor-this-one"].map(OsString::from);
        let error = HostCompiler::first_of(&missing).unwrap_err().to_string();
        assert!(error.contains("no-such-c++, nor-this-one"), "{error}");
        assert!(error.contains("set CXX"), "{error}");
    }
}
