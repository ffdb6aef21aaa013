//! Unit tests of `front/headers`.

use super::*;

fn fields(fields: &[(&'static str, &str)]) -> HeaderMap {
    let field =
        |(name, value): &(&'static str, &str)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    let mut map = HeaderMap::new();
    for (name, value) in fields.iter().map(field) {
        map.append(name, value);
    }
    map
}

#[test]
fn only_pages_of_their_own_get_the_script() {
    assert!(wants_page(&fields(&[("sec-fetch-dest", "document")])));
    assert!(wants_page(&fields(&[("accept", "text/html,*/*;q=0.8")])));
    assert!(!wants_page(&fields(&[("sec-fetch-dest", "empty"), ("accept", "text/html")])), "a script fetches a part");
    assert!(!wants_page(&fields(&[("accept", "*/*")])));
    let page = |status: u16, more: &[(&'static str, &str)]| {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        *response.headers_mut() = fields(more);
        is_whole_page(&response)
    };
    let html = ("content-type", "text/html; charset=utf-8");
    assert!(page(200, &[html]) && page(404, &[html]));
    assert!(!page(206, &[html]) && !page(304, &[html]) && !page(200, &[html, ("content-encoding", "br")]));
    assert!(!page(200, &[html, ("content-disposition", "attachment; filename=a")]));
    assert!(!page(200, &[("content-type", "text/event-stream")]) && !page(200, &[]));
}

#[test]
fn what_belongs_to_a_connection_does_not_pass() {
    let mut request = Request::new(());
    *request.headers_mut() = fields(&[
        ("connection", "keep-alive, X-Own"),
        ("keep-alive", "timeout=5"),
        ("x-own", "1"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("accept-encoding", "br"),
        ("if-none-match", "\"a\""),
        ("cookie", "a=b"),
    ]);
    assert_eq!(upgrade(request.headers()), None, "the connection does not say so");
    prepare_request(&mut request, None, true);
    assert_eq!(*request.headers(), fields(&[("cookie", "a=b"), ("accept-encoding", "identity")]));
    let mut request = Request::new(());
    *request.headers_mut() = fields(&[("connection", "keep-alive, Upgrade"), ("upgrade", "websocket")]);
    let protocol = upgrade(request.headers());
    prepare_request(&mut request, protocol.as_ref(), false);
    assert_eq!(request.headers()["connection"], "upgrade");
    assert_eq!(request.headers()["upgrade"], "websocket");
}

#[test]
fn no_other_site_reads_what_is_ours() {
    let origin = Origin { listen: "127.0.0.1:8080".parse().unwrap(), is_safe: false };
    let own = |more: &[(&'static str, &str)]| is_own(&fields(more), origin);
    for host in ["127.0.0.1:8080", "localhost:8080", "shop.localhost:8080", "[::1]:8080"] {
        assert!(own(&[("host", host)]), "{host}");
    }
    // An attacker's name that leads to this machine, another port, and requests of other pages.
    for host in
        ["evil.example:8080", "127.0.0.1.evil.example:8080", "localhost.evil.example:8080", "localhost", "localhost:80"]
    {
        assert!(!own(&[("host", host)]), "{host}");
    }
    let here = ("host", "localhost:8080");
    assert!(own(&[here, ("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")]));
    assert!(own(&[here, ("sec-fetch-site", "none")]));
    assert!(!own(&[here, ("origin", "http://evil.example")]) && !own(&[here, ("origin", "null")]));
    assert!(!own(&[here, ("sec-fetch-site", "cross-site")]) && !own(&[here, ("sec-fetch-site", "same-site")]));
    assert!(!own(&[]) && !own(&[here, here]));
}
