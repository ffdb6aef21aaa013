//! Hello from actix-web with one worker.
//!
//! Run: `peer-actix PORT`. It ends on SIGTERM, by the signal's default: actix's own way waits for idle connections.

use std::io;
use std::net::Ipv4Addr;

use actix_web::{App, HttpServer, rt, web};

fn main() -> io::Result<()> {
    let port: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("usage: peer-actix PORT");
    rt::System::new().block_on(serve(port))
}

async fn serve(port: u16) -> io::Result<()> {
    HttpServer::new(|| App::new().route("/", web::get().to(|| async { "Hello, world!" })))
        .workers(1)
        .disable_signals()
        .bind((Ipv4Addr::LOCALHOST, port))?
        .run()
        .await
}
