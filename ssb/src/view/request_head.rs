//! Reading the head of a request and writing a whole response.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head that is read.
const LONGEST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// A head must be complete within this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Method, path and headers; names in lower case.
#[derive(Debug, Clone)]
pub struct RequestHead {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
}

/// Why there is no head to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoHead {
    /// Not HTTP, or too long.
    Bad,
    /// The other side went away or took too long.
    Gone,
}

impl RequestHead {
    /// The value of a header, when it is there exactly once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(n, _)| n == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// Reads a head, and returns it with the bytes that came behind it.
    pub fn read(stream: &mut TcpStream) -> Result<(Self, Vec<u8>), NoHead> {
        let since = Instant::now();
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let left = PATIENCE.saturating_sub(since.elapsed());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(NoHead::Gone);
            }
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return Err(NoHead::Gone),
                Ok(n) => bytes.extend_from_slice(&piece[..n]),
            }
            if let Some((head, used)) = Self::parse(&bytes)? {
                return Ok((head, bytes.split_off(used)));
            }
            if bytes.len() > LONGEST_HEAD {
                return Err(NoHead::Bad);
            }
        }
    }

    /// The head and its length, once it is complete.
    fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, NoHead> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(bytes) {
            Err(_) => Err(NoHead::Bad),
            Ok(httparse::Status::Partial) => Ok(None),
            Ok(httparse::Status::Complete(used)) => {
                let path = request.path.unwrap_or_default();
                let headers = request
                    .headers
                    .iter()
                    .map(|h| {
                        let value = String::from_utf8_lossy(h.value).into_owned();
                        (h.name.to_ascii_lowercase(), value)
                    })
                    .collect();
                let head = Self {
                    method: request.method.unwrap_or_default().to_owned(),
                    path: path.split('?').next().unwrap_or_default().to_owned(),
                    headers,
                };
                Ok(Some((head, used)))
            }
        }
    }
}

/// Writes a response and ends the connection.
pub fn respond(stream: &mut TcpStream, status: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    // Whoever asked may be gone; nobody is left to be told.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body))
        .and_then(|()| stream.shutdown(std::net::Shutdown::Write));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_once_they_are_complete() {
        let text = b"GET /a/b?c HTTP/1.1\r\nHost: x\r\nOrigin: y\r\nORIGIN: z\r\n\r\nrest";
        for end in 0..text.len() - 4 {
            assert!(RequestHead::parse(&text[..end]).unwrap().is_none(), "{end}");
        }
        let (head, used) = RequestHead::parse(text).unwrap().unwrap();
        assert_eq!((head.path.as_str(), &text[used..]), ("/a/b", &b"rest"[..]));
        assert_eq!(head.header("host"), Some("x"));
        // A header that is there twice has no value.
        assert_eq!(head.header("origin"), None);
        let bad = RequestHead::parse(b"\x00\x01\x02 hello\r\n\r\n");
        assert_eq!(bad.err(), Some(NoHead::Bad));
    }
}
