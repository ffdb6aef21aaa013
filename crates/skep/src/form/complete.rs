//! A literal form that leaves a required field out does not compile.
//!
//! `html!` knows which fields a form has, the service knows which it needs: they meet in a constant.

use super::field::{FormField, Name};
use super::info::FieldInfo;
use super::{Core, Form};
use crate::const_text::{ConstText, is_same};
use crate::service::Service;

/// Stops the compiler if a field that is required is neither `given` nor sent by a control that the author wrote `by_hand`; `sometimes`
/// are fields with a control that is not always sent. Only the code that `html!` makes calls it.
///
/// What is given and no field was misspelt. That rustc says itself, and nothing is missed besides.
#[doc(hidden)]
pub const fn complete(service: &str, fields: &[FieldInfo], given: &[&str], by_hand: &[&str], sometimes: &[&str]) {
    if !are_fields(given, fields) || !are_fields(sometimes, fields) {
        return;
    }
    let mut at = 0;
    while at < fields.len() {
        let field = &fields[at];
        if field.required && !contains(given, field.name) && !contains(by_hand, field.name) {
            let message = if contains(sometimes, field.name) {
                missing_sometimes(service, field.name)
            } else {
                missing(service, field.name)
            };
            panic!("{}", message.text());
        }
        let mut column = 0;
        while column < field.group.len() {
            let (list, column_name) = (field.name, field.group[column].name);
            let names = if has_rows(given, list) { given } else { sometimes };
            let is_there = !has_rows(names, list) || is_column(names, list, column_name);
            assert!(is_there || !field.group[column].required, "{}", missing_column(service, list, column_name).text());
            column += 1;
        }
        at += 1;
    }
}

const fn missing(service: &str, name: &str) -> ConstText {
    ConstText::of(&[
        "this form has no control for `",
        name,
        "`, which `",
        service,
        "` requires: add `input (",
        service,
        "::",
        name,
        ");` or another control, or make the field an `Option`; if a function writes the control, say so: `@fields(",
        service,
        "::",
        name,
        ") { (function(form)) }`",
    ])
}

const fn missing_sometimes(service: &str, name: &str) -> ConstText {
    ConstText::of(&[
        "this form has a control for `",
        name,
        "`, which `",
        service,
        "` requires, and does not always send it: it is in one branch, a loop or a `template`, or sends nothing (`disabled`, \
         `form=\"...\"`, `type=\"button\"`); add one in the other branches (`@else`), or make the field an `Option`",
    ])
}

const fn missing_column(service: &str, list: &str, name: &str) -> ConstText {
    ConstText::of(&[
        "the rows of `",
        list,
        "` in this form have no control for `",
        name,
        "`, which each row requires: add `input (",
        service,
        "::",
        list,
        ".row(row, ...::",
        name,
        "));` or another control, or make the field an `Option`",
    ])
}

const fn are_fields(names: &[&str], fields: &[FieldInfo]) -> bool {
    let mut at = 0;
    while at < names.len() {
        if !is_field(names[at], fields) {
            return false;
        }
        at += 1;
    }
    true
}

/// `author`, or `lines.product` of a list.
const fn is_field(name: &str, fields: &[FieldInfo]) -> bool {
    let mut at = 0;
    while at < fields.len() {
        let field = &fields[at];
        if is_same(name, field.name) {
            return true;
        }
        let mut column = 0;
        while column < field.group.len() {
            if is_column(&[name], field.name, field.group[column].name) {
                return true;
            }
            column += 1;
        }
        at += 1;
    }
    false
}

/// Is there a control of a row, so that others of the row may be missing?
const fn has_rows(names: &[&str], list: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if starts_with(names[at], list) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_column(names: &[&str], list: &str, column: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if starts_with(names[at], list) && is_same(names[at].split_at(list.len() + 1).1, column) {
            return true;
        }
        at += 1;
    }
    false
}

/// Is it a field of a row of this list?
const fn starts_with(name: &str, list: &str) -> bool {
    let (name, list) = (name.as_bytes(), list.as_bytes());
    let mut at = 0;
    while at < list.len() && at < name.len() && list[at] == name[at] {
        at += 1;
    }
    at == list.len() && at < name.len() && name[at] == b'.'
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

impl<S: Service> Form<S> {
    /// `@fields` says that a control of this field is written in its block. Only the code that `html!` makes calls it.
    #[doc(hidden)]
    pub fn expect<T: FormField>(&self, name: Name<S, T>) {
        if cfg!(debug_assertions) && T::REQUIRED {
            self.core.promised.borrow_mut().push(name.text());
        }
    }
}

impl Core {
    /// What the compiler cannot see, a debug build does when it shows the form.
    pub(super) fn check_promises(&self, written: &str) {
        let content = written.get(self.start.get()..).unwrap_or_default();
        for name in self.promised.take() {
            let control = format!(" name=\"{name}\"");
            assert!(content.contains(&control), "`@fields` promises a control for `{name}`, and the form has none");
        }
    }
}
