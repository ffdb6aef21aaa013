//! One answer, whole: to see whether a server is there, and whether two give the same.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};
use skep_client::{Response, exchange};

use super::target::Address;
use super::tls::Tls;
use super::{RequestSpec, Target, Trust, Version, h2};

/// An answer, whole.
///
/// See [`fetch`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedResponse {
    /// The status code.
    pub status: u16,
    /// Names in small letters, and values, as they came.
    pub fields: Vec<(String, String)>,
    /// The body, without chunks.
    pub body: Vec<u8>,
    /// From before the connection was made to the end of the answer.
    pub took: Duration,
}

impl FetchedResponse {
    /// The first field of this name (small letters). See [`fetch`].
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }
}

/// Asks once, over a connection of its own, and waits.
///
/// ```no_run
/// use std::time::Duration;
/// use skep_bench::load::{RequestSpec, Trust, Version, fetch};
///
/// let target = "http://127.0.0.1:8080/".parse()?;
/// let answer = fetch(&target, &RequestSpec::get("/"), &Trust::System, Version::Http1, Duration::from_secs(5))?;
/// assert_eq!(answer.field("content-type"), Some("text/html"));
/// # Ok::<(), String>(())
/// ```
pub fn fetch(
    target: &Target,
    spec: &RequestSpec,
    trust: &Trust,
    version: Version,
    patience: Duration,
) -> Result<FetchedResponse, String> {
    let begun = Instant::now();
    let (status, fields, body) = match version {
        Version::Http1 => over_http1(target, spec, trust, patience),
        Version::Http2 => h2::fetch(target, spec, trust, patience),
    }?;
    Ok(FetchedResponse { status, fields, body, took: begun.elapsed() })
}

fn over_http1(target: &Target, spec: &RequestSpec, trust: &Trust, patience: Duration) -> Result<h2::Whole, String> {
    let address = target.resolve()?;
    let tls = Tls::of(target, trust, b"http/1.1")?;
    let wrong = |error: io::Error| format!("{address}: {error}");
    let bytes = spec.written(target, false);
    match &address {
        Address::Tcp(to) => {
            let stream = TcpStream::connect_timeout(to, patience).map_err(wrong)?;
            stream.set_read_timeout(Some(patience)).map_err(wrong)?;
            stream.set_write_timeout(Some(patience)).map_err(wrong)?;
            stream.set_nodelay(true).map_err(wrong)?;
            talk(stream, tls, &bytes, spec.is_head(), patience)
        }
        Address::Unix(path) => {
            let stream = UnixStream::connect(path).map_err(wrong)?;
            stream.set_read_timeout(Some(patience)).map_err(wrong)?;
            stream.set_write_timeout(Some(patience)).map_err(wrong)?;
            talk(stream, tls, &bytes, spec.is_head(), patience)
        }
    }
    .map_err(|text| format!("{address}: {text}"))
}

fn talk(
    mut stream: impl Read + Write,
    tls: Option<Tls>,
    request: &[u8],
    to_head: bool,
    patience: Duration,
) -> Result<h2::Whole, String> {
    let whole = |response: Response| (response.status, response.fields, response.body);
    let Some(tls) = tls else {
        return exchange(&mut stream, request, to_head, patience).map(whole).map_err(|error| error.to_string());
    };
    let connection = ClientConnection::new(Arc::clone(&tls.config), tls.name).map_err(|error| error.to_string())?;
    let mut stream = StreamOwned::new(connection, stream);
    exchange(&mut stream, request, to_head, patience).map(whole).map_err(|error| error.to_string())
}
