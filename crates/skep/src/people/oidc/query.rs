//! Names and values as a query or a form has them.

use crate::percent::{EncodeSet, decode_form, encode_written};

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
    let mut out = String::new();
    encode_written(&mut out, EncodeSet::Form, |out| out.push_str(value));
    out
}

/// The value of a name that is there once: of two, nobody can say which one counts.
pub(super) fn find(query: &str, name: &str) -> Option<String> {
    let mut values = query.split('&').filter_map(|pair| pair.split_once('=')).filter(|(key, _)| *key == name);
    let value = values.next()?.1;
    if values.next().is_some() { None } else { Some(decode_form(value)?.into_owned()) }
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
