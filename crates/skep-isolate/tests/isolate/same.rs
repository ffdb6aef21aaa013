//! The examples answer with the same bytes natively and as components: status line, every field in its place, body.
//!
//! What differs each time is masked: dates, nonces, ids and tokens. What the server refuses before any application sees
//! it (414, 431, targets without a path) has the page of the server.

use std::fmt::Write as _;

use super::Test;
use super::guests;
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("hello_answers_with_the_same_bytes", || same("hello", HELLO)),
    ("forms_answer_with_the_same_bytes", || same("forms", FORMS)),
    ("blog_answers_with_the_same_bytes", || same("blog", BLOG)),
];

const HELLO: &[&str] = &["/", "/page", "/page?x=1", "/page/", "/count/"];
const FORMS: &[&str] = &["/", "/order", "/order/1", "/order/", "/order/x"];
const BLOG: &[&str] =
    &["/", "/archive", "/feed.atom", "/feed.rss", "/api/articles", "/api.json", "/search?q=bee", "/sign-in", "/desk"];

/// Fields that change what comes back.
const FIELDS: &[&str] = &[
    "",
    "Accept-Encoding: gzip, br\r\n",
    "Accept: application/json\r\n",
    "Accept-Encoding: br\r\nCookie: a=b\r\n",
    "Accept-Encoding: gzip\r\nCookie: a=b\r\nSec-Fetch-Site: cross-site\r\n",
    "Accept-Encoding: gzip\r\nCookie: a=b\r\nSec-Fetch-Site: same-origin\r\n",
];

/// Requests that no page answers, or that are for none.
const OTHERS: &[(&str, &str, &str)] = &[
    ("GET", "/nowhere", ""),
    ("GET", "/nowhere/at/all?x", "Accept-Encoding: br\r\n"),
    ("HEAD", "/nowhere", ""),
    ("OPTIONS", "/", ""),
    ("DELETE", "/", ""),
    ("PUT", "/", "Accept: application/json\r\n"),
    ("POST", "/", "Origin: https://elsewhere.example\r\n"),
    ("POST", "/nowhere", "Sec-Fetch-Site: same-origin\r\n"),
];

/// At least forty requests for each example.
fn requests(paths: &[&str]) -> Vec<(String, String, String)> {
    let one = |method: &str, path: &str, fields: &str| (method.to_owned(), path.to_owned(), fields.to_owned());
    let mut all: Vec<_> = OTHERS.iter().map(|(method, path, fields)| one(method, path, fields)).collect();
    for path in paths {
        all.extend(FIELDS.iter().map(|fields| one("GET", path, fields)));
        all.extend(FIELDS[..2].iter().map(|fields| one("HEAD", path, fields)));
    }
    assert!(all.len() >= 40, "{}", all.len());
    all
}

fn same(name: &'static str, paths: &[&str]) {
    let component = guests::application(name);
    let arguments = ["--set", "workers=1"];
    let native = Server::start_native(name, &arguments);
    // The code of both compilers says the same, and this one is there in a seventh of the time.
    let served = Server::start(&[&[component.to_str().unwrap(), "--baseline", "true"], &arguments[..]].concat());
    let first = native.get("/").text;
    let assets = first.split('"').filter(|part| part.starts_with('/') && part.contains(".css"));
    let paths: Vec<&str> = paths.iter().copied().chain(assets).collect();
    assert!(name != "blog" || paths.len() > BLOG.len(), "{first}");
    for (method, path, fields) in requests(&paths) {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: x.example\r\nConnection: close\r\n{fields}\r\n");
        let seen = |server: &Server| masked(&server.raw(&request));
        let (here, there) = (seen(&native), seen(&served));
        assert!(here == there, "{request}natively: {here}\nas a component: {there}");
        assert!(here.starts_with("HTTP/1.1 "), "{request}{here}");
    }
}

/// The same without what is drawn or counted. Of a body in a coding the head is compared: it holds nonces.
fn masked(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let is_coded = head.contains("\r\ncontent-encoding: ");
    let is_cached = head.contains("\r\ncache-control: public, no-cache\r\n");
    let mut all = String::new();
    for line in head.split("\r\n") {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        let value = match name {
            "date" | "last-modified" => "...".to_owned(),
            // A native debug build reads assets from their folder, and a component has none.
            "cache-control" if cfg!(debug_assertions) && value.ends_with(", immutable") => "no-cache".to_owned(),
            // Only a native application has pages in its cache in a coding, with their lengths.
            "content-length" | "transfer-encoding" if is_coded && is_cached => continue,
            // As long as the nonce has chosen.
            "content-length" if is_coded => "...".to_owned(),
            _ => without_tokens(value),
        };
        let _ = writeln!(all, "{name}: {value}");
    }
    if !is_coded {
        all.push_str(&without_tokens(body));
    }
    all
}

/// Replaces words of 16 characters or more that hold small letters and digits or capitals, or digits alone, and times.
fn without_tokens(text: &str) -> String {
    let is_part = |byte: char| byte.is_ascii_alphanumeric() || matches!(byte, '+' | '/' | '_' | '-' | '=' | ':');
    let mut all = String::new();
    for word in text.split_inclusive(|byte: char| !is_part(byte)) {
        let token = word.trim_end_matches(|byte: char| !is_part(byte));
        // An id may have no letter at all: one of two thousand has none.
        let is_number = token.bytes().all(|byte| byte.is_ascii_digit());
        let is_mixed = token.bytes().any(|byte| byte.is_ascii_lowercase())
            && token.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        let is_drawn = token.len() >= 16 && (is_number || is_mixed);
        // `12:30:00`
        let is_time = token.len() == 8 && token.as_bytes()[2] == b':' && token.as_bytes()[5] == b':';
        all.push_str(if is_drawn || is_time { "..." } else { token });
        all.push_str(&word[token.len()..]);
    }
    all
}
