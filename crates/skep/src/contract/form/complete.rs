//! A literal form that leaves a required field out does not compile.
//!
//! `html!` knows which fields a form has, the service knows which it needs: they meet in a constant.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::field::{Control, FormField};
use super::info::FieldInfo;
use super::name::Name;
use super::{Core, Form};
use crate::base::const_text::{ConstText, is_same};
use crate::html::{Controls, Html, NamedControls, ProvedBy, Render};

/// What has the controls of a field of type `T`, or of a row of it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the type of this piece does not say that it has the controls of `{T}`",
    label = "this is `{Self}`",
    note = "let the function return `Html<Flow, Controls<{T}>>` (`skep::html::Controls`), made by `piece!`; for the rows \
            of a `Vec<Row>` it is `Controls<Row>`, of `form.row(Service::rows, row)`"
)]
pub trait Writes<T> {}

#[diagnostic::do_not_recommend]
impl<C, T> Writes<T> for Html<C, Controls<T>> {}
#[diagnostic::do_not_recommend]
impl<C, T> Writes<Vec<T>> for Html<C, Controls<T>> {}

#[diagnostic::do_not_recommend]
impl<S, T> ProvedBy<Name<S, T>> for Controls<T> {}

/// The controls of this field are in this piece, as its type says. Only the code that `piece!` makes calls it.
#[doc(hidden)]
pub fn written<S, T, P: Render<Content: Writes<T>>>(_name: Name<S, T>, piece: &P) -> &P {
    piece
}

/// Stops the compiler if a field that is required is neither `given` nor sent by a control that the author wrote
/// `by_hand`; `sometimes` are fields with a control that is not always sent. Only the code that `html!` makes calls it.
///
/// What is given and no field was misspelt. That rustc says itself, and nothing is missed besides.
#[doc(hidden)]
pub const fn complete(service: &str, fields: &[FieldInfo], given: &[&str], by_hand: &[&str], sometimes: &[&str]) {
    let form = GivenBy { service, given, by_hand, sometimes };
    let is_spelt = are_fields(given, fields) && are_fields(sometimes, fields);
    if is_spelt && let Some(message) = form.complaint("", fields) {
        panic!("{}", message.text());
    }
}

/// What a form sends of a service.
struct GivenBy<'c> {
    service: &'c str,
    given: &'c [&'c str],
    by_hand: &'c [&'c str],
    sometimes: &'c [&'c str],
}

impl GivenBy<'_> {
    /// What it lacks of these fields, which are those of this group, or of none.
    const fn complaint(&self, group: &str, fields: &[FieldInfo]) -> Option<ConstText> {
        let mut all = fields;
        while let [field, rest @ ..] = all {
            let complaint = if field.many && !field.group.is_empty() {
                self.complaint_of_rows(group, field)
            } else if !field.group.is_empty() && !contains(self.given, group, field.name) {
                self.complaint_of_group(group, field)
            } else if field.required {
                self.complaint_of_field(group, field.name)
            } else {
                None
            };
            if complaint.is_some() {
                return complaint;
            }
            all = rest;
        }
        None
    }

    /// Of a group that is not given as a whole.
    const fn complaint_of_group(&self, group: &str, field: &FieldInfo) -> Option<ConstText> {
        let complaint = self.complaint(field.name, field.group);
        if complaint.is_some() && contains(self.sometimes, group, field.name) {
            return Some(missing_sometimes(self.service, group, field.name));
        }
        complaint
    }

    const fn complaint_of_field(&self, group: &str, name: &str) -> Option<ConstText> {
        if contains(self.given, group, name) || contains(self.by_hand, group, name) {
            None
        } else if contains(self.sometimes, group, name) {
            Some(missing_sometimes(self.service, group, name))
        } else if group.is_empty() {
            Some(missing(self.service, name))
        } else {
            Some(missing_in_group(self.service, group, name))
        }
    }

    /// Of the rows that it has.
    const fn complaint_of_rows(&self, group: &str, list: &FieldInfo) -> Option<ConstText> {
        let names = if has_rows(self.given, group, list.name) { self.given } else { self.sometimes };
        let mut columns = list.group;
        while has_rows(names, group, list.name)
            && let [FieldInfo { name, required, .. }, rest @ ..] = columns
        {
            if *required && !is_column(names, group, list.name, name) {
                return Some(missing_column(self.service, group, list.name, name));
            }
            columns = rest;
        }
        None
    }
}

const fn missing(service: &str, name: &str) -> ConstText {
    let message = "this form has no control for `{1}`, which `{0}` requires: add `input ({0}::{1});` or another control, \
                   or make the field an `Option`; if a function writes the control, say so: \
                   `@fields({0}::{1}) { (function(&form, {0}::{1})) }`";
    ConstText::filled(message, &[service, name])
}

const fn missing_in_group(service: &str, group: &str, name: &str) -> ConstText {
    let message = "this form has no control for `{1}.{2}`, which `{0}` requires: have a function write the controls of \
                   the group, and say so: `@fields({0}::{1}) { (function(&form.fields({0}::{1}))) }`; or add a control \
                   for each of its fields, `input ({0}::{1}.field(...::{2}));`";
    ConstText::filled(message, &[service, group, name])
}

const fn missing_sometimes(service: &str, group: &str, name: &str) -> ConstText {
    let message = "this form has a control for `{1}{2}{3}`, which `{0}` requires, and does not always send it: it is in \
                   one branch, a loop or a `template`, or sends nothing (`disabled`, `form=\"...\"`, `type=\"button\"`); \
                   add one in the other branches (`@else`), or make the field an `Option`";
    ConstText::filled(message, &[service, group, if group.is_empty() { "" } else { "." }, name])
}

