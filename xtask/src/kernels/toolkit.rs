//! NVIDIA's compilers from PyPI: NVRTC, which CubeCL uses, and ptxas, which tells what a kernel needs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ssb_kernels::text::Target;

/// From 12.8 on they know sm_120.
const PACKAGES: [&str; 3] = [
    "nvidia-cuda-nvrtc-cu12>=12.8,<13",
    "nvidia-cuda-nvcc-cu12>=12.8,<13",
    "nvidia-cuda-runtime-cu12>=12.8,<13",
];

/// Prints where ptxas is, and fails if a package is missing.
const FIND: &str = "import nvidia.cuda_nvrtc, nvidia.cuda_runtime, nvidia.cuda_nvcc, pathlib; \
    print(pathlib.Path(nvidia.cuda_nvcc.__path__[0]) / 'bin' / 'ptxas')";

/// What ptxas says of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub registers: u32,
    /// Stores and loads together.
    pub spill_bytes: u32,
    pub stack_bytes: u32,
    /// Static shared memory; CubeCL's is dynamic and not in it.
    pub shared_bytes: usize,
}

/// The compilers in a virtual environment of their own.
pub struct Toolkit {
    python: PathBuf,
    ptxas: PathBuf,
}

impl Toolkit {
    /// The compilers in `folder`, installed there if they are not yet. The error says why they cannot be had.
    pub fn new(folder: &Path) -> Result<Self, String> {
        let python = folder.join("bin").join("python");
        if let Ok(toolkit) = Self::find(&python) {
            return Ok(toolkit);
        }
        let mut make = Command::new("python3");
        output(make.args(["-m", "venv"]).arg(folder))?;
        let mut install = Command::new(&python);
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        output(install.args(PACKAGES))?;
        Self::find(&python)
    }

    fn find(python: &Path) -> Result<Self, String> {
        let found = output(Command::new(python).args(["-c", FIND]))?;
        let ptxas = PathBuf::from(found.trim());
        output(Command::new(&ptxas).arg("--version"))?;
        Ok(Toolkit {
            python: python.to_owned(),
            ptxas,
        })
    }

    /// Compiles texts, each for its target, to PTX and further to machine code; both lie beside the text afterwards.
    pub fn compile(&self, jobs: &[(Target, &Path)]) -> Result<Vec<Result<Usage, String>>, String> {
        let answers = self.to_ptx(jobs)?;
        if answers.len() != jobs.len() {
            return Err(format!(
                "NVRTC answered {} of {} texts",
                answers.len(),
                jobs.len()
            ));
        }
        let compiled = jobs.iter().zip(answers).map(|((target, file), answer)| {
            answer?;
            let mut ptxas = Command::new(&self.ptxas);
            ptxas
                .arg("-v")
                .arg(format!("-arch={}", architecture(*target)));
            ptxas.arg(file.with_extension("ptx"));
            let told = output(ptxas.arg("-o").arg(file.with_extension("cubin")))?;
            usage(&told).ok_or_else(|| format!("ptxas says something new:\n{told}"))
        });
        Ok(compiled.collect())
    }

    fn to_ptx(&self, jobs: &[(Target, &Path)]) -> Result<Vec<Result<(), String>>, String> {
        let script = self.python.with_file_name("nvrtc.py");
        fs::write(&script, include_str!("nvrtc.py"))
            .map_err(|error| format!("cannot write {}: {error}", script.display()))?;
        let list: String = jobs
            .iter()
            .map(|(target, file)| {
                let ptx = file.with_extension("ptx");
                format!(
                    "{}\t{}\t{}\n",
                    architecture(*target),
                    file.display(),
                    ptx.display()
                )
            })
            .collect();
        let failed =
            |error: std::io::Error| format!("cannot run {}: {error}", self.python.display());
        let mut child = Command::new(&self.python)
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take();
        // The answers are longer than a pipe holds, so the list is written beside reading them.
        let answers = std::thread::scope(|scope| {
            scope.spawn(|| input.map(|mut input| input.write_all(list.as_bytes())));
            child.wait_with_output()
        });
        let answers = answers.map_err(failed)?;
        Ok(String::from_utf8_lossy(&answers.stdout)
            .lines()
            .map(|line| match line.split_once('\t') {
                None => Ok(()),
                Some((_, message)) => Err(format!("NVRTC: {}", message.replace('\u{b}', "\n"))),
            })
            .collect())
    }
}

/// The name that CubeCL gives to the target's architecture.
fn architecture(target: Target) -> String {
    let version = target.compute_capability().unwrap_or(0);
    let family = if version >= 90 { "a" } else { "" };
    format!("sm_{version}{family}")
}

/// What a program prints, or the end of what it complains about.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(format!(
            "{}{complaint}",
            String::from_utf8_lossy(&output.stdout)
        ));
    }
    let lines: Vec<&str> = complaint.trim().lines().collect();
    let last = lines[lines.len().saturating_sub(4)..].join(" / ");
    Err(format!("{name}: {last}"))
}

/// The numbers in what `ptxas -v` prints of one kernel.
fn usage(told: &str) -> Option<Usage> {
    let before = |words: &str| {
        let (front, _) = told.split_once(words)?;
        front
            .rsplit(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    Some(Usage {
        registers: before(" registers")?,
        spill_bytes: before(" bytes spill stores")? + before(" bytes spill loads")?,
        stack_bytes: before(" bytes stack frame")?,
        shared_bytes: before(" bytes smem").unwrap_or(0) as usize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ptxas_prints_is_read() {
        let told = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'rows' for 'sm_90a'\n\
            ptxas info    : Function properties for rows\n    \
            16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 96 registers, used 1 barriers, 2048 bytes smem, 408 bytes cmem[0]\n";
        let expected = Usage {
            registers: 96,
            spill_bytes: 20,
            stack_bytes: 16,
            shared_bytes: 2048,
        };
        assert_eq!(usage(told), Some(expected));
        assert_eq!(usage("ptxas info    : 0 bytes gmem"), None);
    }

    #[test]
    fn a_missing_python_is_a_reason() {
        let reason = Toolkit::find(Path::new("/nowhere/python")).err();
        assert!(reason.is_some_and(|r| r.contains("/nowhere/python")));
    }
}
