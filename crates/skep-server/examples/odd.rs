//! The server for the table of odd requests (`cargo xtask peers odd`), and for h2spec (`cargo xtask test suites`): it
//! reads the body, and answers 200; on `/late` after a while.

use std::process::ExitCode;
use std::time::Duration;

use skep::prelude::*;

#[derive(Service)]
#[service(GET "/")]
struct Read;

impl Handle for Read {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("ok\n"))
    }
}

#[derive(Service)]
#[service(POST "/", cross_origin = "these requests have no origin")]
struct Write;

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.read_body().await?;
        Ok(Response::text("ok\n"))
    }
}

/// What else a client sends for its request has arrived before the response, which would end the stream.
const LATE: Duration = Duration::from_millis(120);

#[derive(Service)]
#[service(GET "/late")]
struct ReadLate;

impl Handle for ReadLate {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        tokio::time::sleep(LATE).await;
        Ok(Response::text("ok\n"))
    }
}

#[derive(Service)]
#[service(POST "/late", cross_origin = "these requests have no origin")]
struct WriteLate;

impl Handle for WriteLate {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        tokio::time::sleep(LATE).await;
        cx.read_body().await?;
        Ok(Response::text("ok\n"))
    }
}

fn app() -> App {
    App::new().serve(services![Read, Write, ReadLate, WriteLate])
}

fn main() -> ExitCode {
    skep_server::run(app)
}
