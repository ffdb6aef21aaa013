//! The request for a byte stream, and for a WebSocket on it (RFC 6455, 4.2; RFC 8441, 5).

use std::pin::pin;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONNECTION, CONTENT_LENGTH, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderName, HeaderValue, Method, StatusCode, Version};
use sha1::{Digest, Sha1};
use skep_units::panic::CatchPanic;

use super::deflate::Agreed;
use super::{CloseCode, WebSocket};
use crate::context::cx::Cx;
use crate::security::origin;
use skep_http::body::Body;
use skep_http::error::{Error, Result};
use skep_http::ext::BodyExt as _;
use skep_http::fields::list::elements;
use skep_http::request::{Parts, RequestId, Value};
use skep_http::response::Response;
use skep_http::upgrade::{self, Offer, Upgraded};

/// RFC 6455, 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

impl Cx<'_> {
    /// Accepts a WebSocket, and runs `run` on it after the response: it may own what it needs (a clone of
    /// [`db`](Self::db), values), but nothing that borrows from the request. When it returns, the connection is closed:
    /// with 1000, or with 1011 after an error, which is logged.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::websocket::WebSocket;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/echo")]
    /// struct Echo;
    ///
    /// impl Handle for Echo {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         cx.websocket(async |socket: &mut WebSocket| {
    ///             while let Some(message) = socket.receive().await? {
    ///                 socket.send(message).await?;
    ///             }
    ///             Ok(())
    ///         })
    ///     }
    /// }
    /// // A request that asks for no WebSocket:
    /// assert_eq!(skep::test::Client::new(App::new().serve(services![Echo])).get("/echo").status(), 426);
    /// ```
    ///
    /// # Errors
    /// 426 for a request that asks for none or for another version, 400 for one that does so wrongly, 403 for one of
    /// another site (unless [`App::trust_origin`](crate::App::trust_origin) has it), and 501 where the server cannot:
    /// in a component, whose host passes requests and responses only.
    pub fn websocket<F>(&self, run: F) -> crate::Result
    where
        F: AsyncFnOnce(&mut WebSocket) -> Result<()> + 'static,
    {
        self.websocket_with(&[], run)
    }

    /// [`websocket`](Self::websocket) with a subprotocol: the first of these that the client offers, which
    /// [`WebSocket::protocol`] says. A client that offers none of them is accepted, too, and may close the connection;
    /// browsers do.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::websocket::{CloseCode, WebSocket};
    ///
    /// #[derive(Service)]
    /// #[service(GET "/chat")]
    /// struct Chat;
    ///
    /// impl Handle for Chat {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         cx.websocket_with(&["chat.v2", "chat.v1"], async |socket: &mut WebSocket| {
    ///             match socket.protocol() {
    ///                 Some("chat.v2") => socket.send("hello").await?,
    ///                 Some(_) => socket.send("HELLO").await?,
    ///                 None => socket.close(CloseCode::POLICY, "speak chat.v2").await?,
    ///             }
    ///             Ok(())
    ///         })
    ///     }
    /// }
    /// # assert_eq!(skep::test::Client::new(App::new().serve(services![Chat])).get("/chat").status(), 426);
    /// ```
    ///
    /// # Errors
    /// Those of [`websocket`](Self::websocket).
    pub fn websocket_with<F>(&self, protocols: &[&'static str], run: F) -> crate::Result
    where
        F: AsyncFnOnce(&mut WebSocket) -> Result<()> + 'static,
    {
        let (parts, shared) = (self.shared().parts(), self.shared().resources().shared());
        let accept = accept(parts)?;
        if !origin::is_allowed(parts, shared.own_origins(parts, self.peer())) {
            return Err(Error::forbidden("this websocket was opened from another site"));
        }
        let (options, id, protocol) = (shared.setup.websocket, self.id(), choose(protocols, parts));
        let offers = values(parts, &SEC_WEBSOCKET_EXTENSIONS).filter(|_| options.compress > 0);
        let agreed = Agreed::of(offers);
        let mut response = self.upgrade("websocket", async move |stream| {
            serve(WebSocket::new(stream, options, protocol, agreed), run, id).await;
        })?;
        if let Some(accept) = accept {
            response.headers_mut().insert(SEC_WEBSOCKET_ACCEPT, accept);
        }
        if let Some(agreed) = agreed {
            response.headers_mut().insert(SEC_WEBSOCKET_EXTENSIONS, agreed.response());
        }
        if let Some(protocol) = protocol {
            response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
        }
        Ok(response)
    }

    /// Makes the connection a byte stream of this protocol, and runs `run` on it after the response (RFC 9110, 7.8).
    /// Over HTTP/2 it is one stream (RFC 8441). It says nothing of who may do this: requests of other sites come here,
    /// too.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::upgrade::Upgraded;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/pipe")]
    /// struct Pipe;
    ///
    /// impl Handle for Pipe {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         cx.upgrade("example", async |mut stream: Upgraded| {
    ///             let mut buffer = [0; 1024];
    ///             while let Ok(count @ 1..) = stream.read(&mut buffer).await {
    ///                 if stream.write_all(&buffer[..count]).await.is_err() {
    ///                     break;
    ///                 }
    ///             }
    ///         })
    ///     }
    /// }
    /// assert_eq!(skep::test::Client::new(App::new().serve(services![Pipe])).get("/pipe").status(), 426);
    /// ```
    ///
    /// # Errors
    /// 426 for a request that does not ask for it, 400 for one that does so wrongly, and 501 where the server cannot:
    /// in a component, whose host passes requests and responses only.
    pub fn upgrade<F>(&self, protocol: &'static str, run: F) -> crate::Result
    where
        F: AsyncFnOnce(Upgraded) + 'static,
    {
        let parts = self.shared().parts();
        if !asks_for(parts, protocol) {
            return Err(required(protocol));
        }
        if parts.extensions.get::<Offer>().is_none() {
            may_upgrade(parts)?;
            let cause = "the server offers no upgrade: it is the host of this component, or a test";
            let error = Error::new(StatusCode::NOT_IMPLEMENTED).with_message("this server makes no byte streams");
            return Err(error.with_cause(cause));
        }
        let upgrade = upgrade::upgrade(move |stream| async move { run(stream).await });
        let response = Response::new(Body::upgrade(upgrade)).with_status(StatusCode::SWITCHING_PROTOCOLS);
        Ok(response.with_header(UPGRADE, HeaderValue::from_static(protocol)))
    }
}

fn asks_for(parts: &Parts, protocol: &str) -> bool {
    parts.method == Method::GET && has_element(parts, &UPGRADE, protocol)
}

fn has_element(parts: &Parts, name: &HeaderName, wanted: &str) -> bool {
    let lines = parts.headers.get_all(name).filter_map(|line| line.to_str().ok());
    lines.flat_map(elements).any(|one| one.eq_ignore_ascii_case(wanted))
}

/// 400 for a request of HTTP/1 after which the connection cannot be another protocol's (RFC 9110, 7.8; RFC 6455,
/// 4.2.1).
fn may_upgrade(parts: &Parts) -> Result<()> {
    let length = parts.headers.get(CONTENT_LENGTH).is_none_or(|length| length == *"0");
    let missing = match () {
        () if parts.version < Version::HTTP_11 => "an upgrade needs HTTP/1.1",
        () if !has_element(parts, &CONNECTION, "upgrade") => "an upgrade needs the field Connection: Upgrade",
        () if !length || parts.headers.contains_key(TRANSFER_ENCODING) => "a request for an upgrade has no body",
        () => return Ok(()),
    };
    Err(Error::bad_request(missing))
}

/// RFC 9110, 15.5.22.
fn required(protocol: &'static str) -> Error {
    Error::new(StatusCode::UPGRADE_REQUIRED)
        .with_message(format!("this address is for {protocol} connections"))
        .with_header(UPGRADE, HeaderValue::from_static(protocol))
        .with_header(CONNECTION, HeaderValue::from_static("upgrade"))
}

/// The value of `Sec-WebSocket-Accept`, which HTTP/2 does not have.
fn accept(parts: &Parts) -> Result<Option<HeaderValue>> {
    if !asks_for(parts, "websocket") {
        return Err(required("websocket"));
    }
    let is_http2 = parts.extensions.get::<Offer>() == Some(&Offer::Http2);
    if !is_http2 {
        may_upgrade(parts)?;
    }
    let version = only(parts, &SEC_WEBSOCKET_VERSION)?;
    if version != "13" {
        let error = if version.is_empty() { Error::bad_request("") } else { required("websocket") };
        let error = error.with_message("the version of WebSockets here is 13");
        return Err(error.with_header(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")));
    }
    if is_http2 {
        return Ok(None);
    }
    let key = only(parts, &SEC_WEBSOCKET_KEY)?;
    if STANDARD.decode(key).map_or(0, |key| key.len()) != 16 {
        return Err(Error::bad_request("Sec-WebSocket-Key is not 16 bytes in base64"));
    }
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    Ok(Some(HeaderValue::try_from(STANDARD.encode(digest))?))
}

/// The value of a field that is there once (RFC 6455, 11.3); empty if it is not there.
fn only<'r>(parts: &'r Parts, name: &HeaderName) -> Result<&'r str> {
    let mut fields = parts.headers.get_all(name);
    let value = fields.next().map_or(Ok(""), Value::to_str);
    match (value, fields.next()) {
        (Ok(value), None) => Ok(value),
        _ => Err(Error::bad_request(format!("{name} is there more than once, or no text"))),
    }
}

/// What is listed in a field.
fn values<'p>(parts: &'p Parts, name: &HeaderName) -> impl Iterator<Item = &'p str> {
    let fields = parts.headers.get_all(name).filter_map(|field| field.to_str().ok());
    fields.flat_map(|field| field.split(',')).map(str::trim)
}

/// The first of these protocols that the client offers (RFC 6455, 4.2.2).
fn choose(protocols: &[&'static str], parts: &Parts) -> Option<&'static str> {
    let offered: Vec<&str> = values(parts, &SEC_WEBSOCKET_PROTOCOL).collect();
    protocols.iter().copied().find(|protocol| offered.contains(protocol))
}

/// Runs a handler, and closes what it leaves open.
async fn serve<F>(mut socket: WebSocket, run: F, id: RequestId)
where
    F: AsyncFnOnce(&mut WebSocket) -> Result<()>,
{
    let result = CatchPanic(pin!(run(&mut socket))).await;
    let failure = match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error),
        Err(panicked) => Some(Error::internal(panicked)),
    };
    let Some(error) = failure else { return socket.finish(CloseCode::NORMAL, "").await };
    if socket.is_open() {
        tracing::error!(target: "skep::websocket", %id, "a websocket failed: {error:?}");
    } else {
        tracing::debug!(target: "skep::websocket", %id, "a websocket ended: {error:?}");
    }
    socket.finish(CloseCode::FAILED, "").await;
}

#[cfg(test)]
#[path = "../../../tests/unit/websocket/handshake.rs"]
mod tests;
