//! What an application says of itself, in the two forms that a supervisor hands on.

use std::fmt::Write;

use skep::Site;
use skep::status::{Part, Value};

/// The channel to a supervisor has room for so much, and more.
const MOST: usize = 64 << 10;

/// All of it: lines of text, or a list for programs.
pub(crate) fn of(site: &Site, json: bool) -> String {
    let parts = site.status();
    if json { list(&parts) } else { text(&parts) }
}

fn text(parts: &[Part]) -> String {
    let mut out = String::new();
    for (number, part) in parts.iter().enumerate() {
        let part = part.to_string();
        if out.len() + part.len() > MOST {
            let _ = writeln!(out, "and {} more, for which there is no room here", parts.len() - number);
            break;
        }
        out.push_str(&part);
    }
    out
}

fn list(parts: &[Part]) -> String {
    let mut out = String::from("[");
    for part in parts {
        let part = object(part);
        if out.len() + part.len() > MOST {
            break;
        }
        out.push_str(if out.len() > 1 { "," } else { "" });
        out.push_str(&part);
    }
    out + "]"
}

fn object(part: &Part) -> String {
    let mut out = format!("{{\"name\":{}", quoted(part.name()));
    for (key, value) in part.values() {
        let value = match value {
            Value::Number(number) => number.to_string(),
            Value::Truth(truth) => truth.to_string(),
            Value::Text(text) => quoted(text),
        };
        let _ = write!(out, ",{}:{value}", quoted(key));
    }
    out + "}"
}

/// As JSON has it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            character if u32::from(character) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_json_ends_where_it_ends() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }

    #[test]
    fn what_is_too_much_ends_at_a_whole_part() {
        let parts: Vec<Part> =
            (0..3000).map(|number| Part::new(format!("p{number}")).value("n\"", "a long value of it")).collect();
        let (text, list) = (text(&parts), list(&parts));
        assert!(text.len() < MOST + 100 && list.len() <= MOST + 1);
        assert!(text.ends_with(" more, for which there is no room here\n"), "{}", &text[text.len() - 99..]);
        assert!(
            list.starts_with(r#"[{"name":"p0","n\"":"a long value of it"},{"name":"p1","#) && list.ends_with("\"}]")
        );
    }
}
