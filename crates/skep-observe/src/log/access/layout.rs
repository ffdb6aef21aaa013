//! Layouts of the access log.

use std::time::{SystemTime, UNIX_EPOCH};

use http::StatusCode;

use super::{AccessLine, without_secrets, write_target};
use crate::log::record::hex;
use crate::log::text::{date_and_time, write_escaped, write_padded};
use crate::log::write_json;

/// How a line looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AccessLayout {
    Text,
    Common,
    Combined,
    Json,
    Pattern(Vec<Piece>),
}

/// A part of a pattern in the letters of Apache's `mod_log_config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Field(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Peer,
    User,
    Time,
    /// `GET /search?q=bees HTTP/1.1`
    Request,
    Method,
    /// With the query.
    Target,
    Version,
    Status,
    Bytes,
    Micros,
    Seconds,
    Referer,
    Agent,
    Id,
    Trace,
}

const LETTERS: &str =
    "%h %u %t %r %m %U %H %s %b %D %T %{Referer}i %{User-Agent}i %{id}x %{trace}x (and %l, which is always -)";

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl AccessLayout {
    pub(super) fn parse(layout: Option<&str>, pattern: Option<&str>) -> Result<Self, String> {
        match (layout, pattern) {
            (Some(_), Some(_)) => Err("layout and pattern exclude each other".into()),
            (None, Some(pattern)) => parse_pattern(pattern).map(Self::Pattern),
            (None | Some("text"), None) => Ok(Self::Text),
            (Some("common"), None) => Ok(Self::Common),
            (Some("combined"), None) => Ok(Self::Combined),
            (Some("json"), None) => Ok(Self::Json),
            (Some(other), None) => {
                Err(format!("layout={other}: expected text, common, combined or json, or pattern=\"...\""))
            }
        }
    }

    /// True if it has header fields of the request.
    pub(super) fn wants_headers(&self) -> bool {
        let is_header = |piece: &Piece| matches!(piece, Piece::Field(Field::Referer | Field::Agent));
        match self {
            Self::Combined | Self::Json => true,
            Self::Pattern(pieces) => pieces.iter().any(is_header),
            Self::Text | Self::Common => false,
        }
    }

    /// Appends a line. `time` is `now` as text.
    pub(super) fn write(&self, out: &mut Vec<u8>, line: &AccessLine<'_>, now: SystemTime, time: &[u8]) {
        match self {
            Self::Text => write_text(out, line, time),
            Self::Common => write_common(out, line, now),
            Self::Combined => {
                write_common(out, line, now);
                for field in [Field::Referer, Field::Agent] {
                    out.extend_from_slice(b" \"");
                    field.write(out, line, now);
                    out.push(b'"');
                }
            }
            Self::Json => write_object(out, line, time),
            Self::Pattern(pieces) => pieces.iter().for_each(|piece| match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Field(field) => field.write(out, line, now),
            }),
        }
        out.push(b'\n');
    }
}

fn write_text(out: &mut Vec<u8>, line: &AccessLine<'_>, time: &[u8]) {
    out.extend_from_slice(time);
    for word in [line.peer, line.method] {
        out.push(b' ');
        out.extend_from_slice(word.as_bytes());
    }
    out.push(b' ');
    write_target(out, line.target);
    out.push(b' ');
    out.extend_from_slice(line.status.as_ref().map_or("-", StatusCode::as_str).as_bytes());
    for number in [line.bytes, micros(line)] {
        out.push(b' ');
        write_padded(out, number, 1);
    }
    if let Some(id) = line.id {
        out.push(b' ');
        out.extend_from_slice(&hex(id));
    }
    for (name, value) in [(" trace=", line.trace), (" user=", line.user)] {
        if let Some(value) = value {
            out.extend_from_slice(name.as_bytes());
            // A word, whatever is in it.
            value.split(' ').enumerate().for_each(|(at, part)| {
                out.extend_from_slice(if at > 0 { b"\\u{20}" } else { b"" });
                write_escaped(out, part);
            });
        }
    }
}

/// `host - user [21/Nov/2026:07:30:00 +0000] "GET / HTTP/1.1" 200 512`
fn write_common(out: &mut Vec<u8>, line: &AccessLine<'_>, now: SystemTime) {
    out.extend_from_slice(line.peer.as_bytes());
    out.extend_from_slice(b" - ");
    Field::User.write(out, line, now);
    out.push(b' ');
    Field::Time.write(out, line, now);
    out.extend_from_slice(b" \"");
    Field::Request.write(out, line, now);
    out.extend_from_slice(b"\" ");
    Field::Status.write(out, line, now);
    out.push(b' ');
    Field::Bytes.write(out, line, now);
}

