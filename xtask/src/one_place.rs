//! `cargo xtask one-place`: a term, a backend, a topology and a file format are added to a copy of the workspace, each as
//! one file of `docs/adding` and one changed line of a registry (a format: two); the copy must build, list them, fit the term,
//! open the format and pass parity with the first three.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

/// One addition: a file, where it goes, and its lines in the registry, as they are and as they become.
struct Addition {
    file: &'static str,
    folder: &'static str,
    registry: &'static str,
    lines: &'static [[&'static str; 2]],
}

const ADDITIONS: [Addition; 4] = [
    Addition {
        file: "phase_plate.rs",
        folder: "ssb-core/src/own_terms",
        registry: "ssb-core/src/own_terms/mod.rs",
        lines: &[["own_terms!();", "own_terms!(phase_plate);"]],
    },
    Addition {
        file: "vulkan_small.rs",
        folder: "ssb-kernels/src/backend",
        registry: "ssb-kernels/src/backend/mod.rs",
        lines: &[["    webgpu,", "    webgpu, vulkan_small,"]],
    },
    Addition {
        file: "one_pixel.rs",
        folder: "ssb-kernels/src/plan",
        registry: "ssb-kernels/src/plan/mod.rs",
        lines: &[[
            "topologies!(on_chip, two_pass, stepwise);",
            "topologies!(on_chip, two_pass, stepwise, one_pixel);",
        ]],
    },
    Addition {
        file: "counted.rs",
        folder: "ssb-io/src/format",
        registry: "ssb-io/src/format/mod.rs",
        lines: &[
            ["mod companion;", "mod companion; mod counted;"],
            ["    npy::FORMAT,", "    npy::FORMAT, counted::FORMAT,"],
        ],
    },
];

const QUICK: [&str; 7] = [
    "ssb",
    "ssb-core",
    "ssb-cpu",
    "ssb-cpu-oracle",
    "ssb-io",
    "ssb-kernels",
    "ssb-testkit",
];

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Coefficient of the added term in the simulated data, in nm, and how near the fit must come.
const TRUTH_NM: f64 = 0.0005;
const WITHIN_NM: f64 = 0.00005;

