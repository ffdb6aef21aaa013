//! The requests. Each group is about one part of a message.

mod bodies;
mod connections;
mod fields;
mod hosts;
mod start;
mod targets;

use std::fmt::Write;

/// One request, or several on one connection.
pub(super) struct Case {
    pub(super) group: &'static str,
    /// The section that decides: of RFC 9112, unless it says another.
    pub(super) section: &'static str,
    pub(super) bytes: Vec<u8>,
    /// Why Skep does something else than most others, if it does.
    pub(super) reason: Option<&'static str>,
}

/// What follows on the connection where the end of a body is in question.
const NEXT: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

impl Case {
    /// The request as a cell of a table: its end is left out if it is the usual one.
    pub(super) fn shown(&self) -> String {
        let mut bytes = &self.bytes[..];
        let mut more = "";
        if let Some(first) = bytes.strip_suffix(NEXT.as_bytes()).filter(|first| !first.is_empty()) {
            (bytes, more) = (first, " + GET");
        }
        let mut text = String::new();
        for byte in bytes {
            match byte {
                b'\r' => text.push_str("\\r"),
                b'\n' => text.push_str("\\n"),
                b'\t' => text.push_str("\\t"),
                b'|' => text.push_str("\\|"),
                b'`' => text.push_str("\\x60"),
                b' '..=b'~' => text.push(char::from(*byte)),
                other => {
                    let _ = write!(text, "\\x{other:02x}");
                }
            }
        }
        if text.len() > 130 {
            text = format!("{} ... ({} bytes)", &text[..90], bytes.len());
        }
        format!("`{text}`{more}")
    }
}

/// All requests.
pub(super) fn all() -> Vec<Case> {
    [start::cases(), targets::cases(), hosts::cases(), fields::cases(), bodies::cases(), connections::cases()]
        .into_iter()
        .flatten()
        .collect()
}

fn group<B: AsRef<[u8]>>(
    group: &'static str,
    section: &'static str,
    requests: impl IntoIterator<Item = B>,
) -> Vec<Case> {
    requests.into_iter().map(|bytes| Case { group, section, bytes: bytes.as_ref().to_vec(), reason: None }).collect()
}

/// Gives some of these requests a reason why Skep does something else than most others.
fn because(cases: &mut [Case], requests: impl IntoIterator<Item = String>, reason: &'static str) {
    for request in requests {
        let case = cases.iter_mut().find(|case| case.bytes == request.as_bytes());
        case.unwrap_or_else(|| panic!("no such request: {request:?}")).reason = Some(reason);
    }
}
