//! A WebSocket that sends back what it receives: for the suite Autobahn (`tools/suites.md`).

use std::process::ExitCode;

use skep::prelude::*;
use skep::websocket::WebSocket;

#[derive(Service)]
#[service(GET "/")]
struct Echo;

impl Handle for Echo {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.websocket(async |socket: &mut WebSocket| {
            while let Some(message) = socket.receive().await? {
                socket.send(message).await?;
            }
            Ok(())
        })
    }
}

fn main() -> ExitCode {
    skep_server::run(|| App::new().serve(services![Echo]))
}
