//! An answer that waits for the end of its request, for what an instance holds meanwhile.

use skep::prelude::*;

#[derive(Service)]
#[service(POST "/hold", body = 1_000)]
pub(crate) struct Hold;

impl Handle for Hold {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::new(cx.read_body().await?))
    }
}
