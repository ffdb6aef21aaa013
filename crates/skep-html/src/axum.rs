//! Pieces as responses of axum: the feature `axum`.

use axum_core::body::Body;
use axum_core::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;

use crate::Html;

impl<C, H> IntoResponse for Html<C, H> {
    /// Status 200 and `text/html; charset=utf-8`. The bytes are not copied.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(Bytes::from(self)));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;

    #[test]
    fn a_piece_is_a_response_with_its_content_type() {
        let response = html! { p { "1 < 2" } }.into_response();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        assert_eq!(http_body::Body::size_hint(response.body()).exact(), Some("<p>1 &lt; 2</p>".len() as u64));
    }
}
