//! A real Chromium, driven over its DevTools socket.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
const PATIENCE: Duration = Duration::from_secs(90);

/// Where Chromium is; `None` when it is not there and need not be.
pub fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|file| file.is_file());
    assert!(
        found.is_some() || std::env::var_os("SSB_REQUIRE_CHROMIUM").is_none(),
        "SSB_REQUIRE_CHROMIUM is set and no Chromium was found: apt-get install chromium"
    );
    found
}

/// One page of a running browser.
pub struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    calls: u64,
    /// Errors that the console or the page reported.
    pub problems: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    pub fn open(program: PathBuf, address: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let child = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-port=0",
            ])
            .args([
                "--no-first-run",
                "--disable-dev-shm-usage",
                "--window-size=1280,720",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let told = profile.path().join("DevToolsActivePort");
        let since = Instant::now();
        let (port, path) = loop {
            let text = std::fs::read_to_string(&told).unwrap_or_default();
            if let Some((port, path)) = text.trim().split_once('\n') {
                break (port.parse::<u16>().unwrap(), path.to_owned());
            }
            assert!(since.elapsed() < PATIENCE, "Chromium did not start");
            std::thread::sleep(Duration::from_millis(50));
        };
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client::client(url, stream).unwrap();
        let mut browser = Self {
            child,
            socket,
            session: String::new(),
            calls: 0,
            problems: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.call(domain, json!({}));
        }
        let size = json!({"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false});
        browser.call("Emulation.setDeviceMetricsOverride", size);
        browser.call("Page.navigate", json!({"url": address}));
        browser
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        let is_error = match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => true,
            "Runtime.consoleAPICalled" => params["type"] == "error",
            "Log.entryAdded" => params["entry"]["level"] == "error",
            _ => false,
        };
        if is_error {
            self.problems.push(params.to_string());
        }
    }

    /// Calls a method of the DevTools protocol.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket
            .send(Message::text(message.to_string()))
            .unwrap();
        loop {
            let Message::Text(text) = self.socket.read().unwrap() else {
                continue;
            };
            let answer: Value = serde_json::from_str(&text).unwrap();
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    /// The value of an expression.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    pub fn text(&mut self, id: &str) -> String {
        let text = self.value(&format!("document.getElementById('{id}').textContent"));
        text.as_str().unwrap().to_owned()
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let since = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            if since.elapsed() > PATIENCE {
                let status = self.value("document.body.innerText");
                panic!(
                    "{expression} did not come true: {status} {:?}",
                    self.problems
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A mouse event at a point of the window.
    pub fn mouse(&mut self, kind: &str, x: f64, y: f64) {
        let buttons = i32::from(kind != "mouseReleased");
        let params = json!({
            "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1,
        });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// The middle, width and height of an element.
    pub fn place(&mut self, id: &str) -> [f64; 4] {
        let b = self.value(&format!(
            "(() => {{ const b = document.getElementById('{id}').getBoundingClientRect(); \
             return [b.x, b.y, b.width, b.height]; }})()"
        ));
        [0, 1, 2, 3].map(|i| b[i].as_f64().unwrap())
    }

    pub fn click(&mut self, id: &str) {
        let [x, y, w, h] = self.place(id);
        self.click_at(x + w / 2.0, y + h / 2.0);
    }

    pub fn click_at(&mut self, x: f64, y: f64) {
        self.mouse("mousePressed", x, y);
        self.mouse("mouseReleased", x, y);
    }

    /// Drags with Shift held.
    pub fn shift_drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        let ways = [
            ("mousePressed", from),
            ("mouseMoved", to),
            ("mouseReleased", to),
        ];
        for (kind, [x, y]) in ways {
            let params = json!({
                "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1, "modifiers": 8,
                "buttons": i32::from(kind != "mouseReleased"),
            });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// Presses a key that types a character.
    pub fn key(&mut self, key: &str) {
        let code = key.chars().next().unwrap().to_ascii_uppercase();
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({"type": kind, "key": key, "code": format!("Key{code}")});
            if kind == "keyDown" {
                params["text"] = json!(key);
            }
            self.call("Input.dispatchKeyEvent", params);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
