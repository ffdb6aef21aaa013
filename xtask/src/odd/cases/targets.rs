//! The target of a request.

use super::{Case, because, group};

pub(super) fn cases() -> Vec<Case> {
    let long = format!("/{}", "a".repeat(9000));
    let all = TARGETS.into_iter().chain([long.as_str()]);
    let mut cases = group("Targets", "3.2", all.map(with_target));
    because(
        &mut cases,
        ["http:///"].map(with_target),
        "An http URI with an empty host must be rejected as invalid (RFC 9110, 4.2.1).",
    );
    because(
        &mut cases,
        ["http://a:99999/"].map(with_target),
        "No TCP port has this number, so this is the authority of no server (RFC 9110, 4.2.1 and 7.4).",
    );
    because(
        &mut cases,
        ["/#", "/#a", "/?#"].map(with_target),
        "No form of a target has a fragment, which stays with the client (RFC 9112, 3.2; RFC 9110, 7.1). Where one server cuts it off and another does not, \
         they serve different addresses.",
    );
    because(
        &mut cases,
        ["/<>", "/`"].map(with_target),
        "These characters have no place in a URI (RFC 3986, 2) and browsers escape them; an invalid request line should be answered with 400 \
         (RFC 9112, 3).",
    );
    cases
}

fn with_target(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")
}

const TARGETS: [&str; 59] = [
    "http://a/",
    "http://a",
    "HTTP://a/",
    "https://a/",
    "ftp://a/",
    "http:///",
    "http://b/",
    "http://u:p@a/",
    "http://a:80/",
    "http://a:/",
    "http://a:99999/",
    "//a/",
    "///",
    "a",
    "a:80",
    "*",
    "?",
    "?a=b",
    "/?",
    "/#",
    "/#a",
    "/?#",
    "/a/../",
    "/../",
    "/./",
    "/%2e%2e/",
    "/%2E",
    "/%00",
    "/%0a",
    "/%0d%0a",
    "/%",
    "/%2",
    "/%zz",
    "/%u0041",
    "/%ff",
    "/\u{e4}",
    "/\x00",
    "/\x01",
    "/\x7f",
    "/a\x0bb",
    "/\"",
    "/<>",
    "/\\",
    "/a\\..\\b",
    "/^",
    "/`",
    "/{}",
    "/|",
    "/[]",
    "/;a",
    "/a;b=c",
    "/:",
    "/@",
    "/!$&'()*+,;=",
    "/%41",
    "/a%2fb",
    "/a%5cb",
    "/.",
    "/..",
];
