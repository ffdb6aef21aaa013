//! Hello from plain hyper: what a server on hyper can cost at the least. What is posted comes back.
//!
//! One current-thread runtime, HTTP/1.1, no router, no limits, no timer, no log, no shutdown.
//! Run: `peer-hyper PORT`. It ends on SIGTERM, by the signal's default.

use std::io;
use std::net::Ipv4Addr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("usage: peer-hyper PORT");
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(serve(port))
}

async fn serve(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream));
    }
}

async fn connection(stream: TcpStream) {
    // A client that goes away is no news: the load generator counts what it misses.
    let _ = http1::Builder::new().pipeline_flush(true).serve_connection(TokioIo::new(stream), service_fn(answer)).await;
}

async fn answer(request: Request<Incoming>) -> hyper::Result<Response<Full<Bytes>>> {
    if request.method() == Method::POST {
        return Ok(Response::new(Full::new(request.into_body().collect().await?.to_bytes())));
    }
    let mut response = Response::new(Full::new(Bytes::from_static(b"Hello, world!")));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}
