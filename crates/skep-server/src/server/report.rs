//! What an application says of itself, in the two forms that a supervisor hands on.

use std::fmt::Write;

use skep::Site;
use skep::status::{Part, Value};

/// The channel to a supervisor has room for so much, and more.
const MOST: usize = 64 << 10;

/// All of it: lines of text, or a list for programs.
pub(crate) fn of(site: &Site, json: bool) -> String {
    let parts = site.status();
    if json { list(&parts, None) } else { text(&parts) }
}

/// The same of one process among several, in the form that it has among theirs: nothing, if it has nothing to say.
pub(crate) fn of_process(site: &Site, json: bool) -> String {
    let (parts, process) = (site.status(), std::process::id());
    if parts.is_empty() {
        String::new()
    } else if json {
        list(&parts, Some(process)).trim_start_matches('[').trim_end_matches(']').to_owned()
    } else {
        let text = text(&parts);
        let indented = text.lines().fold(String::new(), |all, line| all + "  " + line + "\n");
        format!("process {process}:\n{indented}")
    }
}

/// What several processes have said, and who of them has said nothing in time.
pub(crate) fn of_processes(said: &[String], silent: &[u32], json: bool) -> String {
    let none = |process: &u32| {
        if json {
            format!("{{\"process\":{process},\"name\":null}}")
        } else {
            format!("process {process} did not say in time how it is\n")
        }
    };
    let (mut all, mut left_out): (Vec<String>, usize) = (Vec::new(), 0);
    let mut room = MOST;
    for part in said.iter().filter(|said| !said.is_empty()).cloned().chain(silent.iter().map(none)) {
        match room.checked_sub(part.len()) {
            Some(left) => {
                room = left;
                all.push(part);
            }
            None => left_out += 1,
        }
    }
    if json {
        return format!("[{}]", all.join(","));
    }
    if left_out > 0 {
        all.push(format!("and {left_out} more processes, for which there is no room here\n"));
    }
    all.concat()
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

fn list(parts: &[Part], process: Option<u32>) -> String {
    let mut out = String::from("[");
    for part in parts {
        let part = object(part, process);
        if out.len() + part.len() > MOST {
            break;
        }
        out.push_str(if out.len() > 1 { "," } else { "" });
        out.push_str(&part);
    }
    out + "]"
}

fn object(part: &Part, process: Option<u32>) -> String {
    let of = process.map_or_else(String::new, |process| format!("\"process\":{process},"));
    let mut out = format!("{{{of}\"name\":{}", quoted(part.name()));
    for (key, value) in part.values().filter(|(key, _)| process.is_none() || *key != "process") {
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
    fn what_several_processes_say_stands_together_as_far_as_there_is_room() {
        let parts = [Part::new("orders").value("process", 5_u64).value("waiting", 7_u64)];
        assert_eq!(list(&parts, Some(12)), r#"[{"process":12,"name":"orders","waiting":7}]"#);
        let said = [String::new(), "{1}".to_owned(), "x".repeat(MOST), "{2}".to_owned()];
        assert_eq!(of_processes(&said, &[9], true), r#"[{1},{2},{"process":9,"name":null}]"#);
        let text = of_processes(&said, &[9], false);
        assert!(text.starts_with("{1}{2}process 9 did not say in time how it is\nand 1 more"), "{text}");
        assert_eq!(of_processes(&[], &[], true), "[]");
    }

    #[test]
    fn what_is_too_much_ends_at_a_whole_part() {
        let parts: Vec<Part> =
            (0..3000).map(|number| Part::new(format!("p{number}")).value("n\"", "a long value of it")).collect();
        let (text, list) = (text(&parts), list(&parts, None));
        assert!(text.len() < MOST + 100 && list.len() <= MOST + 1);
        assert!(text.ends_with(" more, for which there is no room here\n"), "{}", &text[text.len() - 99..]);
        assert!(
            list.starts_with(r#"[{"name":"p0","n\"":"a long value of it"},{"name":"p1","#) && list.ends_with("\"}]")
        );
    }
}
