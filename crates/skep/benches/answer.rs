//! What the framework costs for one request, without a socket: matching, reading fields, calling the handler, catching
//! panics. The floor: a request is made and its answer dropped, with nothing in between. Run:
//! `cargo bench -p skep --bench answer`. Whole-server numbers: `cargo xtask peers hello`.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use divan::Bencher;
use skep::prelude::*;
use skep::{Body, Request};

#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

#[derive(Service)]
#[service(GET "/writings/{page}")]
struct Article {
    page: Slug,
    tag: Option<String>,
}

impl Handle for Article {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        divan::black_box((self.page, self.tag));
        Ok(Response::text("Hello, world!"))
    }
}

fn request(path: &'static str) -> Request {
    let request = http::Request::get(http::Uri::from_static(path)).header("host", "localhost").body(()).unwrap();
    Request::new(request.into_parts().0, Body::empty())
}

fn answer(bencher: Bencher<'_, '_>, path: &'static str) {
    let local = Arc::new(App::new().serve(services![Hello, Article]).open(skep::Setup::default()).unwrap()).local();
    bencher.with_inputs(|| request(path)).bench_local_values(|request| {
        let mut answer = pin!(local.answer(request));
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => response,
            Poll::Pending => unreachable!("these handlers do not wait"),
        }
    });
}

#[divan::bench]
fn floor(bencher: Bencher<'_, '_>) {
    bencher.with_inputs(|| request("/")).bench_local_values(|request| (request, Response::text("Hello, world!")));
}

#[divan::bench]
fn hello(bencher: Bencher<'_, '_>) {
    answer(bencher, "/");
}

#[divan::bench]
fn path_and_query(bencher: Bencher<'_, '_>) {
    answer(bencher, "/writings/a-service-is-a-struct?tag=links");
}

#[divan::bench]
fn not_found(bencher: Bencher<'_, '_>) {
    answer(bencher, "/nowhere");
}

fn main() {
    divan::main();
}
