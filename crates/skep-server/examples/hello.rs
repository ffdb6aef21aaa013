//! 13 bytes, and nothing else: the other side of `plain_hyper`.

use std::process::ExitCode;

use skep::prelude::*;

#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

fn main() -> ExitCode {
    skep_server::run(App::new().serve::<(Hello,)>())
}
