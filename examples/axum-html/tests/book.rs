//! The application over HTTP, but for the socket.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

async fn send(app: &Router, request: Request<Body>) -> Answered {
    let response = app.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answered { status: head.status, headers: head.headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

async fn get(app: &Router, path: &str) -> Answered {
    send(app, Request::get(path).body(Body::empty()).unwrap()).await
}

async fn sign(app: &Router, form: &str) -> Answered {
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    send(app, request.body(form.to_owned().into()).unwrap()).await
}

#[tokio::test]
async fn an_entry_is_listed_and_shown_with_its_text_escaped() {
    let app = axum_html::router();
    let signed = sign(&app, "name=Ann+%26+Bob&website=&text=%3Cscript%3Ealert(1)%3C/script%3E%0Aand+more").await;
    assert_eq!(
        (signed.status, &signed.headers[header::LOCATION]),
        (StatusCode::SEE_OTHER, &"/#entry-1".parse().unwrap())
    );

    let list = get(&app, "/").await;
    assert_eq!(
        (list.status, &list.headers[header::CONTENT_TYPE]),
        (StatusCode::OK, &"text/html; charset=utf-8".parse().unwrap())
    );
    let item =
        "<li id=\"entry-1\">Ann &amp; Bob: <a href=\"/entries/1\">&lt;script&gt;alert(1)&lt;/script&gt;</a></li>";
    assert!(list.body.contains(item), "{}", list.body);

    let shown = get(&app, "/entries/1").await.body;
    assert!(
        shown.contains("<p>By Ann &amp; Bob</p><p>&lt;script&gt;alert(1)&lt;/script&gt;</p><p>and more</p>"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_website_that_runs_code_is_no_link() {
    let app = axum_html::router();
    sign(&app, "name=Ann&website=https://example.org/?a%26b&text=Hello").await;
    sign(&app, "name=Eve&website=%20javascript:alert(1)&text=Hello").await;
    let list = get(&app, "/").await.body;
    assert!(list.contains("<a rel=\"nofollow ugc\" href=\"https://example.org/?a&amp;b\">Ann</a>"), "{list}");
    assert!(list.contains("<a rel=\"nofollow ugc\" href=\"about:invalid\">Eve</a>"), "{list}");
}

#[tokio::test]
async fn a_form_that_lacks_something_is_shown_again_with_what_was_typed() {
    let app = axum_html::router();
    let again = sign(&app, "name=+&website=&text=%3C/textarea%3E%22").await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(again.body.contains("<strong class=\"wrong\" role=\"alert\">Write your name</strong>"), "{}", again.body);
    assert!(again.body.contains("&lt;/textarea&gt;&quot;</textarea>"), "{}", again.body);
    assert!(again.body.contains("Nobody has written yet."), "{}", again.body);
}

#[tokio::test]
async fn the_policy_names_the_nonce_of_the_styles_and_each_response_has_another() {
    let app = axum_html::router();
    let mut policies = Vec::new();
    for path in ["/", "/nothing"] {
        let page = get(&app, path).await;
        let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        let (_, nonce) = policy.split_once("style-src 'nonce-").unwrap();
        let (nonce, _) = nonce.split_once('\'').unwrap();
        assert!(
            nonce.len() >= 22 && page.body.contains(&format!("<style nonce=\"{nonce}\">")),
            "{policy}\n{}",
            page.body
        );
        policies.push(policy);
    }
    assert_ne!(policies[0], policies[1]);
}

#[tokio::test]
async fn a_page_that_does_not_exist_is_a_page() {
    let missing = get(&axum_html::router(), "/entries/1").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert!(missing.body.starts_with("<!DOCTYPE html>") && missing.body.contains("No such page"), "{}", missing.body);
}
