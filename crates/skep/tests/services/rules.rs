//! What of a response is judged by the rules of HTTP: the conditions of its request, and its cookies.

use skep::prelude::*;
use skep::test::Client;
use skep::{Method, header};

/// Responds to all methods with these fields.
#[derive(Service)]
#[service(GET "/tagged")]
struct Tagged {
    etag: Option<String>,
    modified: Option<String>,
    #[query(default = 200)]
    status: u16,
}

#[derive(Service)]
#[service(POST "/tagged")]
struct PostTagged {
    etag: Option<String>,
}

fn tagged(etag: Option<&str>, modified: Option<&str>, status: u16) -> Result {
    let mut response = Response::text("tagged").with_status(skep::StatusCode::from_u16(status)?);
    for (name, value) in [(header::ETAG, etag), (header::LAST_MODIFIED, modified)] {
        if let Some(value) = value {
            response.headers_mut().insert(name, skep::HeaderValue::from_str(value)?);
        }
    }
    Ok(response)
}

impl Handle for Tagged {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        tagged(self.etag.as_deref(), self.modified.as_deref(), self.status)
    }
}

impl Handle for PostTagged {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        tagged(self.etag.as_deref(), None, 200)
    }
}

#[test]
fn the_conditions_of_a_request_are_judged_by_the_handlers_own_validators() {
    const OLD: &str = "Thu, 01 Jan 2015 00:00:00 GMT";
    const NEW: &str = "Fri, 01 Jan 2016 00:00:00 GMT";
    let client = Client::new(App::new().serve(services![Tagged, PostTagged]));
    let (strong, weak) = ("etag=%22a%22", "etag=W/%22a%22");
    for (query, fields, status) in [
        (strong, &[][..], 200),
        (strong, &[("if-none-match", "\"a\"")], 304),
        (strong, &[("if-none-match", "W/\"a\"")], 304),
        (strong, &[("if-none-match", "\"b\", W/\"a\"")], 304),
        (strong, &[("if-none-match", "\"b\""), ("if-none-match", "\"a\"")], 304),
        (strong, &[("if-none-match", "*")], 304),
        (strong, &[("if-none-match", "\"b\"")], 200),
        (strong, &[("if-none-match", "a")], 200),
        (strong, &[("if-none-match", "\"A\"")], 200),
        (strong, &[("if-match", "\"a\"")], 200),
        (strong, &[("if-match", "\"b\"")], 412),
        (strong, &[("if-match", "W/\"a\"")], 412),
        (strong, &[("if-match", "*")], 200),
        (strong, &[("if-match", "\"b\""), ("if-match", "\"a\"")], 200),
        (strong, &[("if-match", "\"a\""), ("if-none-match", "\"a\"")], 304),
        (strong, &[("if-match", "\"b\""), ("if-none-match", "\"a\"")], 412),
        (weak, &[("if-none-match", "\"a\"")], 304),
        (weak, &[("if-none-match", "W/\"a\"")], 304),
        (weak, &[("if-match", "W/\"a\"")], 412),
        (weak, &[("if-match", "\"a\"")], 412),
        (weak, &[("if-match", "*")], 200),
        ("etag=%22a, b%22", &[("if-none-match", "\"a, b\"")], 304),
        ("etag=%22%22", &[("if-none-match", "\"\"")], 304),
        // What is no tag is compared with nothing.
        ("etag=a", &[("if-none-match", "a")], 200),
        ("etag=a", &[("if-match", "\"b\"")], 200),
        ("", &[("if-none-match", "\"a\"")], 200),
        (&*format!("modified={OLD}"), &[("if-modified-since", OLD)], 304),
        (&format!("modified={OLD}"), &[("if-modified-since", NEW)], 304),
        (&format!("modified={NEW}"), &[("if-modified-since", OLD)], 200),
        (&format!("modified={NEW}"), &[("if-unmodified-since", OLD)], 412),
        (&format!("modified={OLD}"), &[("if-modified-since", "yesterday")], 200),
        (&format!("{strong}&modified={OLD}"), &[("if-none-match", "\"b\""), ("if-modified-since", NEW)], 200),
        // Only of what would be a 200.
        (&format!("{strong}&status=203"), &[("if-none-match", "\"a\"")], 203),
        (&format!("{strong}&status=404"), &[("if-none-match", "\"a\"")], 404),
        (&format!("{strong}&status=206"), &[("if-match", "\"b\"")], 206),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let url = format!("/tagged?{}", query.replace(' ', "%20"));
            let request = client.request(method.clone(), &url);
            let answer = fields.iter().fold(request, |request, (name, value)| request.header(name, value)).send();
            assert_eq!(answer.status(), status, "{method} {query} {fields:?}");
            let has_content = status != 304 && method == Method::GET;
            assert_eq!(answer.text().is_empty(), !has_content, "{method} {query} {fields:?}");
        }
    }
    // It is done already.
    for fields in [("if-match", "\"b\""), ("if-none-match", "\"a\"")] {
        let answer =
            client.request(Method::POST, &format!("/tagged?{strong}")).header(fields.0, fields.1).form(&[]).send();
        assert_eq!((answer.status().as_u16(), answer.text()), (200, "tagged"), "{fields:?}");
    }
}

