//! Strangers, wrong messages, several pages: refused or served, always without harm.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

use crate::client::{Client, Told, connect};
use crate::serving::{Data, Serving, program};

/// Sends a raw request; the answer whole.
fn ask(serving: &Serving, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", serving.port)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // A refused request may be answered by a reset after the status line.
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn get(serving: &Serving, path: &str, host: &str) -> String {
    ask(
        serving,
        &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    )
}

/// The page still works.
fn works(client: &mut Client, id: u64) {
    client.want(id, 7.0, false);
    assert_eq!(client.image().0["id"], id);
    let loss = client.document("loss");
    assert_eq!(loss["id"], id);
    assert!(loss["loss"].as_f64().unwrap() > 0.0);
}

#[test]
fn strangers_are_refused() {
    let data = Data::new();
    let serving = Serving::start(&data.file, data.folder.path());
    let own = format!("127.0.0.1:{}", serving.port);
    let path = serving.path().to_owned();
    assert!(path.len() > 30, "{path}");

    let page = get(&serving, &path, &own);
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("Content-Security-Policy: default-src 'none'"));
    for (path, host, status) in [
        ("/", &*own, "403"),
        ("/style.css", &own, "403"),
        (&format!("/{}/", "0".repeat(32)), &own, "403"),
        (&path, "evil.example", "403"),
        (&path, &format!("evil.example:{}", serving.port), "403"),
        (&path, "127.0.0.1:1", "403"),
        (&format!("{path}../../Cargo.toml"), &own, "404"),
        (&format!("{path}nothing.js"), &own, "404"),
    ] {
        let answer = get(&serving, path, host);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{path} {host}: {answer}"
        );
        assert!(!answer.contains(serving.path()), "the token is not told");
    }
    let foreign =
        format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n\r\n");
    assert!(ask(&serving, &foreign).starts_with("HTTP/1.1 403"));
    let post = format!("POST {path} HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\n\r\n");
    assert!(ask(&serving, &post).starts_with("HTTP/1.1 405"));
    assert!(ask(&serving, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    let endless = format!("GET {path} HTTP/1.1\r\nX: {}", "y".repeat(40_000));
    assert!(!ask(&serving, &endless).contains("200 OK"));

    let socket = format!("{path}socket");
    let ours = format!("http://127.0.0.1:{}", serving.port);
    let refused =
        |path: &str, headers: &[(&'static str, &str)]| connect(&serving, path, headers).err();
    assert_eq!(refused(&socket, &[]), Some(403), "no origin");
    assert_eq!(
        refused(&socket, &[("origin", "http://evil.example")]),
        Some(403)
    );
    assert_eq!(refused(&socket, &[("origin", "null")]), Some(403));
    assert_eq!(refused("/socket", &[("origin", &ours)]), Some(403));
    let wrong = format!("/{}/socket", "f".repeat(32));
    assert_eq!(refused(&wrong, &[("origin", &ours)]), Some(403));
    let rebound = [("origin", &*ours), ("host", "evil.example:80")];
    assert_eq!(refused(&socket, &rebound), Some(403));

    works(&mut Client::open(&serving), 1);
}

#[test]
fn malformed_and_oversize_messages_do_no_harm() {
    let data = Data::new();
    let serving = Serving::start(&data.file, data.folder.path());
    let mut client = Client::open(&serving);
    let mut bystander = Client::open(&serving);
    let image = |candidate: Value| {
        json!({"kind": "image", "id": 9, "candidate": candidate, "dragging": false, "planes": ["phase"]})
            .to_string()
    };
    for text in [
        String::new(),
        "}{".into(),
        "[1,2]".into(),
        "[".repeat(5000),
        r#"{"kind":"shutdown"}"#.into(),
        image(json!({"C10_nm": "much"})),
        image(json!({"C10_nm": 1e300})),
        image(json!({"C11_nm": 1})),
        image(json!({"depth_spread_nm": -1})),
        json!({"kind": "disk", "center_px": [-1e9, 3], "radius_px": 2}).to_string(),
        json!({"kind": "disk", "center_px": [3, 3], "radius_px": 0}).to_string(),
        json!({"kind": "region", "rows": [0, 9000], "cols": [0, 9]}).to_string(),
        json!({"kind": "region", "rows": [9, 3], "cols": [0, 9]}).to_string(),
        json!({"kind": "save", "name": "../x.h5", "candidate": {}, "upsample": 1}).to_string(),
        json!({"kind": "save", "name": "scan.h5", "candidate": {}, "upsample": 1}).to_string(),
        json!({"kind": "save", "name": "x", "candidate": {}, "upsample": 7}).to_string(),
    ] {
        client.socket.send(Message::text(text.clone())).unwrap();
        let error = client.document("error");
        let message = error["message"].as_str().unwrap();
        assert!(message.len() > 15, "{text:.80}: {message}");
    }
    client.send(&json!({
        "kind": "fit", "method": "tpe", "candidate": {}, "search": [{"name": "C10", "low": 5, "high": -5}],
        "trials": 3, "seed": 1,
    }));
    assert_eq!(client.document("fit")["state"], "failed");
    client.socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    client.document("error");
    works(&mut client, 10);

    client
        .socket
        .send(Message::text(" ".repeat(100_000)))
        .unwrap();
    let closed = loop {
        match client.socket.read() {
            Ok(Message::Close(frame)) => break frame.map(|f| f.code),
            Ok(_) => {}
            // The rest of the message may meet a closed door.
            Err(_) => break Some(CloseCode::Size),
        }
    };
    assert_eq!(closed, Some(CloseCode::Size));
    works(&mut bystander, 11);
    works(&mut Client::open(&serving), 12);
    let names: Vec<_> = std::fs::read_dir(data.folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| !n.starts_with("scan"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_flood_of_wishes_never_queues_up_and_two_pages_are_served() {
    let data = Data::new();
    let serving = Serving::start(&data.file, data.folder.path());
    let (mut one, mut two) = (Client::open(&serving), Client::open(&serving));
    assert_eq!(
        one.document("session")["bf_pixels"],
        two.document("session")["bf_pixels"]
    );
    const FLOOD: u64 = 2000;
    for id in 1..=FLOOD {
        one.want(id, id as f64 * 0.01, id < FLOOD);
    }
    two.want(1, 9.0, false);
    let mut frames = 0;
    let mut last = 0;
    let loss = loop {
        match one.next() {
            Told::Frame(header, _) if header["kind"] == "image" => {
                let id = header["id"].as_u64().unwrap();
                assert!(id >= last, "{id} after {last}");
                last = id;
                frames += 1;
            }
            Told::Document(d) if d["kind"] == "loss" => break d,
            _ => {}
        }
    };
    assert_eq!((last, &loss["id"]), (FLOOD, &json!(FLOOD)));
    assert!(frames < FLOOD / 4, "{frames} frames of {FLOOD} wishes");
    let (_, picture) = two.image();
    assert_eq!(two.document("loss")["id"], 1);
    // The same wish gives the same picture, whoever asks.
    one.want(FLOOD + 1, 9.0, false);
    assert_eq!(one.image().1, picture);
    // A fit is told to both; the page that leaves takes nothing with it.
    one.send(&json!({
        "kind": "fit", "method": "tpe", "candidate": {"C10_nm": 5, "C12_nm": 2}, "seed": 1, "trials": 50_000,
        "search": [{"name": "C10", "low": -20, "high": 20}],
    }));
    assert_eq!(two.document("fit")["state"], "running");
    two.document("trials");
    two.send(&json!({"kind": "disk", "center_px": [9, 9], "radius_px": 5}));
    let refusal = two.document("error")["message"].to_string();
    assert!(refusal.contains("fit is running"), "{refusal}");
    // Steering goes on beside the fit.
    works(&mut two, 20);
    drop(one);
    two.send(&json!({"kind": "cancel_fit"}));
    let ended = two.document("fit");
    assert_eq!(ended["state"], "cancelled");
    assert!(ended["best"]["C10_nm"].is_f64(), "{ended}");
    works(&mut two, 21);
}

#[test]
fn another_disk_is_taken_and_recorded() {
    let data = Data::new();
    let serving = Serving::start(&data.file, data.folder.path());
    let mut client = Client::open(&serving);
    let first = client.document("session");
    client.want(1, 9.0, false);
    let (_, before) = client.image();
    let center_px = first["disk"]["center_px"].clone();
    client.send(&json!({"kind": "disk", "center_px": center_px, "radius_px": 5}));
    let second = client.document("session");
    assert_eq!(second["disk"]["radius_px"], 5.0);
    let pixels = |session: &Value| session["bf_pixels"].as_u64().unwrap();
    assert!(pixels(&second) < pixels(&first), "{second}");
    client.want(2, 9.0, false);
    let (header, after) = client.image();
    assert_eq!(header["bf_pixels"], second["bf_pixels"]);
    assert_ne!(before, after);
    client.send(&json!({
        "kind": "save", "name": "smaller", "candidate": {"C10_nm": 9, "rotation_deg": 5}, "upsample": 2,
    }));
    assert_eq!(client.document("saved")["fitted"], false);
    let saved = ssb::ResultFile::read(data.folder.path().join("smaller.h5")).unwrap();
    assert_eq!(saved.provenance.disk.radius_px, 5.0);
    assert_eq!(saved.outcome.best.rotation_deg, Some(5.0));
    assert_eq!(saved.phase_rad.dim(), (128, 120));
    // A result opens with the disk it was made with.
    drop((client, serving));
    let again = Serving::start(&data.folder.path().join("smaller.h5"), data.folder.path());
    let reopened = Client::open(&again).document("session");
    assert_eq!(reopened["disk"], second["disk"]);
    assert_eq!(reopened["candidate"]["C10_nm"], 9.0);
    assert_eq!(reopened["candidate"]["rotation_deg"], 5.0);
    let warnings = reopened["warnings"].to_string();
    assert!(!warnings.contains("hash"), "{warnings}");
}

#[test]
fn a_port_that_is_taken_is_said() {
    let data = Data::new();
    let serving = Serving::start(&data.file, data.folder.path());
    let port = format!("--port={}", serving.port);
    let second = program()
        .args([
            "view",
            data.file.to_str().unwrap(),
            &port,
            "--no-open",
            "--json",
        ])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let told = String::from_utf8_lossy(&second.stdout);
    assert!(told.contains("give another port"), "{told}");
    #[cfg(unix)]
    assert_eq!(serving.interrupt().code(), Some(0));
}
