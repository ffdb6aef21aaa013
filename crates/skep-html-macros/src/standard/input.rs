//! The attributes of `input` by its `type` (4.10.5.1).

const TEXTS: &[&str] = &["text", "search", "tel", "url", "email", "password"];
const TIMES: &[&str] = &["date", "month", "week", "time", "datetime-local"];
const SUBMITS: &[&str] = &["submit", "image"];
const BUTTONS: &[&str] = &["submit", "image", "reset", "button"];
const NUMBERS: &[&str] = &["number", "range"];

/// Attributes that only some types have, and these types.
pub(crate) const ATTRIBUTES: &[(&str, &[&[&str]])] = &[
    ("accept", &[&["file"]]),
    ("alpha", &[&["color"]]),
    ("alt", &[&["image"]]),
    ("autocomplete", &[&["hidden", "range", "color", "number"], TEXTS, TIMES]),
    ("capture", &[&["file"]]),
    ("checked", &[&["checkbox", "radio"]]),
    ("colorspace", &[&["color"]]),
    ("dirname", &[&["hidden", "submit"], TEXTS]),
    ("formaction", &[SUBMITS]),
    ("formenctype", &[SUBMITS]),
    ("formmethod", &[SUBMITS]),
    ("formnovalidate", &[SUBMITS]),
    ("formtarget", &[SUBMITS]),
    ("height", &[&["image"]]),
    ("list", &[&["text", "search", "tel", "url", "email", "color"], TIMES, NUMBERS]),
    ("max", &[TIMES, NUMBERS]),
    ("maxlength", &[TEXTS]),
    ("min", &[TIMES, NUMBERS]),
    ("minlength", &[TEXTS]),
    ("multiple", &[&["email", "file"]]),
    ("pattern", &[TEXTS]),
    ("placeholder", &[&["number"], TEXTS]),
    ("popovertarget", &[BUTTONS]),
    ("popovertargetaction", &[BUTTONS]),
    ("readonly", &[&["number"], TEXTS, TIMES]),
    ("required", &[&["number", "checkbox", "radio", "file"], TEXTS, TIMES]),
    ("size", &[TEXTS]),
    ("src", &[&["image"]]),
    ("step", &[TIMES, NUMBERS]),
    ("webkitdirectory", &[&["file"]]),
    ("width", &[&["image"]]),
];

/// The types that have the attribute, if not all have it.
pub(crate) fn types(attribute: &str) -> Option<Vec<&'static str>> {
    let (_, types) = ATTRIBUTES.iter().find(|(name, _)| *name == attribute)?;
    Some(types.iter().flat_map(|types| types.iter().copied()).collect())
}