/// 0: all hold; 1: something does not; 3: no Vulkan adapter, so that the kernels were not tried.
pub fn run() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    match tried(root) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            eprintln!("one-place: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tried(root: &Path) -> io::Result<bool> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let copy = target.join("one-place");
    let mut kept = BTreeSet::new();
    copied(root, root, &copy, &mut kept)?;
    for addition in &ADDITIONS {
        added(root, &copy, addition, &mut kept)?;
    }
    dropped(&copy, &copy, &kept)?;

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--workspace", "--bin", "ssb"]);
    // Ours are built quickly rather than well; the dependencies are those of the other checks.
    for package in QUICK {
        build.arg("--config");
        build.arg(format!("profile.dev.package.{package}.opt-level=1"));
    }
    build.current_dir(&copy).env("CARGO_TARGET_DIR", &target);
    done("the copy does not build", build.status()?.success())?;
    let copied = target.join("debug").join("ssb");
    // The original's program gets its place back with its next build.
    let program = target.join("one-place-ssb");
    fs::rename(copied, &program)?;
    let ssb = |args: &[&str]| answer(&program, args);

    let (_, devices) = ssb(&["devices", "--json"])?;
    let named = |v: &&Value| v["name"] == "vulkan-small";
    let backend = devices["backends"]
        .as_array()
        .and_then(|all| all.iter().find(named))
        .ok_or_else(|| wrong("`ssb devices` does not list the added backend"))?;
    println!("backend listed: {}", backend["about"]);

    let data = target.join("one-place-data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    fs::create_dir_all(&data)?;
    let path = data.join("scan.h5").to_string_lossy().into_owned();
    let truth = format!("--aberration=Cplate={TRUTH_NM}nm");
    let simulate = [
        "simulate",
        &path,
        "--scan-shape=40x44",
        "--det-shape=24x24",
        "--aberration=C10=8nm",
        &truth,
        "--json",
    ];
    let (simulated, document) = ssb(&simulate)?;
    done(&format!("simulation with the term: {document}"), simulated)?;
    let out = data.join("result.h5").to_string_lossy().into_owned();
    let fit = [
        "fit",
        &path,
        "-o",
        &out,
        "--backend=cpu",
        "--trials=120",
        "--search=C10=0nm:20nm",
        "--search=Cplate=0nm:0.001nm",
        "--fix=C12=0nm",
        "--json",
    ];
    let (fitted, document) = ssb(&fit)?;
    done(&format!("fit of the term: {document}"), fitted)?;
    let found = document["best"]["Cplate_nm"]
        .as_f64()
        .ok_or_else(|| wrong(&format!("no Cplate_nm in {document}")))?;
    println!("term fitted: {found} nm, true {TRUTH_NM} nm");
    done(
        "the fit is far from the truth",
        (found - TRUTH_NM).abs() < WITHIN_NM,
    )?;

    opened(&data, &ssb)?;

    for backend in ["cpu", "oracle"] {
        let args = ["parity", "--backend", backend, "--problems=13x17", "--json"];
        done(&format!("parity of {backend} with the term"), ssb(&args)?.0)?;
        println!("parity with the term: {backend} passes");
    }
    let usable = |v: &Value| v["unusable"].is_null();
    if !backend["devices"]
        .as_array()
        .is_some_and(|d| d.iter().any(usable))
    {
        println!("SKIPPED: no Vulkan adapter, the added backend and topology were not run");
        return Ok(false);
    }
    let args = [
        "parity",
        "--backend=vulkan-small",
        "--topology=one-pixel",
        "--problems=8x11,13x17",
        "--json",
    ];
    let (passed, document) = ssb(&args)?;
    done(&format!("parity of all three: {document}"), passed)?;
    println!("parity with the term, on the backend, by the topology: passes");
    Ok(true)
}

/// A file of the added format, whole and cut short.
fn opened(data: &Path, ssb: &impl Fn(&[&str]) -> io::Result<(bool, Value)>) -> io::Result<()> {
    let mut bytes = b"CNT1".to_vec();
    for n in [3_u32, 4, 5, 6] {
        bytes.extend(n.to_le_bytes());
    }
    bytes.extend(0.25_f64.to_le_bytes());
    let counts = (0..3 * 4 * 5 * 6).map(|i| i as u16);
    let sum: u32 = counts.clone().map(u32::from).sum();
    bytes.extend(counts.flat_map(u16::to_le_bytes));
    let path = data.join("scan.cnt");
    fs::write(&path, &bytes)?;
    let inspect = ["inspect", &path.to_string_lossy(), "--counts", "--json"];
    let (read, document) = ssb(&inspect)?;
    done(&format!("the added format: {document}"), read)?;
    let right = document["layout"] == "cnt1"
        && document["shape"] == serde_json::json!([3, 4, 5, 6])
        && document["counts_sum"] == sum
        && document["calibration"]["scan_step_a"]["value"] == serde_json::json!([0.25, 0.25]);
    done(&format!("the added format is misread: {document}"), right)?;
    fs::write(&path, &bytes[..bytes.len() - 1])?;
    let (read, document) = ssb(&inspect)?;
    let refused = !read && document["error"]["kind"] == "truncated";
    done(&format!("a file cut short is read: {document}"), refused)?;
    println!("format opened, and refused when cut short");
    Ok(())
}

fn answer(program: &Path, args: &[&str]) -> io::Result<(bool, Value)> {
    let output = Command::new(program)
        .args(args)
        .stderr(Stdio::inherit())
        .output()?;
    let document = serde_json::from_slice(&output.stdout)
        .map_err(|e| wrong(&format!("ssb {}: no JSON document: {e}", args.join(" "))))?;
    Ok((output.status.success(), document))
}

fn done(what: &str, held: bool) -> io::Result<()> {
    if held { Ok(()) } else { Err(wrong(what)) }
}

fn wrong(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}

/// Places the file and changes the one line.
fn added(
    root: &Path,
    copy: &Path,
    addition: &Addition,
    kept: &mut BTreeSet<PathBuf>,
) -> io::Result<()> {
    let text = fs::read_to_string(root.join("docs/adding").join(addition.file))?;
    let place = Path::new(addition.folder).join(addition.file);
    written(&copy.join(&place), text.as_bytes())?;
    kept.insert(place);
    let mut registry = fs::read_to_string(root.join(addition.registry))?;
    for [line, changed] in addition.lines {
        let found = registry.lines().filter(|l| l == line).count();
        done(
            &format!("{}: {found} lines are `{line}`", addition.registry),
            found == 1,
        )?;
        registry = registry.replace(&format!("\n{line}\n"), &format!("\n{changed}\n"));
    }
    written(&copy.join(addition.registry), registry.as_bytes())
}

/// Copies the workspace's files, without what is built, for what differs; notes their paths.
fn copied(root: &Path, at: &Path, copy: &Path, kept: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let registries: Vec<_> = ADDITIONS.iter().map(|a| Path::new(a.registry)).collect();
    for entry in fs::read_dir(at)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if name == "target" || name == ".git" {
            continue;
        }
        if path.is_dir() {
            copied(root, &path, copy, kept)?;
            continue;
        }
        let place = path.strip_prefix(root).unwrap_or(&path).to_owned();
        if place == Path::new("Cargo.toml") {
            // Cargo tells packages in one target folder apart by version, not by where their workspace is.
            let manifest = fs::read_to_string(&path)?;
            let (own, other) = (VERSION, format!("{VERSION}-one-place"));
            done("the workspace's version", manifest.contains(own))?;
            let manifest = manifest.replacen(own, &other, 1);
            written(&copy.join(&place), manifest.as_bytes())?;
        } else if !registries.contains(&place.as_path()) {
            written(&copy.join(&place), &fs::read(&path)?)?;
        }
        kept.insert(place);
    }
    Ok(())
}

/// Removes what an earlier run left and the workspace no longer has.
fn dropped(copy: &Path, at: &Path, kept: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(at)? {
        let path = entry?.path();
        if path.is_dir() {
            dropped(copy, &path, kept)?;
        } else if !kept.contains(path.strip_prefix(copy).unwrap_or(&path)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Writes what differs, so that cargo builds anew only what changed.
fn written(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}
