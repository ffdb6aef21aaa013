//! What the browser talks to: a proxy in front of the application, with some pages of its own.
//!
//! Each request has a connection of its own to the application, so that none is lost with a connection that a swap
//! closes. Everything passes unchanged, except pages for a browser, which get the [script](crate::inject).
//!
//! Start reading at [`Front::answer`].

mod about;
mod headers;
pub(crate) mod mails;
mod own;

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HOST, HeaderValue, LOCATION};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::editor::Editor;
use crate::inject::Injected;
use crate::policy;
use crate::program::Program;
use crate::state::{DevState, News};
use crate::tls::{Origin, Stream, Tls, Upstream};

pub(crate) use about::pages;

type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// A client that connects and says nothing is gone after this time.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// What is in front of the application.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) origin: Origin,
    pub(crate) upstream: Upstream,
    pub(crate) program: Program,
    pub(crate) news: Arc<News>,
    pub(crate) editor: Editor,
    /// Files in errors are named relative to it.
    pub(crate) workspace: PathBuf,
    pub(crate) name: String,
    /// Of script tags, where a policy demands one.
    pub(crate) nonce: String,
}

impl Front {
    /// Accepts connections, for ever.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener) {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Too many open files: the next one may have more luck.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            tokio::spawn(Arc::clone(&self).converse(stream));
        }
    }

    /// Answers the requests of a connection.
    async fn converse(self: Arc<Self>, stream: TcpStream) {
        let (is_plain, stream): (bool, Stream) = match &self.upstream.tls {
            None => (false, Box::new(stream)),
            Some(tls) => match timeout(HANDSHAKE, accept(tls, stream)).await {
                Ok(Ok(accepted)) => accepted,
                _ => return,
            },
        };
        let service = service_fn(move |request| {
            let front = Arc::clone(&self);
            async move { Ok::<_, Infallible>(if is_plain { redirect(&request) } else { front.answer(request).await }) }
        });
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let _ = connection.with_upgrades().await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if let Some(name) = request.uri().path().strip_prefix("/-/dev/") {
            return self.own(name, &request).await;
        }
        // Before the request is sent: a page is never taken for one of a later version.
        let state = self.news.now();
        let is_page = headers::wants_page(request.headers());
        let stream = match self.upstream.connect().await {
            Ok(stream) if state.serves => stream,
            _ => return self.waiting(&request, is_page),
        };
        let (method, headers) = (request.method().clone(), request.headers().clone());
        match forward(request, stream, is_page).await {
            Ok(response) if is_page && headers::is_whole_page(&response) => self.with_script(response, &method, &state),
            Ok(response) => response.map(BodyExt::boxed_unsync),
            Err(error) => self.lost(&headers, &error),
        }
    }

    /// The page with the script in it.
    fn with_script(&self, response: Response<Incoming>, method: &Method, state: &DevState) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        let tag = self.script_tag(state, method);
        if let Some(length) =
            parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok())
        {
            parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length + tag.len() as u64));
        }
        for value in
            parts.headers.iter_mut().filter(|(name, _)| *name == CONTENT_SECURITY_POLICY).map(|(_, value)| value)
        {
            let allowed = value.to_str().map(|policy| policy::allow(policy, &self.nonce));
            *value =
                allowed.ok().and_then(|policy| HeaderValue::try_from(policy).ok()).unwrap_or_else(|| value.clone());
        }
        headers::never_store(&mut parts.headers);
        Response::from_parts(parts, Injected::new(body, tag).boxed_unsync())
    }

    /// `data-post`: loading it again would send the form again.
    fn script_tag(&self, state: &DevState, method: &Method) -> String {
        let post = if method == Method::POST { " data-post" } else { "" };
        format!(
            "<script src=\"/-/dev/reload.js\" nonce=\"{}\" data-version=\"{}\" data-styles=\"{}\"{post}></script>",
            self.nonce, state.version, state.styles
        )
    }
}

/// The connection, and whether it begins with plain HTTP: the first byte of TLS is no letter.
async fn accept(tls: &Tls, stream: TcpStream) -> io::Result<(bool, Stream)> {
    const HANDSHAKE_RECORD: u8 = 22;
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first[0] == HANDSHAKE_RECORD { Ok((false, tls.accept(stream).await?)) } else { Ok((true, Box::new(stream))) }
}

/// To the same page with `https`. Browsers would keep a permanent one, also for what is here tomorrow without TLS.
fn redirect(request: &Request<Incoming>) -> Response<Body> {
    let mut response = whole(StatusCode::TEMPORARY_REDIRECT, "text/plain; charset=utf-8", "this is https\n");
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    if let Ok(location) = HeaderValue::try_from(format!("https://{host}{path}")) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Sends the request to the application. An upgrade goes on by itself.
async fn forward(
    mut request: Request<Incoming>,
    stream: Stream,
    is_page: bool,
) -> Result<Response<Incoming>, hyper::Error> {
    let upgrade = headers::upgrade(request.headers());
    let client = upgrade.is_some().then(|| hyper::upgrade::on(&mut request));
    headers::prepare_request(&mut request, upgrade.as_ref(), is_page);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    let mut response = sender.send_request(request).await?;
    let switched =
        headers::upgrade(response.headers()).filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS);
    if let (Some(client), Some(_)) = (client, &switched) {
        let server = hyper::upgrade::on(&mut response);
        tokio::spawn(async move {
            let (client, server) = tokio::try_join!(client, server)?;
            let (mut client, mut server) = (TokioIo::new(client), TokioIo::new(server));
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            Ok::<(), hyper::Error>(())
        });
    }
    headers::prepare_response(&mut response, switched.as_ref());
    Ok(response)
}

fn whole(status: StatusCode, content_type: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(text.into()).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers::protect(response.headers_mut());
    response
}

#[cfg(test)]
#[path = "../tests/unit/front.rs"]
mod tests;
