//! One connection: a file of the page, or the socket over which a page is served.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use ssb_core::Control;
use ssb_io::Region;
use tungstenite::error::CapacityError;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use super::assets;
use super::desk::{Desk, Order, Stage, TabId, Task};
use super::gate::Gate;
use super::message::{LONGEST_MESSAGE, Request};
use super::outbox::Outbox;
use super::request_head::{NoHead, RequestHead, respond};

/// Connections served at a time.
const MOST_CONNECTIONS: usize = 32;
/// A page that takes nothing for this long is let go.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);

/// Everything that a connection needs.
#[derive(Clone)]
pub struct Server {
    pub gate: Gate,
    pub desk: Arc<Desk>,
    pub connections: Arc<AtomicUsize>,
}

/// A clone of the stream whose writes are whole: what reads a socket answers pings itself, beside the
/// thread that sends.
struct Half {
    stream: TcpStream,
    writing: Arc<Mutex<()>>,
}

impl Read for Half {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Half {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let _whole = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.write_all(buffer)?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(LONGEST_MESSAGE))
        .max_frame_size(Some(LONGEST_MESSAGE))
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
}

impl Server {
    /// Accepts connections for ever, each on its own thread.
    pub fn accept(&self, listener: &TcpListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // The system is short of something; asking again at once would not help.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            let server = self.clone();
            let connection = std::thread::Builder::new().name("page".into());
            let begun = connection.spawn(move || {
                if server.connections.fetch_add(1, Ordering::Relaxed) < MOST_CONNECTIONS {
                    server.serve(stream);
                }
                server.connections.fetch_sub(1, Ordering::Relaxed);
            });
            drop(begun);
        }
    }

    fn serve(&self, mut stream: TcpStream) {
        let limits = stream
            .set_write_timeout(Some(WRITE_PATIENCE))
            .and_then(|()| stream.set_nodelay(true));
        if limits.is_err() {
            return;
        }
        let (head, rest) = match RequestHead::read(&mut stream) {
            Ok(read) => read,
            Err(NoHead::Bad) => return respond(&mut stream, "400 Bad Request", &[], b""),
            Err(NoHead::Gone) => return,
        };
        let wants_socket = head
            .header("upgrade")
            .is_some_and(|u| u.eq_ignore_ascii_case("websocket"));
        let file = match self.gate.admit(&head, wants_socket) {
            Ok(file) => file,
            Err(_) => {
                let body = b"403: open the address that `ssb view` printed\n";
                return respond(&mut stream, "403 Forbidden", &[], body);
            }
        };
        if head.method != "GET" {
            return respond(
                &mut stream,
                "405 Method Not Allowed",
                &[("Allow", "GET")],
                b"",
            );
        }
        if wants_socket && file == "socket" {
            return self.page(stream, &head, rest);
        }
        match assets::find(file) {
            Some(asset) => {
                let policy = assets::policy(self.gate.port());
                let headers = [
                    ("Content-Type", asset.mime),
                    ("Content-Security-Policy", &policy),
                ];
                respond(&mut stream, "200 OK", &headers, asset.bytes.as_bytes());
            }
            None => respond(&mut stream, "404 Not Found", &[], b""),
        }
    }

    fn page(&self, mut stream: TcpStream, head: &RequestHead, rest: Vec<u8>) {
        let (Some(key), Some("13")) = (
            head.header("sec-websocket-key"),
            head.header("sec-websocket-version"),
        ) else {
            return respond(&mut stream, "400 Bad Request", &[], b"");
        };
        let accepted = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {}\r\n\r\n",
            derive_accept_key(key.as_bytes())
        );
        let begun = stream
            .write_all(accepted.as_bytes())
            .and_then(|()| stream.set_read_timeout(None))
            .and_then(|()| stream.try_clone());
        let Ok(clone) = begun else { return };
        let writing = Arc::default();
        let half = |stream| Half {
            stream,
            writing: Arc::clone(&writing),
        };
        let reader =
            WebSocket::from_partially_read(half(stream), rest, Role::Server, Some(config()));
        let writer = WebSocket::from_raw_socket(half(clone), Role::Server, Some(config()));
        let outbox = Arc::<Outbox>::default();
        let sender = {
            let outbox = Arc::clone(&outbox);
            std::thread::Builder::new()
                .name("page sender".into())
                .spawn(move || send(writer, &outbox))
        };
        if let Ok(sender) = sender {
            let tab = self.desk.join(&outbox);
            self.listen(reader, tab, &outbox);
            self.desk.leave(tab);
            outbox.close();
            // A sender that panicked has nothing left to send.
            let _ = sender.join();
        }
    }

    fn listen(&self, mut reader: WebSocket<Half>, tab: TabId, outbox: &Outbox) {
        let problem = |text: String| json!({"kind": "error", "message": text});
        loop {
            match reader.read() {
                Ok(Message::Text(text)) => {
                    let taken = Request::read(&text).and_then(|r| self.take(tab, r));
                    if let Err(text) = taken {
                        outbox.tell(&problem(text));
                    }
                }
                Ok(Message::Binary(_)) => {
                    outbox.tell(&problem("binary messages are not understood".into()));
                }
                Ok(_) => {}
                Err(tungstenite::Error::Capacity(CapacityError::MessageTooLong { .. })) => {
                    let reason = format!("messages are at most {LONGEST_MESSAGE} bytes long");
                    let _ = reader.close(Some(CloseFrame {
                        code: CloseCode::Size,
                        reason: reason.into(),
                    }));
                    return;
                }
                Err(_) => return,
            }
        }
    }

    /// Acts on a message.
    fn take(&self, tab: TabId, request: Request) -> Result<(), String> {
        match request {
            Request::Image {
                id,
                candidate,
                dragging,
                planes,
            } => {
                self.desk.want(Task {
                    tab,
                    id,
                    candidate,
                    planes,
                    dragging,
                    stage: Stage::Preview,
                });
                Ok(())
            }
            Request::Fit(fit) => {
                let desk = Arc::downgrade(&self.desk);
                let control = Control::watched(move |p| {
                    if let Some(desk) = desk.upgrade() {
                        desk.tell_all(&json!({
                            "kind": "progress", "task": p.task, "done": p.done, "total": p.total,
                        }));
                    }
                });
                self.desk.order(tab, Order::Fit(fit, control))
            }
            Request::CancelFit {} => {
                self.desk.cancel_fit();
                Ok(())
            }
            Request::Disk {
                center_px,
                radius_px,
            } => self.desk.order(
                tab,
                Order::Disk {
                    center_px,
                    radius_px,
                },
            ),
            Request::Region { rows, cols } => {
                let region = Region { rows, cols };
                self.desk.order(tab, Order::Part(Some(region)))
            }
            Request::WholeScan {} => self.desk.order(tab, Order::Part(None)),
            Request::Save(save) => self.desk.order(tab, Order::Save(save)),
        }
    }
}

/// Sends what waits until the page or the program ends.
fn send(mut writer: WebSocket<Half>, outbox: &Outbox) {
    while let Some(message) = outbox.next() {
        if writer.send(message).is_err() {
            break;
        }
    }
    let _ = writer.close(None);
    let _ = writer.flush();
    // Also ends the thread that reads; the other side may be gone already.
    let _ = writer.get_ref().stream.shutdown(Shutdown::Both);
    outbox.close();
}
