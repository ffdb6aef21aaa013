//! Names and values as a query or a form has them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What `application/x-www-form-urlencoded` encodes (WHATWG URL, 5.2). A space becomes `+`.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');

/// `name=value&...`
pub(super) fn encode(pairs: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (name, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        out.push_str(name);
        out.push('=');
        out.push_str(&escape(value));
    }
    out
}

pub(super) fn escape(value: &str) -> String {
    utf8_percent_encode(value, FORM).to_string().replace(' ', "+")
}

/// The value of a name that is there once: of two, nobody can say which one counts.
pub(super) fn find(query: &str, name: &str) -> Option<String> {
    let mut values = query.split('&').filter_map(|pair| pair.split_once('=')).filter(|(key, _)| *key == name);
    let value = values.next()?.1;
    if values.next().is_some() { None } else { decode(value) }
}

fn decode(value: &str) -> Option<String> {
    let text = value.replace('+', " ");
    Some(percent_decode_str(&text).decode_utf8().ok()?.into_owned())
}

/// True if the name is there, however often and with whatever value.
pub(super) fn has(query: &str, name: &str) -> bool {
    query.split('&').any(|pair| pair.split('=').next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_found_again_unless_it_is_there_twice() {
        let query = encode(&[("scope", "openid email"), ("state", "a&b=c+d%")]);
        assert_eq!(query, "scope=openid+email&state=a%26b%3Dc%2Bd%25");
        assert_eq!(find(&query, "state").as_deref(), Some("a&b=c+d%"));
        assert_eq!((find("code=1&code=2", "code"), find("code", "code")), (None, None));
        assert!(has("code=1&iss", "iss") && has("iss=1&iss=2", "iss") && !has("miss=1", "iss"));
    }
}
