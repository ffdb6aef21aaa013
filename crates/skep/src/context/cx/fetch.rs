//! Requests of a handler to other servers.

use bytes::Bytes;
use http::Request;

use super::Cx;
use crate::context::resources::Resources;
use skep_http::ext::{FetchRequestExt as _, FetchResponseExt as _};
use skep_http::fetch::{Bounds, FetchError, FetchRequest, FetchResponse};

impl Cx<'_> {
    /// Sends a request to another server, and reads its response: over pooled connections, to servers that the setting
    /// `fetch.allow` names, within `limits.fetch_time` and `limits.fetch_body`, and no longer than this request goes
    /// on. Redirects are not followed. The [`traceparent`](Self::traceparent) is passed on.
    ///
    /// ```
    /// use skep::fetch::{Bounds, Fetcher, Fetching};
    /// use skep::prelude::*;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Rate { euro: f64 }
    ///
    /// #[derive(Service)]
    /// #[service(GET "/price/{dollars}")]
    /// struct Price { dollars: f64 }
    ///
    /// impl Handle for Price {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let rate: Rate = cx.fetch("https://rates.example.org/today").await?.json()?;
    ///         Ok(Response::text(format!("{:.2} euros", self.dollars * rate.euro)))
    ///     }
    /// }
    ///
    /// /// In a test, instead of the other server.
    /// struct Fixed;
    ///
    /// impl Fetcher for Fixed {
    ///     fn fetch(&self, request: http::Request<bytes::Bytes>, _bounds: Bounds) -> Fetching<'_> {
    ///         assert_eq!(request.uri(), "https://rates.example.org/today");
    ///         Box::pin(async { Ok(http::Response::new(r#"{"euro": 0.5}"#.into())) })
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Price]).fetcher(Fixed));
    /// assert_eq!(client.get("/price/7").text(), "3.50 euros");
    /// ```
    ///
    /// # Errors
    /// See [`FetchError`]. With `?` it is a 502 or a 504, and a 500 if the request may not be sent.
    pub async fn fetch(&self, request: impl Into<FetchRequest>) -> Result<FetchResponse, FetchError> {
        let shared = self.shared.resources().shared();
        let (mut request, bounds) = request.into().into_http(shared.setup.fetch, self.traceparent().as_deref())?;
        if let Some(state) = self.fields().get("tracestate").filter(|_| request.headers().contains_key("traceparent")) {
            request.headers_mut().entry("tracestate").or_insert_with(|| state.into());
        }
        send(shared, request, bounds).await
    }
}

/// Sends it as the application does, or the server.
pub(crate) async fn send(
    shared: &Resources,
    request: Request<Bytes>,
    bounds: Bounds,
) -> Result<FetchResponse, FetchError> {
    let response = match &shared.fetcher {
        Some(fetcher) => fetcher.fetch(request, bounds).await?,
        #[cfg(target_family = "wasm")]
        None => crate::host::component::fetch(request, bounds)?,
        #[cfg(not(target_family = "wasm"))]
        None => return Err(skep_http::fetch::no_fetcher()),
    };
    Ok(FetchResponse::of(response))
}