fn write_object(out: &mut Vec<u8>, line: &AccessLine<'_>, time: &[u8]) {
    out.extend_from_slice(b"{\"time\":\"");
    out.extend_from_slice(time);
    out.push(b'"');
    let mut target = Vec::new();
    write_target(&mut target, line.target);
    let referer = line.referer.map(without_secrets);
    let id = line.id.map(hex);
    let members = [
        ("peer", Some(line.peer)),
        ("method", Some(line.method)),
        // Escaped for a line already; once more for JSON.
        ("target", std::str::from_utf8(&target).ok()),
        ("version", Some(line.version).filter(|version| !version.is_empty())),
        ("referer", referer.as_deref()),
        ("agent", line.agent),
        ("request", id.as_ref().and_then(|id| std::str::from_utf8(id).ok())),
        ("trace", line.trace),
        ("user", line.user),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            write_json(out, value);
        }
    }
    let status = line.status.map_or(0, |status| u64::from(status.as_u16()));
    for (name, number) in [("status", status), ("bytes", line.bytes), ("micros", micros(line))] {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        write_padded(out, number, 1);
    }
    out.push(b'}');
}

fn micros(line: &AccessLine<'_>) -> u64 {
    line.time.as_secs().saturating_mul(1_000_000).saturating_add(line.time.subsec_micros().into())
}

fn parse_pattern(text: &str) -> Result<Vec<Piece>, String> {
    if text.contains(char::is_control) {
        return Err("a pattern has no control characters: a request is one line".to_owned());
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find('%') {
        pieces.push(Piece::Text(rest[..at].to_owned()));
        let (field, after) = parse_field(&rest[at + 1..])?;
        pieces.push(field);
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

fn parse_field(text: &str) -> Result<(Piece, &str), String> {
    // `%>s`: there are no internal redirects.
    let text = text.strip_prefix('>').unwrap_or(text);
    let (option, text) = match text.strip_prefix('{').and_then(|text| text.split_once('}')) {
        Some((option, rest)) => (option, rest),
        None => ("", text),
    };
    let letter = text.chars().next().ok_or("a pattern ends after a %: write %% for one")?;
    let field = match (letter, option.to_ascii_lowercase().as_str()) {
        ('%', "") => return Ok((Piece::Text("%".into()), &text[1..])),
        ('l', "") => return Ok((Piece::Text("-".into()), &text[1..])),
        ('h' | 'a', "") => Field::Peer,
        ('u', "") => Field::User,
        ('t', "") => Field::Time,
        ('r', "") => Field::Request,
        ('m', "") => Field::Method,
        ('U', "") => Field::Target,
        ('H', "") => Field::Version,
        ('s', "") => Field::Status,
        ('b' | 'B' | 'O', "") => Field::Bytes,
        ('D', "") => Field::Micros,
        ('T', "") => Field::Seconds,
        ('i', "referer") => Field::Referer,
        ('i', "user-agent") => Field::Agent,
        ('x', "id") => Field::Id,
        ('x', "trace") => Field::Trace,
        _ => {
            let option = if option.is_empty() { String::new() } else { format!("{{{option}}}") };
            return Err(format!("there is no %{option}{letter}: expected one of {LETTERS}"));
        }
    };
    Ok((Piece::Field(field), &text[1..]))
}

impl Field {
    fn write(self, out: &mut Vec<u8>, line: &AccessLine<'_>, now: SystemTime) {
        let text = |out: &mut Vec<u8>, value: Option<&str>| write_escaped(out, value.unwrap_or("-"));
        match self {
            Self::Peer => text(out, Some(line.peer)),
            // A space would be the end of the field.
            Self::User => text(out, line.user.map(|user| user.replace(' ', "_")).as_deref()),
            Self::Time => write_clf_time(out, now),
            Self::Request => {
                text(out, Some(line.method));
                out.push(b' ');
                write_target(out, line.target);
                out.push(b' ');
                text(out, Some(line.version).filter(|version| !version.is_empty()));
            }
            Self::Method => text(out, Some(line.method)),
            Self::Target => write_target(out, line.target),
            Self::Version => text(out, Some(line.version)),
            Self::Status => text(out, line.status.as_ref().map(StatusCode::as_str)),
            Self::Bytes => write_padded(out, line.bytes, 1),
            Self::Micros => write_padded(out, micros(line), 1),
            Self::Seconds => write_padded(out, line.time.as_secs(), 1),
            Self::Referer => text(out, line.referer.map(without_secrets).as_deref()),
            Self::Agent => text(out, line.agent),
            Self::Id => match line.id {
                Some(id) => out.extend_from_slice(&hex(id)),
                None => out.push(b'-'),
            },
            Self::Trace => text(out, line.trace),
        }
    }
}

/// `[21/Nov/2026:07:30:00 +0000]`
fn write_clf_time(out: &mut Vec<u8>, now: SystemTime) {
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let [year, month, day, hour, minute, second] = date_and_time(seconds);
    out.push(b'[');
    write_padded(out, day, 2);
    out.push(b'/');
    let month = usize::try_from(month).unwrap_or(1).saturating_sub(1);
    out.extend_from_slice(MONTHS.get(month).unwrap_or(&"Jan").as_bytes());
    out.push(b'/');
    write_padded(out, year, 4);
    for number in [hour, minute, second] {
        out.push(b':');
        write_padded(out, number, 2);
    }
    out.extend_from_slice(b" +0000]");
}
