//! Keys by the names that they have in JavaScript (UI Events, `key`).

use serde_json::{Value, json};

pub(super) const EXPECTED: &str = "expected one character, or Enter, Escape, Tab, Backspace, Delete, Space, Home, End, \
                                   PageUp, PageDown, ArrowLeft, ArrowUp, ArrowRight or ArrowDown";

/// Names, numbers (`keyCode`), and what they type.
const KEYS: [(&str, u32, &str); 14] = [
    ("Enter", 13, "\r"),
    ("Escape", 27, ""),
    ("Tab", 9, ""),
    ("Backspace", 8, ""),
    ("Delete", 46, ""),
    ("Space", 32, " "),
    ("Home", 36, ""),
    ("End", 35, ""),
    ("PageUp", 33, ""),
    ("PageDown", 34, ""),
    ("ArrowLeft", 37, ""),
    ("ArrowUp", 38, ""),
    ("ArrowRight", 39, ""),
    ("ArrowDown", 40, ""),
];

/// What the protocol has to know of a key.
pub(super) fn event(name: &str) -> Option<Value> {
    if let Some((name, number, text)) = KEYS.iter().find(|(known, ..)| *known == name) {
        let key = if *name == "Space" { " " } else { name };
        return Some(json!({ "key": key, "code": name, "windowsVirtualKeyCode": number, "text": text }));
    }
    let mut characters = name.chars();
    let (first, rest) = (characters.next()?, characters.next());
    rest.is_none()
        .then(|| json!({ "key": name, "text": name, "windowsVirtualKeyCode": u32::from(first.to_ascii_uppercase()) }))
}
