//! The server for the table of odd requests (`cargo xtask peers odd`): it reads the body, and answers 200.

use std::process::ExitCode;

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

fn app() -> App {
    App::new().serve::<(Read, Write)>()
}

fn main() -> ExitCode {
    skep_server::run(app)
}
