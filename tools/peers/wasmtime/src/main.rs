//! Hello as a component of `wasi:http`: `wasmtime serve` makes an instance of it for each request.
//!
//! Build: `cargo build --release --target wasm32-wasip2`. Run: `wasmtime serve hello-component.wasm`.

use wstd::http::body::Body;
use wstd::http::{Error, Request, Response};

#[wstd::http_server]
async fn main(_request: Request<Body>) -> Result<Response<Body>, Error> {
    Ok(Response::new("Hello, world!".into()))
}
