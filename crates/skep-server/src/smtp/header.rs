//! Header fields of mails: folded (RFC 5322, 2.2.3), and encoded where they are more than plain words (RFC 2047).
//!
//! No line has more than 78 octets but for an address that is longer by itself, and none has more than 998.

use std::fmt::Write;

use skep::mail::Mailbox;

/// Octets of a line without its end (RFC 5322, 2.1.1).
const LINE: usize = 78;

/// Octets of an encoded word. 75 are allowed (RFC 2047, 2); with the longest name of a field before it, a line of 76 is
/// not exceeded.
const WORD: usize = 62;

/// The value of an unstructured field, such as a subject, behind this name.
pub(super) fn text(name: &str, value: &str) -> String {
    if value.is_empty() || is_plain(value) && value.split(' ').all(fits) { folded(name, value) } else { encoded(value) }
}

/// The value of a field with one address.
pub(super) fn mailbox(name: &str, mailbox: &Mailbox) -> String {
    let address = &mailbox.address;
    let Some(shown) = &mailbox.name else { return address.clone() };
    let shown = phrase(name, shown);
    let last_line = shown.rsplit("\r\n").next().unwrap_or_default().len();
    let before = if shown.contains('\n') { 0 } else { name.len() + 2 };
    let end = if before + last_line + address.len() + 3 > LINE { "\r\n " } else { " " };
    format!("{shown}{end}<{address}>")
}

/// Words, a quoted string, or encoded words.
fn phrase(name: &str, text: &str) -> String {
    let is_atom = |word: &str| word.bytes().all(is_atext);
    if !is_plain(text) {
        return encoded(text);
    }
    if text.split(' ').all(|word| fits(word) && is_atom(word)) {
        return folded(name, text);
    }
    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    if name.len() + 2 + quoted.len() <= LINE { quoted } else { encoded(text) }
}

/// ASCII that no program takes for encoded words.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && !text.contains("=?")
}

/// A word that a line may be broken before. More spaces than one would be lost there.
fn fits(word: &str) -> bool {
    (1..=WORD).contains(&word.len())
}

fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// Breaks lines before spaces, of which each is one.
fn folded(name: &str, text: &str) -> String {
    let (mut out, mut line) = (String::new(), name.len() + 2);
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            if line + 1 + word.len() > LINE {
                out.push_str("\r\n");
                line = 0;
            }
            out.push(' ');
            line += 1;
        }
        out.push_str(word);
        line += word.len();
    }
    out
}

/// Encoded words of whole characters, one a line. Readers drop the spaces between them (RFC 2047, 6.2).
fn encoded(text: &str) -> String {
    const BEGIN: &str = "=?utf-8?q?";
    let mut words = vec![BEGIN.to_owned()];
    for sign in text.chars() {
        let sign = quoted(sign);
        if words[words.len() - 1].len() + sign.len() + 2 > WORD {
            words.push(BEGIN.to_owned());
        }
        words.last_mut().expect("there is one").push_str(&sign);
    }
    let words: Vec<String> = words.iter().map(|word| format!("{word}?=")).collect();
    words.join("\r\n ")
}

/// As it is in a word of any field (RFC 2047, 4.2 and 5).
fn quoted(sign: char) -> String {
    let mut out = String::new();
    for byte in sign.encode_utf8(&mut [0; 4]).bytes() {
        match byte {
            b' ' => out.push('_'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => out.push(char::from(byte)),
            _ => write!(out, "={byte:02X}").expect("a text takes everything"),
        }
    }
    out
}

#[cfg(test)]
#[path = "../../tests/unit/smtp/header.rs"]
mod tests;
