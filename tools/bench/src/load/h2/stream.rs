//! One HTTP/2 connection, opened when it is needed, and again after it broke.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;

use crate::load::target::Address;
use crate::load::tls::Tls;
use crate::load::{ErrorKind, Plan, RequestSpec, Target};

/// How much a server may send before we have read it, on a stream and on a connection.
const WINDOWS: (u32, u32) = (1 << 20, 1 << 24);

/// Where to, and what is asked for.
pub(super) struct Way {
    address: Address,
    tls: Option<Tls>,
    requests: Vec<(http::Request<()>, Bytes)>,
    largest: u64,
    reuse: bool,
}

impl Way {
    pub(super) fn new(plan: &Plan) -> Result<Self, String> {
        Ok(Self {
            address: plan.target.resolve()?,
            tls: Tls::of(&plan.target, &plan.trust, b"h2")?,
            requests: plan.requests.iter().map(|spec| request(spec, &plan.target)).collect::<Result<_, _>>()?,
            largest: plan.largest,
            reuse: plan.reuse,
        })
    }
}

fn request(spec: &RequestSpec, target: &Target) -> Result<(http::Request<()>, Bytes), String> {
    let host = spec.headers.iter().find(|(name, _)| name == "host").map_or(target.authority(), |(_, host)| host);
    let mut builder = http::Request::builder()
        .version(http::Version::HTTP_2)
        .method(spec.method.as_str())
        .uri(format!("{}://{host}{}", target.scheme(), spec.path));
    for (name, value) in spec.headers.iter().filter(|(name, _)| name != "host") {
        builder = builder.header(name, value);
    }
    let wrong = |error| format!("{} {} is no request of HTTP/2: {error}", spec.method, spec.path);
    Ok((builder.body(()).map_err(wrong)?, Bytes::from(spec.body.clone())))
}

/// Why a request failed.
pub(super) struct Failure {
    pub(super) kind: ErrorKind,
    pub(super) text: String,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl From<h2::Error> for Failure {
    fn from(error: h2::Error) -> Self {
        // The library knows its own frames only; a server that speaks HTTP/1.1 sends something else.
        let kind = if error.is_io() || error.is_go_away() { ErrorKind::Closed } else { ErrorKind::Malformed };
        Self::new(kind, format!("HTTP/2: {error}"))
    }
}

/// One connection.
pub(super) struct Connection {
    way: Rc<Way>,
    client: Mutex<Option<SendRequest<Bytes>>>,
}

impl Connection {
    pub(super) fn new(way: &Rc<Way>) -> Self {
        Self { way: Rc::clone(way), client: Mutex::new(None) }
    }

    /// One more to the same server, not made yet.
    pub(super) fn another(&self) -> Self {
        Self::new(&self.way)
    }

    /// Asks, and reads the answer to its end: its status, and the bytes of its body.
    pub(super) async fn ask(&self, which: usize) -> Result<(u16, u64), Failure> {
        let outcome = self.try_ask(which, |_| {}).await;
        self.forget_if_broken(outcome.as_ref().err()).await;
        outcome.map(|(answer, bytes)| (answer.status.as_u16(), bytes))
    }

    /// The same, and keeps everything.
    pub(super) async fn fetch(&self, which: usize) -> Result<super::Whole, Failure> {
        let mut body = Vec::new();
        let (answer, _) = self.try_ask(which, |bytes| body.extend_from_slice(bytes)).await?;
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let fields = answer.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
        Ok((answer.status.as_u16(), fields.collect(), body))
    }

    async fn try_ask(
        &self,
        which: usize,
        mut body: impl FnMut(&[u8]),
    ) -> Result<(http::response::Parts, u64), Failure> {
        let mut client = self.client().await?.ready().await?;
        let (request, sent) = &self.way.requests[which];
        let (answer, mut stream) = client.send_request(request.clone(), sent.is_empty())?;
        if !sent.is_empty() {
            stream.send_data(sent.clone(), true)?;
        }
        let (head, mut rest) = answer.await?.into_parts();
        let mut bytes = 0;
        while let Some(piece) = rest.data().await {
            let piece = piece?;
            body(&piece);
            bytes += piece.len() as u64;
            if bytes > self.way.largest {
                let text = format!("an answer is larger than {} bytes (--largest)", self.way.largest);
                return Err(Failure::new(ErrorKind::TooLarge, text));
            }
            rest.flow_control().release_capacity(piece.len())?;
        }
        Ok((head, bytes))
    }

    async fn forget_if_broken(&self, failure: Option<&Failure>) {
        if failure.is_some_and(|failure| matches!(failure.kind, ErrorKind::Closed | ErrorKind::Malformed)) {
            *self.client.lock().await = None;
        }
    }

    async fn client(&self) -> Result<SendRequest<Bytes>, Failure> {
        let mut client = self.client.lock().await;
        if let Some(client) = &*client {
            return Ok(client.clone());
        }
        let refused =
            |error: std::io::Error| Failure::new(ErrorKind::Connect, format!("{}: {error}", self.way.address));
        let made = match &self.way.address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address).await.map_err(refused)?;
                stream.set_nodelay(true).map_err(refused)?;
                if !self.way.reuse {
                    // Without `TIME_WAIT`, in which a port of ours would stay for a minute.
                    sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).map_err(|error| refused(error.into()))?;
                }
                self.secured(stream).await?
            }
            Address::Unix(path) => self.secured(UnixStream::connect(path).await.map_err(refused)?).await?,
        };
        Ok(client.insert(made).clone())
    }

    async fn secured(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    ) -> Result<SendRequest<Bytes>, Failure> {
        let Some(tls) = &self.way.tls else { return handshake(stream).await };
        let secured = TlsConnector::from(tls.config.clone()).connect(tls.name.clone(), stream).await;
        let secured =
            secured.map_err(|error| Failure::new(ErrorKind::Tls, format!("no TLS with the server: {error}")))?;
        if secured.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err(Failure::new(ErrorKind::Tls, "the server does not offer HTTP/2 (ALPN h2)"));
        }
        handshake(secured).await
    }
}

async fn handshake(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Result<SendRequest<Bytes>, Failure> {
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(WINDOWS.0).initial_connection_window_size(WINDOWS.1).enable_push(false);
    let (client, connection) = builder.handshake(stream).await?;
    // How it ends, the requests on it learn.
    tokio::task::spawn_local(async move {
        let _ = connection.await;
    });
    Ok(client)
}
