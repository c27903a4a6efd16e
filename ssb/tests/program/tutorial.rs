//! The tutorial as a newcomer follows it: its commands in its order, what it quotes, its pictures.
//!
//! `SSB_UPDATE_DOCS=1` writes the pictures anew.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::simulated::{Data, program};

/// Share of a number, and units of its last digit, by which another processor may differ.
const SHARE: f64 = 0.005;
const LAST_DIGITS: f64 = 1.5;
/// The same of an uncertainty, which holds the distance of two estimates.
const SHARE_OF_SIGMA: f64 = 0.3;
/// Mean distance of two pictures' samples, of 255: the device's name is written in them.
const SAME_PICTURE: f64 = 2.0;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[derive(Debug, PartialEq)]
enum Part {
    Commands(Vec<String>),
    Quoted(Vec<String>),
    /// A command that runs until it is stopped.
    Viewer(String),
    Picture(String),
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|l| *l != "```");
            let block: Vec<String> = block.map(str::to_owned).collect();
            parts.push(match language {
                "sh" => {
                    let whole = block.join("\n").replace("\\\n", " ");
                    Part::Commands(whole.lines().map(str::to_owned).collect())
                }
                "text" => Part::Quoted(block),
                other => panic!("a block of `{other}`: write sh or text"),
            });
        } else if let Some(command) = line.strip_prefix("    ssb ") {
            assert!(command.starts_with("view "), "{line}: write it in a block");
            parts.push(Part::Viewer(command.to_owned()));
        } else if let Some((_, rest)) = line.split_once("](tutorial/") {
            parts.push(Part::Picture(rest.trim_end_matches(')').to_owned()));
        }
    }
    parts
}

fn words(text: &str) -> Vec<String> {
    let apart = text.replace([',', '(', ')', '[', ']', '`', '%'], " ");
    apart.split_whitespace().map(str::to_owned).collect()
}

/// Whether two lines say the same, up to what another processor may change in a number.
fn alike(quoted: &str, told: &str) -> bool {
    let (quoted, told) = (words(quoted), words(told));
    quoted.len() == told.len()
        && quoted.iter().zip(&told).enumerate().all(|(i, (q, t))| {
            let (Ok(a), Ok(b)) = (q.parse::<f64>(), t.parse::<f64>()) else {
                return q == t;
            };
            let decimals = q.split_once('.').map_or(0, |(_, d)| d.len() as i32);
            let sigma = i > 0 && quoted[i - 1] == "±";
            let share = if sigma { SHARE_OF_SIGMA } else { SHARE };
            (a - b).abs() <= share * a.abs() + LAST_DIGITS * 10f64.powi(-decimals)
        })
}

/// Size and samples.
fn picture(path: &Path) -> ((u32, u32), Vec<u8>) {
    let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut samples).unwrap();
    ((info.width, info.height), samples)
}

fn distance(a: &[u8], b: &[u8]) -> f64 {
    let sum: u64 = a
        .iter()
        .zip(b)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    sum as f64 / a.len() as f64
}

/// Starts the viewer, waits for its address, and ends it.
fn view(command: &str, folder: &Path) {
    let mut viewer = program()
        .args(command.split_whitespace())
        .args(["--no-open", "--json"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = viewer.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    viewer.kill().unwrap();
    viewer.wait().unwrap();
    assert!(line.contains("http://127.0.0.1"), "{command}: {line}");
}

#[test]
fn the_tutorial_ends_at_its_pictures() {
    let text = std::fs::read_to_string(docs().join("tutorial.md")).unwrap();
    let parts = parts(&text);
    let data = Data::empty("none");
    let folder = data.folder.path();
    let mut told: Vec<String> = Vec::new();
    let (mut run, mut compared, mut pictures) = (0, 0, Vec::new());
    for (i, part) in parts.iter().enumerate() {
        match part {
            Part::Commands(commands) => {
                told.clear();
                let fails = match parts.get(i + 1) {
                    Some(Part::Quoted(lines)) => lines.iter().all(|l| l.starts_with("error: ")),
                    _ => false,
                };
                for command in commands {
                    let args = command
                        .strip_prefix("ssb ")
                        .unwrap_or_else(|| panic!("{command}: the tutorial runs nothing but ssb"));
                    let output = program()
                        .args(args.split_whitespace())
                        .current_dir(folder)
                        .output()
                        .unwrap();
                    let said = String::from_utf8(output.stderr).unwrap();
                    let code = output.status.code();
                    assert_eq!(code, Some(i32::from(fails)), "{command}: {said}");
                    told.extend(said.lines().map(str::to_owned));
                    told.extend(
                        String::from_utf8(output.stdout)
                            .unwrap()
                            .lines()
                            .map(str::to_owned),
                    );
                    run += 1;
                }
            }
            Part::Quoted(lines) => {
                let mut rest = told.iter();
                for line in lines {
                    let found = rest.any(|t| alike(line, t));
                    assert!(found, "not said, or not in this order: {line}\n{told:#?}");
                    compared += 1;
                }
            }
            #[cfg(feature = "view")]
            Part::Viewer(command) => view(command, folder),
            #[cfg(not(feature = "view"))]
            Part::Viewer(_) => {}
            Part::Picture(name) => pictures.push(name),
        }
    }
    assert!(
        run >= 10 && compared >= 20,
        "{run} commands, {compared} lines"
    );
    assert_eq!(pictures, ["uncorrected.png", "figure.png", "faint.png"]);
    for name in pictures {
        let (made, kept) = (folder.join(name), docs().join("tutorial").join(name));
        if std::env::var_os("SSB_UPDATE_DOCS").is_some() {
            std::fs::copy(&made, &kept).unwrap();
        }
        let (made, kept) = (picture(&made), picture(&kept));
        assert_eq!(made.0, kept.0, "{name}");
        let apart = distance(&made.1, &kept.1);
        assert!(apart < SAME_PICTURE, "{name}: {apart:.2} of 255 apart");
    }
    // The comparison tells pictures apart.
    let [blurred, sharp] = ["uncorrected.png", "faint.png"].map(|n| picture(&folder.join(n)));
    assert!(distance(&blurred.1, &sharp.1) > 5.0 * SAME_PICTURE);
}

#[test]
fn quotes_are_compared_by_their_numbers() {
    assert!(alike(
        "C10 15.126 nm (± 0.085 nm)",
        "C10   15.127 nm   (± 0.084 nm)"
    ));
    assert!(!alike("C10 15.126 nm", "C10 15.3 nm"));
    assert!(!alike("C10 15.126 nm", "C12 15.126 nm"));
    assert!(!alike("C10 15.126 nm", "C10 15.126 nm more"));
    let text = "a\n```sh\nssb \\\nx\n```\n    ssb view r.h5\n![b](tutorial/p.png)\n";
    let expected = [
        Part::Commands(vec!["ssb  x".into()]),
        Part::Viewer("view r.h5".into()),
        Part::Picture("p.png".into()),
    ];
    assert_eq!(parts(text), expected);
}
