//! Who may talk to the server: a random token in the address, and the right `Host` and `Origin`.

use std::net::SocketAddr;

use super::request_head::RequestHead;
use crate::Error;

/// The address of one run, which only those know who were told it.
#[derive(Debug, Clone)]
pub struct Gate {
    token: String,
    port: u16,
}

/// Why a request is refused; the page is not told more than the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Another name than this machine's own loopback: a rebound name.
    Host,
    /// A page of another origin.
    Origin,
    /// The token is missing or wrong.
    Token,
}

impl Gate {
    /// A gate with a new token for a bound address.
    ///
    /// # Errors
    /// [`ssb_core::Error::Internal`] where the system has no random numbers.
    pub fn new(bound: SocketAddr) -> Result<Self, Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|e| {
            ssb_core::Error::Internal(format!("the system gives no random numbers: {e}"))
        })?;
        Ok(Self {
            token: bytes.iter().map(|b| format!("{b:02x}")).collect(),
            port: bound.port(),
        })
    }

    /// The address to open.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The port that is listened on.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn is_own(&self, authority: &str) -> bool {
        ["127.0.0.1", "localhost"]
            .iter()
            .any(|name| authority == format!("{name}:{}", self.port))
    }

    /// The part of the path behind the token, e.g. `style.css`, or why the request is refused.
    ///
    /// A socket must name its origin; a plain request may leave it out, as browsers do for pages that
    /// are opened by hand.
    pub fn admit<'a>(&self, head: &'a RequestHead, socket: bool) -> Result<&'a str, Refusal> {
        if !head.header("host").is_some_and(|host| self.is_own(host)) {
            return Err(Refusal::Host);
        }
        let origin_is_own = match head.header("origin") {
            Some(origin) => origin
                .strip_prefix("http://")
                .is_some_and(|authority| self.is_own(authority)),
            None => !socket,
        };
        if !origin_is_own {
            return Err(Refusal::Origin);
        }
        let rest = head.path.strip_prefix('/').ok_or(Refusal::Token)?;
        let (token, rest) = rest.split_once('/').ok_or(Refusal::Token)?;
        if same(token.as_bytes(), self.token.as_bytes()) {
            Ok(rest)
        } else {
            Err(Refusal::Token)
        }
    }
}

/// Equality in a time that does not tell where the two differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(path: &str, headers: &[(&str, &str)]) -> RequestHead {
        RequestHead {
            method: "GET".into(),
            path: path.into(),
            headers: headers
                .iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn only_the_own_page_with_the_token_comes_in() {
        let gate = Gate::new("127.0.0.1:4000".parse().unwrap()).unwrap();
        let path = format!("/{}/socket", gate.token);
        let own = ("host", "127.0.0.1:4000");
        let ours = ("origin", "http://localhost:4000");
        let admit = |path: &str, headers: &[(&str, &str)], socket| {
            gate.admit(&head(path, headers), socket).map(str::to_owned)
        };
        assert_eq!(admit(&path, &[own, ours], true), Ok("socket".into()));
        assert_eq!(admit(&path, &[own], false), Ok("socket".into()));
        for (path, headers, socket, why) in [
            (&*path, vec![own], true, Refusal::Origin),
            (
                &*path,
                vec![own, ("origin", "http://evil.example")],
                false,
                Refusal::Origin,
            ),
            (&*path, vec![own, ("origin", "null")], true, Refusal::Origin),
            (
                &*path,
                vec![own, ("origin", "https://127.0.0.1:4000")],
                true,
                Refusal::Origin,
            ),
            (
                &*path,
                vec![("host", "evil.example:4000"), ours],
                true,
                Refusal::Host,
            ),
            (
                &*path,
                vec![("host", "127.0.0.1:4001")],
                false,
                Refusal::Host,
            ),
            (&*path, vec![], false, Refusal::Host),
            ("/", vec![own], false, Refusal::Token),
            ("/0123/socket", vec![own, ours], true, Refusal::Token),
            ("//", vec![own], false, Refusal::Token),
        ] {
            assert_eq!(
                admit(path, &headers, socket),
                Err(why),
                "{path} {headers:?}"
            );
        }
    }

    #[test]
    fn tokens_differ() {
        let of = |_| Gate::new("127.0.0.1:1".parse().unwrap()).unwrap().token;
        let (a, b) = (of(0), of(1));
        assert_ne!(a, b);
        assert_eq!(a.len(), 32);
    }
}
