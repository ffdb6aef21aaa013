//! Services that cannot be distinguished, found while the program is built.
//!
//! This sees the services of one list, and of those what every request would confuse. What only some links would, and
//! what stands in two lists, is found at the start: `router::conflict`.

use http::Method;

use super::Route;
use crate::base::const_text::{ConstText, is_same};

/// What the compiler says of two services that no request tells apart.
pub(crate) const fn indistinguishable(one: &Route, other: &Route) -> Option<ConstText> {
    if are_one(one, other) { Some(complaint(one, other)) } else { None }
}

const fn are_one(one: &Route, other: &Route) -> bool {
    method(&one.method) == method(&other.method)
        && is_same_path(one, other)
        && requires_all(one, other)
        && requires_all(other, one)
        && is_same_pair(one.when, other.when)
}

/// `PartialEq` is no matter for a `const`.
const fn method(method: &Method) -> u8 {
    match *method {
        Method::GET => 0,
        Method::POST => 1,
        Method::PUT => 2,
        Method::PATCH => 3,
        _ => 4,
    }
}

/// True if `one` requires every parameter that `other` does.
const fn requires_all(one: &Route, other: &Route) -> bool {
    let mut at = 0;
    while at < other.query.len() {
        let parameter = other.query[at];
        if parameter.required && !requires(one, parameter.name) {
            return false;
        }
        at += 1;
    }
    true
}

const fn requires(route: &Route, name: &str) -> bool {
    let mut at = 0;
    while at < route.query.len() {
        if route.query[at].required && is_same(route.query[at].name, name) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same_pair(one: Option<(&str, &str)>, other: Option<(&str, &str)>) -> bool {
    match (one, other) {
        (Some((name, value)), Some((other_name, other_value))) => {
            is_same(name, other_name) && is_same(value, other_value)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Parameters are known by their position: their names are passed over.
const fn is_same_path(one: &Route, other: &Route) -> bool {
    let (mut at, mut other_at) = (0, 0);
    loop {
        let next = byte(one, at);
        if next != byte(other, other_at) {
            return false;
        }
        if next == 0 {
            return true;
        }
        if next == b'{' {
            let is_rest = byte(one, at + 1) == b'*';
            if is_rest != (byte(other, other_at + 1) == b'*') {
                return false;
            }
            at = name_end(one, at);
            other_at = name_end(other, other_at);
        } else {
            at += 1;
            other_at += 1;
        }
    }
}

/// Where the name of a parameter ends.
const fn name_end(route: &Route, mut at: usize) -> usize {
    while !matches!(byte(route, at), b'}' | 0) {
        at += 1;
    }
    at
}

/// A byte of prefix and pattern, and 0 at their end.
const fn byte(route: &Route, at: usize) -> u8 {
    let (prefix, pattern) = (route.prefix.as_bytes(), route.pattern.as_bytes());
    if at < prefix.len() {
        return prefix[at];
    }
    let at = at - prefix.len();
    if at < pattern.len() { pattern[at] } else { 0 }
}

/// What the compiler says of two that it cannot tell apart.
const fn complaint(one: &Route, other: &Route) -> ConstText {
    let message = "{0} and {1} cannot be distinguished: both answer at {2}{3}, and no request leads to the one and not \
                   to the other; give one of them another path, another method or a required query parameter of its own";
    ConstText::filled(message, &[one.service, other.service, one.prefix, one.pattern])
}

#[cfg(test)]
#[path = "../../../tests/unit/service/ambiguity.rs"]
mod tests;