/// Sets cookies with the API, with fields of the response, or both.
#[derive(Service)]
#[service(GET "/set")]
struct SetCookies {
    cookie: Vec<String>,
    own: Vec<String>,
}

impl Handle for SetCookies {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        for name in &self.cookie {
            match name.split_once('/') {
                Some((name, path)) => cx.set_cookie(&Cookie::new(name, "1").path(format!("/{path}"))),
                None => cx.set_cookie(&Cookie::new(name, "1")),
            }
        }
        let mut response = Response::text("set");
        for field in &self.own {
            response.headers_mut().append(header::SET_COOKIE, skep::HeaderValue::from_str(field)?);
        }
        Ok(response)
    }
}

#[test]
fn a_cookie_that_no_browser_keeps_is_an_error_where_it_is_set() {
    for (query, encrypted, plain) in [
        ("cookie=a&cookie=b", 200, 200),
        ("cookie=a&own=b=1", 200, 200),
        ("cookie=a&cookie=a", 500, 500),
        ("cookie=a&cookie=a/b", 500, 500),
        ("cookie=a&cookie=A", 200, 200),
        ("cookie=a&own=a=2", 500, 500),
        ("own=a=1&own=a=2", 500, 500),
        ("own=a=1;Path=/b&own=a%20=2;Path=/c", 500, 500),
        ("cookie=a/b", 200, 200),
        ("cookie=__Host-a", 200, 500),
        ("cookie=__Host-a/b", 500, 500),
        ("cookie=__host-a/b", 500, 500),
        ("cookie=__Secure-a", 200, 500),
        ("cookie=__Secure-a/b", 200, 500),
        ("cookie=__Hostile", 200, 200),
        ("own=__Host-a=1;Secure;Path=/", 200, 200),
        ("own=__Host-a=1;%20secure;%20path=/;%20HttpOnly", 200, 200),
        ("own=__Host-a=1;Secure", 500, 500),
        ("own=__Host-a=1;Path=/", 500, 500),
        ("own=__Host-a=1;Secure;Path=/b", 500, 500),
        ("own=__Host-a=1;Secure;Path=/;Path=/b", 500, 500),
        ("own=__Host-a=1;Secure;Path=/;Domain=example.org", 500, 500),
        ("own=__HOST-a=1;Path=/", 500, 500),
        ("own=__Secure-a=1", 500, 500),
        ("own=__Secure-a=1;Secure;Domain=example.org", 200, 200),
        ("own=a=1;SameSite=None", 500, 500),
        ("own=a=1;SameSite=none;Secure", 200, 200),
        ("own=a=1;SameSite=Strict", 200, 200),
        ("own=a=1;SameSite=None;SameSite=Lax", 200, 200),
    ] {
        for (is_secure, status) in [(true, encrypted), (false, plain)] {
            let mut setup = skep::Setup::default();
            (setup.temporary_database, setup.secure_cookies) = (true, is_secure);
            let client = Client::with_setup(App::new().serve(services![SetCookies]), setup);
            assert_eq!(client.get(&format!("/set?{query}")).status(), status, "{query} {is_secure}");
        }
    }
}
