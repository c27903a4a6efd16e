//! Outputs that cannot be written, and inputs that an output would replace.

use crate::simulated::{Data, json, program, told};

#[test]
fn outputs_that_cannot_be_written() {
    let data = Data::new();
    let file = data.file.to_str().unwrap();
    for (output, word) in [
        (data.path("no/such/folder/r.h5"), "does not exist"),
        (data.folder.path().to_owned(), "folder"),
        (data.file.clone(), "data file"),
        (data.write("notes.txt", "mine"), "not a result"),
    ] {
        let out = output.to_str().unwrap();
        let run = program()
            .args(["reconstruct", file, "-o", out])
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", told(&run));
        assert!(
            String::from_utf8_lossy(&run.stderr).contains(word),
            "{}",
            told(&run)
        );
    }
    assert_eq!(
        std::fs::read_to_string(data.path("notes.txt")).unwrap(),
        "mine"
    );
}

#[test]
fn inputs_are_never_replaced() {
    let data = Data::new();
    let candidates = data.write("c.json", r#"[{"C10_nm": 9}]"#);
    let text = data.write("notes.txt", "not a result\n");
    let kept = |path: &std::path::Path| std::fs::read(path).unwrap();
    let before = [&data.file, &candidates, &text].map(|p| kept(p));
    let listing = data.listing();
    let (file, list, notes) = (
        data.file.to_str().unwrap(),
        candidates.to_str().unwrap(),
        text.to_str().unwrap(),
    );
    for (verb, args) in [
        ("eval", vec!["--candidates", list, "--save-phase", file]),
        ("eval", vec!["--candidates", list, "--save-object", list]),
        ("eval", vec!["--candidates", list, "--trace", file]),
        ("eval", vec!["--candidates", list, "--trace", notes]),
        ("reconstruct", vec!["-o", file, "--force"]),
        ("reconstruct", vec!["-o", notes, "--force"]),
        ("fit", vec!["-o", notes, "--force"]),
    ] {
        let (code, document) = json(verb, &data.file, &args);
        assert_eq!(code, 1, "{verb} {args:?}: {document}");
        assert_eq!(document["error"]["kind"], "output");
        assert_eq!([&data.file, &candidates, &text].map(|p| kept(p)), before);
        assert_eq!(data.listing(), listing);
    }
    // A figure does not take the place of its own result.
    let result = data.path("r.h5");
    let out = result.to_str().unwrap();
    crate::simulated::done("reconstruct", &data.file, &["-o", out]);
    let bytes = kept(&result);
    let (code, document) = json("show", &result, &["-o", out]);
    assert_eq!(code, 1, "{document}");
    assert_eq!(kept(&result), bytes);
    // Nor of a text file, whatever its name; and a figure is a PNG by name.
    let disguised = data.write("mine.png", "notes\n");
    for output in [disguised, data.path("figure.pdf")] {
        let (code, document) = json("show", &result, &["-o", output.to_str().unwrap()]);
        assert_eq!(code, 1, "{document}");
    }
    assert_eq!(std::fs::read(data.path("mine.png")).unwrap(), b"notes\n");
    assert!(!data.path("figure.pdf").exists());
    // Nor a reconstruction that of the fit it starts from.
    let (code, document) = json("reconstruct", &data.file, &["-o", out, "--from", out]);
    assert_eq!(code, 1, "{document}");
    assert_eq!(kept(&result), bytes);
    // Nor simulated data that of any file.
    let (code, document) = json("simulate", &data.file, &["--scan-shape=16x16"]);
    assert_eq!(code, 1, "{document}");
    assert_eq!(kept(&data.file), before[0]);
}

#[cfg(unix)]
#[test]
fn sockets_and_devices_are_no_outputs() {
    let data = Data::new();
    // A socket stands for every special file: a rename would take its place.
    let path = data.path("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let (code, document) = json(
        "reconstruct",
        &data.file,
        &["--force", "-o", path.to_str().unwrap()],
    );
    assert_eq!(code, 1, "{document}");
    assert_eq!(document["error"]["kind"], "output");
    assert!(std::os::unix::net::UnixStream::connect(&path).is_ok());
}
