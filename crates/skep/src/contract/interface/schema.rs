//! JSON Schemas of what forms and addresses hold.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Number, Value, json};

use crate::Slug;
use crate::contract::form::{
    Control, Date, DateTime, Decimal, Email, MultilineText, Password, Shape, Text, Time, Url, Whole,
};

/// HTML's time of day (HTML, 2.3.5.4), which RFC 3339's `time` is not: it has no zone.
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,3})?)?";
const DATE_TIME: &str = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,3})?)?";

/// The schema of what a control takes. JSON Schema counts code points where browsers and [`Text`] count UTF-16 code
/// units: a text with many emoji may be too long for us and not for the schema.
pub(crate) fn of_shape(shape: &Shape) -> Value {
    let one = Value::Object(of_one(shape));
    if shape.multiple { json!({ "type": "array", "items": one }) } else { one }
}

fn of_one(shape: &Shape) -> Map<String, Value> {
    let mut schema = Map::new();
    if !shape.options.is_empty() {
        schema.insert("type".into(), "string".into());
        schema.insert("enum".into(), shape.options.iter().map(|option| option.value).collect());
        return schema;
    }
    match shape.kind {
        "number" => numbers(&mut schema, shape),
        "checkbox" => {
            schema.insert("type".into(), "boolean".into());
        }
        "file" => {
            schema.insert("type".into(), "string".into());
            schema.insert("contentMediaType".into(), "application/octet-stream".into());
            if let Some(most) = shape.max_bytes {
                schema.insert("description".into(), format!("A file of at most {most} bytes.").into());
            }
        }
        _ => texts(&mut schema, shape),
    }
    schema
}

fn numbers(schema: &mut Map<String, Value>, shape: &Shape) {
    let number = |text: &str| serde_json::from_str::<Number>(text).ok();
    let step = shape.step.as_deref();
    schema.insert("type".into(), if step.is_none() { "integer" } else { "number" }.into());
    let limits = [("minimum", shape.min.as_deref()), ("maximum", shape.max.as_deref()), ("multipleOf", step)];
    schema.extend(limits.into_iter().filter_map(|(name, text)| Some((name.to_owned(), number(text?)?.into()))));
}

fn texts(schema: &mut Map<String, Value>, shape: &Shape) {
    schema.insert("type".into(), "string".into());
    let (format, pattern) = match shape.kind {
        "email" => (Some("email"), None),
        "url" => (Some("uri"), None),
        "date" => (Some("date"), None),
        "password" => (Some("password"), None),
        "time" => (None, Some(TIME)),
        "datetime-local" => (None, Some(DATE_TIME)),
        _ => (None, None),
    };
    let pattern = pattern.or(shape.pattern).map(|pattern| format!("^(?:{pattern})$"));
    let plain = shape.plain.then(|| plain(shape.kind == "textarea", shape.required));
    let least = shape.min_length.or((shape.required && pattern.is_none()).then_some(1));
    let facts: [(&str, Option<Value>); 5] = [
        ("format", format.map(Into::into)),
        ("pattern", pattern.or(plain).map(Into::into)),
        ("minLength", least.map(Into::into)),
        ("maxLength", shape.max_length.map(Into::into)),
        ("writeOnly", shape.secret.then_some(true.into())),
    ];
    schema.extend(facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
}

/// What a text without control characters looks like once white space at its ends is left out: with some, it is
/// accepted as well, but its length is another one then. All white space is spelled out: `\s` is something else in each
/// language.
fn plain(has_lines: bool, required: bool) -> String {
    const SPACE: &str = r"\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
    const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";
    const CONTROL_BUT_LINES: &str = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f";
    let (end, inside) = (format!("[^{CONTROL}{SPACE}]"), if has_lines { CONTROL_BUT_LINES } else { CONTROL });
    let text = format!("{end}(?:[^{inside}]*{end})?");
    if required { format!("^{text}$") } else { format!("^(?:{text})?$") }
}

/// The types of forms are the same in a JSON body.
macro_rules! schemas {
    ($([$($generics:tt)*] $type:ty, $name:literal, $schema:expr;)*) => {$(
        impl<$($generics)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                Schema::try_from($schema).expect("an object")
            }
        }
    )*};
}

schemas! {
    [const MIN: usize, const MAX: usize] Text<MIN, MAX>, "Text", of_shape(&Self::shape());
    [const MIN: usize, const MAX: usize] MultilineText<MIN, MAX>, "MultilineText", of_shape(&Self::shape());
    [const MIN: usize, const MAX: usize] Password<MIN, MAX>, "Password", of_shape(&Self::shape());
    [const MIN: i64, const MAX: i64] Whole<MIN, MAX>, "Whole", of_shape(&Self::shape());
    [] Email, "Email", of_shape(&Self::shape());
    [] Url, "Url", of_shape(&Self::shape());
    [] Slug, "Slug", of_shape(&Self::shape());
    [] Date, "Date", of_shape(&Self::shape());
    [] Time, "Time", of_shape(&Self::shape());
    [] DateTime, "DateTime", of_shape(&Self::shape());
    // A text, since many readers of JSON have no exact decimals.
    [const PLACES: u32, const MIN: i64, const MAX: i64] Decimal<PLACES, MIN, MAX>, "Decimal", decimal(PLACES);
}

fn decimal(places: u32) -> Value {
    let fraction = if places == 0 { String::new() } else { format!("(\\.[0-9]{{1,{places}}})?") };
    json!({ "type": "string", "pattern": format!("^-?[0-9]+{fraction}$") })
}
