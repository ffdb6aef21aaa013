//! What hyper alone costs: the same 13 bytes as `examples/hello`, on one thread, with nothing that a server needs.
//!
//! The yardstick of this crate. Run it beside `hello --workers 1 --set log.access=false`, the load on another core, and
//! compare the CPU time of both for the same number of requests. Run: `cargo run --release -p skep-server --example
//! plain_hyper 8801`.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"Hello, world!")));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Ok(response)
}

fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(8801);
    let options = tokio::runtime::LocalOptions::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build_local(options)?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let mut http = http1::Builder::new();
            tokio::task::spawn_local(
                http.pipeline_flush(true).serve_connection(TokioIo::new(stream), service_fn(hello)),
            );
        }
    })
}
