//! Which service answers a request, and which services cannot be distinguished.

use skep::mount::{Mount, Mounted, ResponseFuture};
use skep::prelude::*;
use skep::test::Client;
use skep::{HeaderName, HeaderValue, Method, Setup};

/// Each says its name, and what it was given.
macro_rules! declare {
    ($($method:ident $path:literal $([$when:literal])? $name:ident { $($field:ident: $type:ty),* })*) => {$(
        #[derive(Service)]
        #[service($method $path $(, when = $when)?)]
        struct $name { $($field: $type),* }

        impl Handle for $name {
            async fn handle(self, _cx: &mut Cx<'_>) -> Result {
                let given: Vec<String> = vec![$(format!("{:?}", self.$field)),*];
                let name = HeaderValue::from_static(stringify!($name));
                Ok(Response::text(given.join(" ")).with_header(HeaderName::from_static("x-service"), name))
            }
        }
    )*};
}

/// The name of the service that answers, or the status.
fn answer(client: &Client, method: Method, target: &str) -> String {
    let answer = client.request(method, target).without_redirects().send();
    answer.header("x-service").map_or_else(|| answer.status().as_u16().to_string(), ToOwned::to_owned)
}

fn complaint(app: App) -> String {
    app.check(&Setup::default()).unwrap_err().to_string()
}

#[test]
fn the_most_literal_path_wins() {
    declare! {
        GET "/a/{*rest}" Rest { rest: String }
        GET "/a/{one}" One { one: String }
        GET "/a/new" New {}
        GET "/a/{other}/b" Under { other: String }
    }
    let client = Client::new(App::new().serve(services![Rest, One, New, Under]));
    for (path, expected) in [
        ("/a/new", "New"),
        ("/a/old", "One"),
        ("/a/old/b", "Under"),
        ("/a/old/c", "Rest"),
        ("/b", "404"),
        ("/a/", "404"),
        ("/a//b", "Rest"),
        ("/a/new/x", "Rest"),
    ] {
        assert_eq!(answer(&client, Method::GET, path), expected, "{path}");
    }
    assert_eq!(client.get("/a/old/b").text(), "\"old\"");
}

#[test]
fn a_path_with_half_an_escape_is_a_bad_request_wherever_it_leads() {
    declare! {
        GET "/a/{*rest}" Rest { rest: String }
    }
    struct Echo;
    impl Mount for Echo {
        fn answer(&self, request: Mounted) -> ResponseFuture {
            Box::pin(async move { Ok(Response::text(request.parts.uri.path().to_owned())) })
        }
    }
    let app = App::new().serve(services![Rest]).mount("/mounted", Echo);
    let client = Client::new(app);
    for path in ["/a/%", "/a/%4", "/a/%zz", "/mounted/%zz", "/nowhere/%u0041"] {
        let response = client.get(path);
        assert_eq!(response.status(), 400, "{path}");
        assert!(response.text().contains("without two hexadecimal digits"), "{path}: {}", response.text());
    }
    assert_eq!(client.get("/a/100%25").text(), "\"100%\"");
    assert_eq!(client.get("/mounted/%25zz").text(), "/mounted/%25zz");
    assert_eq!(client.get("/a/x?y=%").status(), 200, "the query is the service's");
}

#[test]
fn methods_then_required_parameters_tell_services_apart() {
    declare! {
        GET "/" List {}
        GET "/" Search { q: String }
        GET "/" Exact { exact: String, q: String }
        POST "/" Create {}
    }
    let client = Client::new(App::new().serve(services![List, Search, Exact, Create]));
    for (method, target, expected) in [
        (Method::GET, "/", "List"),
        (Method::HEAD, "/?q=1", "Search"),
        (Method::GET, "/?q=1&exact=1", "Exact"),
        (Method::POST, "/?q=1", "Create"),
        (Method::PUT, "/", "405"),
    ] {
        assert_eq!(answer(&client, method, target), expected, "{target}");
    }
    let refused = client.request(Method::PUT, "/").send();
    assert_eq!(refused.header("allow"), Some("GET, HEAD, OPTIONS, POST"));
}

#[test]
fn a_query_that_fits_no_service_is_a_bad_request() {
    declare! {
        GET "/" A { a: String }
        GET "/" B { b: String }
    }
    let client = Client::new(App::new().serve(services![A, B]));
    assert_eq!(answer(&client, Method::GET, "/?c=1"), "400");
}

#[test]
fn a_fixed_value_tells_services_apart() {
    declare! {
        POST "/" Rename {}
        POST "/" ["action=delete"] Delete {}
        POST "/" ["action=archive"] Archive {}
        PUT "/" ["action=x"] Alone {}
    }
    let client = Client::new(App::new().serve(services![Rename, Delete, Archive, Alone]));
    for (method, target, expected) in [
        (Method::POST, "/", "Rename"),
        (Method::POST, "/?action=delete", "Delete"),
        (Method::POST, "/?a=1&action=archive", "Archive"),
        (Method::POST, "/?action=other", "Rename"),
        (Method::PUT, "/?action=x", "Alone"),
        (Method::PUT, "/?action=y", "400"),
    ] {
        assert_eq!(answer(&client, method, target), expected, "{target}");
    }
}

#[test]
fn services_that_cannot_be_distinguished_are_named() {
    declare! {
        GET "/{page}" Article { page: String }
        GET "/{name}" Page { name: String }
        GET "/" A { q: String }
        POST "/" ["action=delete"] Delete {}
        POST "/" ["action=delete"] Remove {}
    }
    let text = complaint(App::new().serve(services![Article]).serve(services![Page]));
    assert!(text.contains("Article (GET /{page}) and Page (GET /{name}) cannot be distinguished"), "{text}");
    let text = complaint(App::new().serve(services![A]).serve(services![A]));
    assert!(text.contains("A (GET /) is served twice: name it once"), "{text}");
    let text = complaint(App::new().serve(services![Delete]).serve(services![Remove]));
    let expected = "Delete (POST /) and Remove (POST /) cannot be distinguished: both require action=delete";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_link_that_would_lead_to_another_service_is_named() {
    declare! {
        GET "/" List {}
        GET "/" Filtered { q: Option<String> }
        GET "/" Search { q: String }
        GET "/" Paged { q: String, page: Option<u32> }
        GET "/" Tagged { tags: String, all: bool, tag: Option<String> }
        GET "/" A { a: String, b: Option<String> }
        GET "/" B { b: String }
        POST "/" Do { action: String }
        POST "/" ["action=delete"] Delete {}
    }
    let text = complaint(App::new().serve(services![Filtered, Search]));
    assert!(text.contains("a link to Filtered with q would lead to Search"), "{text}");
    // Of as many required, either might come first.
    let text = complaint(App::new().serve(services![A, B]));
    assert!(text.contains("a link to A with b would lead to B"), "{text}");
    // The one that requires more is asked first, whatever the other takes.
    App::new().serve(services![List, Paged, Tagged]).check(&Setup::default()).unwrap();
    let text = complaint(App::new().serve(services![Do, Delete]));
    assert!(text.contains("a link to Do with action=delete would lead to Delete"), "{text}");
}
