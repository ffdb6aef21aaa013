//! A literal form that leaves a required field out does not compile.
//!
//! `html!` knows which fields a form has, the service knows which it needs: they meet in a constant.

use super::info::FieldInfo;
use crate::const_text::{ConstText, is_same};

/// Stops the compiler if a field that is required is neither `given` nor sent by a control that the author wrote `by_hand`. Only
/// the code that `html!` makes calls it.
///
/// What is given and no field was misspelt. That rustc says itself, and nothing is missed besides.
#[doc(hidden)]
pub const fn complete(service: &str, fields: &[FieldInfo], given: &[&str], by_hand: &[&str]) {
    if !are_fields(given, fields) {
        return;
    }
    let mut at = 0;
    while at < fields.len() {
        if fields[at].required && !contains(given, fields[at].name) && !contains(by_hand, fields[at].name) {
            let name = fields[at].name;
            let message = ConstText::of(&[
                "this form has no control for `",
                name,
                "`, which `",
                service,
                "` requires: add `input (",
                service,
                "::",
                name,
                ");` or another control, or make the field an `Option`",
            ]);
            panic!("{}", message.text());
        }
        at += 1;
    }
}

const fn are_fields(names: &[&str], fields: &[FieldInfo]) -> bool {
    let mut at = 0;
    while at < names.len() {
        let mut field = 0;
        while field < fields.len() && !is_same(names[at], fields[field].name) {
            field += 1;
        }
        if field == fields.len() {
            return false;
        }
        at += 1;
    }
    true
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if is_same(names[at], name) {
            return true;
        }
        at += 1;
    }
    false
}
