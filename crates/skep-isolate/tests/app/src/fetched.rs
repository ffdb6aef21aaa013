//! What another server says.

use skep::fetch::FetchRequest;
use skep::prelude::*;

/// Sends a body to a URL; the status and the body of the response, or why it failed.
#[derive(Service)]
#[service(GET "/fetched")]
pub(crate) struct Fetched {
    url: String,
    milliseconds: u64,
}

impl Handle for Fetched {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let request = FetchRequest::post(self.url).json(&"x".repeat(100_000));
        let response = cx.fetch(request.timeout(std::time::Duration::from_millis(self.milliseconds))).await;
        Ok(Response::text(match response {
            Ok(response) => format!("{} {}", response.status().as_u16(), response.text()),
            Err(error) => format!("timeout {}: {error}", error.is_timeout()),
        }))
    }
}
