//! Hello from axum, as its own example writes it, on a current-thread runtime: one core is all it gets.
//!
//! Run: `peer-axum PORT`. It ends on SIGTERM, by the signal's default.

use std::io;
use std::net::Ipv4Addr;

use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("usage: peer-axum PORT");
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(serve(port))
}

async fn serve(port: u16) -> io::Result<()> {
    let app = Router::new().route("/", get(|| async { "Hello, world!" }));
    // Without this, pipelined answers wait for each other's acknowledgements, and the bench would measure that.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await
}
