//! The field `Host`.

use super::{Case, because, group};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = group("Host", "3.2; 9110, 7.2", FIELDS.map(with_fields));
    cases.extend(group("Host", "3.2", ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"]));
    cases.extend(group(
        "Host",
        "3.2.2",
        ["GET http://b/ HTTP/1.1\r\n\r\n", "GET http://b/ HTTP/1.1\r\nHost: a/b\r\n\r\n"],
    ));
    because(
        &mut cases,
        ["Host: a:b\r\n", "Host: a:99999\r\n", "Host: [::1\r\n", "Host: [a]\r\n", "Host: a%zz\r\n"].map(with_fields),
        "A server must respond with 400 to a Host field with an invalid value (RFC 9112, 3.2). A port is a number, and one that TCP has; in brackets \
         stands an IPv6 address (RFC 3986, 3.2.2 and 3.2.3), and behind a percent sign stand two hexadecimal digits (2.1).",
    );
    cases
}

fn with_fields(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\n{fields}\r\n")
}

const FIELDS: [&str; 37] = [
    "",
    "Host:\r\n",
    "Host: \r\n",
    "Host: a\r\nHost: a\r\n",
    "Host: a\r\nHost: b\r\n",
    "Host: a, b\r\n",
    "Host: a b\r\n",
    "Host: a:80\r\n",
    "Host: a:\r\n",
    "Host: a:b\r\n",
    "Host: a:99999\r\n",
    "Host: :80\r\n",
    "Host: u@a\r\n",
    "Host: a/b\r\n",
    "Host: a?b\r\n",
    "Host: a#b\r\n",
    "Host: [::1]\r\n",
    "Host: [::1]:80\r\n",
    "Host: [::1\r\n",
    "Host: ::1\r\n",
    "Host: [a]\r\n",
    "Host: a_b\r\n",
    "Host: %61\r\n",
    "Host: a%zz\r\n",
    "Host: a\\b\r\n",
    "Host: a\"b\r\n",
    "Host: \u{e4}\r\n",
    "Host: a\x00b\r\n",
    "Host : a\r\n",
    "host: a\r\n",
    "HOST: a\r\n",
    "Host: http://a\r\n",
    "Host: a.\r\n",
    "Host: .a\r\n",
    "Host: -\r\n",
    "Host: 1.2.3\r\n",
    "Host:\ta\t\r\n",
];
