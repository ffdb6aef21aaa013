//! Requests to other servers, which the host sends: `wasi:http/outgoing-handler`. Where they may go, the host says
//! (`--allow-out`).
//!
//! An instance has one request, which waits here.

use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue, StatusCode};
use wasip2::clocks::monotonic_clock;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingResponse, Method, OutgoingBody, OutgoingRequest, RequestOptions,
    Scheme,
};
use wasip2::io::poll::{self, Pollable};
use wasip2::io::streams::StreamError;

use skep_http::fetch::{Bounds, FetchError};

/// The most bytes of a body that are read at once.
const PIECE: u64 = 64 << 10;

/// Sends a request and reads its response.
pub(crate) fn fetch(request: http::Request<Bytes>, bounds: Bounds) -> Result<http::Response<Bytes>, FetchError> {
    let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let time = u64::try_from(bounds.time.as_nanos()).unwrap_or(u64::MAX);
    let exchange = Exchange { deadline: monotonic_clock::subscribe_duration(time), host, most: bounds.body };
    let response = exchange.send(request, time)?;
    exchange.read(response)
}

struct Exchange {
    deadline: Pollable,
    host: String,
    most: u64,
}

impl Exchange {
    /// Waits for something, until time is up.
    fn wait(&self, what: &Pollable) -> Result<(), FetchError> {
        let ready = poll::poll(&[what, &self.deadline]);
        if ready.contains(&0) { Ok(()) } else { Err(FetchError::timed_out(format!("the response of {}", self.host))) }
    }

    fn broken(&self, cause: impl std::fmt::Debug) -> FetchError {
        FetchError::unreachable(&self.host, format!("{cause:?}"))
    }

    fn failed(&self, code: ErrorCode) -> FetchError {
        match code {
            ErrorCode::HttpRequestDenied => FetchError::not_allowed(format!(
                "requests to {} are not allowed: --allow-out would allow them",
                self.host
            )),
            ErrorCode::ConnectionTimeout | ErrorCode::HttpResponseTimeout | ErrorCode::ConnectionReadTimeout => {
                FetchError::timed_out(format!("the response of {}", self.host))
            }
            code => self.broken(code),
        }
    }

    fn send(&self, request: http::Request<Bytes>, time: u64) -> Result<IncomingResponse, FetchError> {
        let (parts, body) = request.into_parts();
        let headers = Fields::new();
        for (name, value) in &parts.headers {
            headers.append(name.as_str(), value.as_bytes()).map_err(|error| self.broken(error))?;
        }
        if !body.is_empty() {
            let length = body.len().to_string();
            headers.set("content-length", &[length.into_bytes()]).map_err(|error| self.broken(error))?;
        }
        let outgoing = OutgoingRequest::new(headers);
        let scheme = if parts.uri.scheme_str() == Some("https") { Scheme::Https } else { Scheme::Http };
        let is_set = outgoing.set_method(&method(&parts.method)).is_ok()
            && outgoing.set_scheme(Some(&scheme)).is_ok()
            && outgoing.set_authority(Some(&self.host)).is_ok()
            && outgoing.set_path_with_query(Some(parts.uri.path_and_query().map_or("/", |path| path.as_str()))).is_ok();
        if !is_set {
            return Err(skep_http::fetch::invalid("the host does not send requests like this"));
        }
        let options = RequestOptions::new();
        // What a host does not support it leaves; the deadline here counts all the same.
        let _ = options.set_connect_timeout(Some(time));
        let _ = options.set_first_byte_timeout(Some(time));
        let _ = options.set_between_bytes_timeout(Some(time));
        let sent = outgoing.body().map_err(|()| self.broken("no body"))?;
        let response = outgoing_handler::handle(outgoing, Some(options)).map_err(|code| self.failed(code))?;
        self.write(sent, &body)?;
        self.response(&response)
    }

    /// What cannot be written, nobody reads: why that is so, or what the server says all the same, the response tells.
    fn write(&self, outgoing: OutgoingBody, mut bytes: &[u8]) -> Result<(), FetchError> {
        let stream = outgoing.write().map_err(|()| self.broken("no stream"))?;
        while let Ok(room) = stream.check_write()
            && !bytes.is_empty()
        {
            if room == 0 {
                self.wait(&stream.subscribe())?;
                continue;
            }
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            if stream.write(now).is_err() {
                break;
            }
            bytes = later;
        }
        drop(stream);
        let _ = OutgoingBody::finish(outgoing, None);
        Ok(())
    }

    fn response(&self, response: &FutureIncomingResponse) -> Result<IncomingResponse, FetchError> {
        loop {
            match response.get() {
                None => self.wait(&response.subscribe())?,
                Some(Ok(Ok(response))) => return Ok(response),
                Some(Ok(Err(code))) => return Err(self.failed(code)),
                Some(Err(())) => return Err(self.broken("it was taken")),
            }
        }
    }

    fn read(&self, incoming: IncomingResponse) -> Result<http::Response<Bytes>, FetchError> {
        let mut response = http::Response::new(Bytes::new());
        *response.status_mut() = StatusCode::from_u16(incoming.status()).map_err(|error| self.broken(error))?;
        let fields = incoming.headers();
        for (name, value) in fields.entries() {
            let name = HeaderName::try_from(name).map_err(|error| self.broken(error))?;
            response.headers_mut().append(name, HeaderValue::try_from(value).map_err(|error| self.broken(error))?);
        }
        drop(fields);
        let body = incoming.consume().map_err(|()| self.broken("no body"))?;
        let stream = body.stream().map_err(|()| self.broken("no stream"))?;
        let mut read = BytesMut::new();
        loop {
            match stream.read(PIECE) {
                Ok(bytes) if bytes.is_empty() => self.wait(&stream.subscribe())?,
                Ok(bytes) => read.extend_from_slice(&bytes),
                Err(StreamError::Closed) => break,
                Err(error) => return Err(self.broken(error)),
            }
            if read.len() as u64 > self.most {
                return Err(FetchError::too_large(self.most));
            }
        }
        *response.body_mut() = read.freeze();
        Ok(response)
    }
}

fn method(method: &http::Method) -> Method {
    match *method {
        http::Method::GET => Method::Get,
        http::Method::HEAD => Method::Head,
        http::Method::POST => Method::Post,
        http::Method::PUT => Method::Put,
        http::Method::DELETE => Method::Delete,
        http::Method::OPTIONS => Method::Options,
        http::Method::PATCH => Method::Patch,
        ref other => Method::Other(other.to_string()),
    }
}