const fn missing_column(service: &str, group: &str, list: &str, name: &str) -> ConstText {
    let [dot, open, close] = if group.is_empty() { ["", "", ""] } else { [".", ".field(...::", ")"] };
    let message = "the rows of `{1}{2}{3}` in this form have no control for `{4}`, which each row requires: add \
                   `input ({0}::{1}{5}{3}{6}.row(row, ...::{4}));` or another control, or make the field an `Option`";
    ConstText::filled(message, &[service, group, dot, list, name, open, close])
}

const fn are_fields(mut names: &[&str], fields: &[FieldInfo]) -> bool {
    while let [name, rest @ ..] = names {
        if !is_field(name, fields) {
            return false;
        }
        names = rest;
    }
    true
}

/// `author`, `course.title` of a group, or `lines.product` of a list.
const fn is_field(name: &str, mut fields: &[FieldInfo]) -> bool {
    while let [field, rest @ ..] = fields {
        let is_same = is_same(name, field.name);
        if is_same || starts_with(name, field.name) && is_field(behind(name, field.name), field.group) {
            return true;
        }
        fields = rest;
    }
    false
}

/// Is there a control of a row, so that others of the row may be missing?
const fn has_rows(mut names: &[&str], group: &str, list: &str) -> bool {
    while let [name, rest @ ..] = names {
        if is_in(name, group) && starts_with(behind(name, group), list) {
            return true;
        }
        names = rest;
    }
    false
}

const fn is_column(mut names: &[&str], group: &str, list: &str, column: &str) -> bool {
    while let [name, rest @ ..] = names {
        if is_in(name, group)
            && starts_with(behind(name, group), list)
            && is_same(behind(behind(name, group), list), column)
        {
            return true;
        }
        names = rest;
    }
    false
}

/// Does the name of a field begin with this group or list, and a dot?
const fn starts_with(name: &str, list: &str) -> bool {
    let end = list.len();
    name.len() > end && name.as_bytes()[end] == b'.' && is_same(name.split_at(end).0, list)
}

/// All names are in the form itself, which has no name.
const fn is_in(name: &str, group: &str) -> bool {
    group.is_empty() || starts_with(name, group)
}

/// The name without this group, in which it is.
const fn behind<'n>(name: &'n str, group: &str) -> &'n str {
    if group.is_empty() { name } else { name.split_at(group.len() + 1).1 }
}

const fn contains(mut names: &[&str], group: &str, name: &str) -> bool {
    while let [other, rest @ ..] = names {
        if is_in(other, group) && is_same(behind(other, group), name) {
            return true;
        }
        names = rest;
    }
    false
}

impl<S> Form<S> {
    /// `@fields` says that this piece has the controls of this field, as its type does. A debug build also sees whether
    /// they are of this field, and not of another one of its type. Only the code that `html!` makes calls it.
    #[doc(hidden)]
    pub fn written<'p, T: FormField, P: Render<Content: Writes<T>>>(&self, name: Name<S, T>, piece: &'p P) -> &'p P {
        if cfg!(debug_assertions) {
            self.expect(name);
        }
        piece
    }

    fn expect<T: FormField>(&self, name: Name<S, T>) {
        let (name, mut promised) = (self.name_of(name), self.core.promised.borrow_mut());
        let group = <T::One as Control>::GROUP;
        if group.is_empty() || T::MANY {
            promised.extend((T::REQUIRED || T::MANY && !group.is_empty()).then_some(Promise { name, columns: group }));
            return;
        }
        for field in group.iter().filter(|field| field.required || !field.group.is_empty()) {
            let name = Cow::Owned(format!("{name}.{}", field.name));
            promised.push(Promise { name, columns: field.group });
        }
    }

    /// A part of a form that names no field has all that are required. Only the code that `html!` makes calls it.
    #[doc(hidden)]
    pub fn expect_fields<C: NamedControls>(&self)
    where
        S: Control,
    {
        const { complete("this group", S::GROUP, &[], C::NAMES, &[]) }
    }
}

impl Core {
    /// What the compiler cannot see, a debug build does when it shows the form.
    pub(super) fn check_promises(&self, written: &str) {
        let content = written.get(self.start.get()..).unwrap_or_default();
        for promise in self.promised.take() {
            promise.check(content);
        }
    }
}

/// A field whose control a function writes.
#[derive(Clone)]
pub(super) struct Promise {
    name: Cow<'static, str>,
    /// What each of its rows has, if it has rows.
    columns: &'static [FieldInfo],
}

impl Promise {
    fn check(&self, content: &str) {
        if self.columns.is_empty() {
            return expect_in(content, &self.name);
        }
        for row in rows_in(content, &self.name) {
            for column in self.columns.iter().filter(|column| column.required) {
                expect_in(content, &format!("{}.{row}.{}", self.name, column.name));
            }
        }
    }
}

fn expect_in(content: &str, name: &str) {
    let control = format!(" name=\"{name}\"");
    assert!(content.contains(&control), "`@fields` promises a control for `{name}`, and the form has none");
}

/// The numbers of the rows that have any control.
fn rows_in(content: &str, list: &str) -> BTreeSet<usize> {
    let start = format!(" name=\"{list}.");
    content.split(&start).skip(1).filter_map(|rest| rest.split_once('.')?.0.parse().ok()).collect()
}
