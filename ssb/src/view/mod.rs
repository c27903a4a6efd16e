//! `ssb view`: a page in the browser on which aberrations are steered while the picture follows.
//!
//! One thread computes ([`compute`]); it owns the prepared sessions and does what the desk ([`desk`]) hands
//! out. Every page is a connection with two threads ([`socket`]): one reads messages and puts wishes on the
//! desk, one sends what waits in its outbox ([`outbox`]). The server listens on the loopback interface only,
//! and a random token in the address, the `Host` and the `Origin` are checked before anything else
//! ([`gate`]). Messages are JSON, arrays travel as float32 behind a JSON header ([`frame`]).

mod assets;
mod compute;
mod desk;
mod drawing;
mod fitting;
mod frame;
mod gate;
mod message;
mod outbox;
mod prepare;
mod request_head;
mod saving;
mod session_document;
mod socket;
mod standing;

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use ssb_core::Control;

pub use compute::Setup;
pub use prepare::{Place, Prepared};
pub use saving::Folder;
pub use session_document::Beginning;

use crate::Error;
use compute::Compute;
use desk::Desk;
use gate::Gate;
use socket::Server;

/// How often the end of the program is looked for.
const WATCH: Duration = Duration::from_millis(40);

/// A bound port with its token, before anything is served.
pub struct Listening {
    listener: TcpListener,
    gate: Gate,
}

impl Listening {
    /// Binds a port of the loopback interface; 0 is any free one.
    ///
    /// # Errors
    /// A port that is taken or not allowed.
    pub fn on(port: u16) -> Result<Self, Error> {
        let bad = |e: std::io::Error| {
            Error::request(
                format!("--port {port}"),
                format!("it cannot be listened on: {e}"),
                "give another port, or 0 for any free one",
            )
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(bad)?;
        let gate = Gate::new(listener.local_addr().map_err(bad)?)?;
        Ok(Self { listener, gate })
    }

    /// The address to open, with its token.
    pub fn address(&self) -> String {
        self.gate.address()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.gate.port()
    }

    /// Serves until `control` is cancelled.
    ///
    /// # Errors
    /// Threads that the system refuses, or a fault that ended the computing thread.
    pub fn serve(self, setup: Setup, prepared: Prepared, control: &Control) -> Result<(), Error> {
        let desk = Arc::<Desk>::default();
        let compute = Compute::new(Arc::clone(&desk), setup, prepared);
        let fault = |what: &str| Error::from(ssb_core::Error::Internal(what.into()));
        let computing = std::thread::Builder::new()
            .name("compute".into())
            .spawn(move || compute.run())
            .map_err(|e| fault(&format!("no thread to compute on: {e}")))?;
        let server = Server {
            gate: self.gate,
            desk: Arc::clone(&desk),
            connections: Arc::new(AtomicUsize::new(0)),
        };
        let listener = self.listener;
        // It ends with the program: nothing wakes it from waiting for a connection.
        std::thread::Builder::new()
            .name("accept".into())
            .spawn(move || server.accept(&listener))
            .map_err(|e| fault(&format!("no thread to listen on: {e}")))?;
        while !control.is_cancelled() && !computing.is_finished() {
            std::thread::sleep(WATCH);
        }
        desk.close();
        computing
            .join()
            .map_err(|_| fault("the computing thread panicked; the message above says where"))
    }
}
