//! 13 bytes, and what was sent.

use skep::prelude::*;

#[derive(Service)]
#[service(GET "/")]
pub(crate) struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

#[derive(Service)]
#[service(POST "/echo")]
pub(crate) struct Echo;

impl Handle for Echo {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::new(cx.read_body().await?))
    }
}
