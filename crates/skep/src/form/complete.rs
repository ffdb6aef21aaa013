//! A literal form that leaves a required field out does not compile.
//!
//! `html!` knows which fields a form has, the service knows which it needs: they meet in a constant.

use super::info::FieldInfo;

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
            let mut message = Message { bytes: [0; LONGEST], len: 0 };
            message.push("this form has no control for `");
            message.push(fields[at].name);
            message.push("`, which `");
            message.push(service);
            message.push("` requires: add `input (");
            message.push(service);
            message.push("::");
            message.push(fields[at].name);
            message.push(");` or another control, or make the field an `Option`");
            panic!("{}", message.text());
        }
        at += 1;
    }
}

const LONGEST: usize = 512;

/// What a constant can put together: it has no `String`.
struct Message {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Message {
    const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        // A message that is too long loses a word, never part of one.
        if self.len + text.len() > LONGEST {
            return;
        }
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.len] = text[at];
            self.len += 1;
            at += 1;
        }
    }

    const fn text(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.len);
        match str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => "this form has no control for a required field",
        }
    }
}

const fn are_fields(names: &[&str], fields: &[FieldInfo]) -> bool {
    let mut at = 0;
    while at < names.len() {
        let mut field = 0;
        while field < fields.len() && !is_same(names[at].as_bytes(), fields[field].name.as_bytes()) {
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
        if is_same(names[at].as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[FieldInfo] = &[
        FieldInfo { name: "author", required: true, file: false, shape: None, group: &[] },
        FieldInfo { name: "site", required: false, file: false, shape: None, group: &[] },
    ];

    #[test]
    fn a_form_with_all_required_fields_is_complete() {
        complete("Comment", FIELDS, &["author"], &[]);
        complete("Comment", FIELDS, &["site"], &["text", "author"]);
    }

    #[test]
    fn beside_a_misspelt_field_none_is_missed() {
        complete("Comment", FIELDS, &["site", "autho"], &[]);
    }

    #[test]
    #[should_panic(
        expected = "this form has no control for `author`, which `Comment` requires: add `input (Comment::author);`"
    )]
    fn a_form_that_leaves_one_out_is_told_which() {
        complete("Comment", FIELDS, &["site"], &["autho"]);
    }
}
