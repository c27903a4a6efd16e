//! A page without a browser: the socket alone.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use crate::serving::Serving;

pub struct Client {
    pub socket: WebSocket<TcpStream>,
}

/// What came over the socket.
pub enum Told {
    Document(Value),
    Frame(Value, Vec<f32>),
}

fn stream(serving: &Serving) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", serving.port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
}

/// Opens the socket at a path with these headers; the status of the refusal otherwise.
pub fn connect(
    serving: &Serving,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<Client, u16> {
    let url = format!("ws://127.0.0.1:{}{path}", serving.port);
    let mut request = url.into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match tungstenite::client::client(request, stream(serving)) {
        Ok((socket, _)) => Ok(Client { socket }),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            Err(response.status().as_u16())
        }
        Err(e) => panic!("{e}"),
    }
}

impl Client {
    pub fn open(serving: &Serving) -> Self {
        let origin = format!("http://127.0.0.1:{}", serving.port);
        let path = format!("{}socket", serving.path());
        connect(serving, &path, &[("origin", &origin)]).unwrap_or_else(|e| panic!("status {e}"))
    }

    pub fn send(&mut self, document: &Value) {
        self.socket
            .send(Message::text(document.to_string()))
            .unwrap();
    }

    pub fn want(&mut self, id: u64, c10_nm: f64, dragging: bool) {
        self.send(&json!({
            "kind": "image", "id": id, "candidate": {"C10_nm": c10_nm, "C12_nm": 3}, "dragging": dragging,
            "planes": ["phase"],
        }));
    }

    pub fn next(&mut self) -> Told {
        loop {
            match self.socket.read().unwrap() {
                Message::Text(text) => return Told::Document(serde_json::from_str(&text).unwrap()),
                Message::Binary(bytes) => {
                    let head = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
                    let header = serde_json::from_slice(&bytes[4..4 + head]).unwrap();
                    let values = bytes[4 + head..]
                        .chunks_exact(4)
                        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
                        .collect();
                    return Told::Frame(header, values);
                }
                _ => {}
            }
        }
    }

    /// The next document of a kind.
    pub fn document(&mut self, kind: &str) -> Value {
        loop {
            if let Told::Document(document) = self.next()
                && document["kind"] == kind
            {
                return document;
            }
        }
    }

    /// The next picture, with its header.
    pub fn image(&mut self) -> (Value, Vec<f32>) {
        loop {
            if let Told::Frame(header, values) = self.next()
                && header["kind"] == "image"
            {
                return (header, values);
            }
        }
    }
}
