//! Patterns in the letters of Log4perl's `PatternLayout`: `%d %-5p %c - %m`.

use std::time::UNIX_EPOCH;

use super::system::Identity;
use crate::log::record::{Record, hex};
use crate::log::text::{date_and_time, write_escaped, write_padded};

/// A pattern, taken apart.
#[derive(Clone, Debug)]
pub(in crate::log) struct Pattern {
    pieces: Vec<Piece>,
    identity: Identity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field { what: What, least: usize, most: Option<usize>, left: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// `%c`, with the number of last parts.
    Category(Option<usize>),
    /// `%C`, `%M`: Rust knows the module.
    Module,
    /// `%d`, with a format.
    Date(Option<String>),
    File,
    Host,
    Line,
    /// `%l`
    Location,
    Message,
    /// `%p`, with the number of letters.
    Level(Option<usize>),
    Pid,
    /// `%r`: milliseconds since the process started to log.
    Elapsed,
    /// `%x`
    Request,
    /// `%X{key}`
    Context(String),
}

/// What the pattern lacks, or has too much of.
type Problem = String;

impl Pattern {
    pub(in crate::log) fn parse(text: &str) -> Result<Self, Problem> {
        let mut pieces = vec![];
        let mut rest = text.strip_suffix("%n").unwrap_or(text);
        while let Some(at) = rest.find('%') {
            push_text(&mut pieces, &rest[..at])?;
            rest = parse_field(&rest[at + 1..], &mut pieces)?;
        }
        push_text(&mut pieces, rest)?;
        Ok(Self { pieces, identity: Identity::of_process() })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, record: &Record<'_>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Field { what, least, most, left } => {
                    let start = out.len();
                    what.write(out, record, &self.identity);
                    if *least > 0 || most.is_some() {
                        fit(out, start, (*least, *most), *left);
                    }
                }
            }
        }
        out.push(b'\n');
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) -> Result<(), Problem> {
    if text.contains(char::is_control) {
        return Err("a pattern has no control characters: an event is one line".into());
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
    Ok(())
}

/// Reads what follows a `%`, and returns what comes after it.
fn parse_field<'p>(text: &'p str, pieces: &mut Vec<Piece>) -> Result<&'p str, Problem> {
    let (left, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (least, text) = number(text)?;
    let (most, text) = match text.strip_prefix('.') {
        Some(text) => number(text)?,
        None => (None, text),
    };
    let letter = text.chars().next().ok_or("a pattern ends after a %: write %% for one")?;
    let text = &text[letter.len_utf8()..];
    let (option, text) = match text.strip_prefix('{').and_then(|text| text.split_once('}')) {
        Some((option, rest)) => (Some(option), rest),
        None => (None, text),
    };
    if letter == '%' {
        pieces.push(Piece::Text("%".into()));
        return Ok(text);
    }
    pieces.push(Piece::Field { what: What::of(letter, option)?, least: least.unwrap_or(0), most, left });
    Ok(text)
}

fn number(text: &str) -> Result<(Option<usize>, &str), Problem> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    let number = digits.parse().ok().filter(|number| *number <= 1000);
    number.map(|number| (Some(number), rest)).ok_or_else(|| format!("a width of {digits}: expected at most 1000"))
}

impl What {
    fn of(letter: char, option: Option<&str>) -> Result<Self, Problem> {
        let count =
            || option.map(|option| option.parse().map_err(|_| format!("%{letter}{{{option}}}: expected a number")));
        Ok(match letter {
            'c' => Self::Category(count().transpose()?),
            'C' | 'M' => Self::Module,
            'd' => Self::Date(option.map(ToOwned::to_owned)),
            'F' => Self::File,
            'H' => Self::Host,
            'l' => Self::Location,
            'L' => Self::Line,
            // `%m{chomp}` and `%m{indent}` are what happens anyway.
            'm' => Self::Message,
            'p' => Self::Level(count().transpose()?),
            'P' => Self::Pid,
            'r' => Self::Elapsed,
            'x' => Self::Request,
            'X' => Self::Context(option.ok_or("%X needs a name, such as %X{user}")?.to_owned()),
            'n' => return Err("%n stands at the end only: an event is one line".into()),
            _ => return Err(format!("there is no %{letter}: expected one of c C d F H l L m M n p P r x X %")),
        })
    }

    fn write(&self, out: &mut Vec<u8>, record: &Record<'_>, identity: &Identity) {
        match self {
            Self::Category(None) => write_escaped(out, record.category),
            Self::Category(Some(last)) => write_escaped(out, last_parts(record.category, *last)),
            Self::Module => write_escaped(out, record.module.unwrap_or(record.category)),
            Self::Date(None) => out.extend_from_slice(record.time.as_bytes()),
            Self::Date(Some(format)) => write_date(out, record, format),
            Self::File => write_escaped(out, record.file.unwrap_or("-")),
            Self::Host => out.extend_from_slice(identity.host().as_bytes()),
            Self::Line => write_padded(out, u64::from(record.line.unwrap_or(0)), 1),
            Self::Location => {
                write_escaped(out, record.file.unwrap_or("-"));
                out.push(b':');
                write_padded(out, u64::from(record.line.unwrap_or(0)), 1);
            }
            Self::Message => {
                let start = out.len();
                super::plain::write_message(out, record);
                // It begins with a space.
                out.drain(start..out.len().min(start + 1));
            }
            Self::Level(letters) => {
                let name = record.level.as_str();
                out.extend_from_slice(&name.as_bytes()[..letters.unwrap_or(name.len()).min(name.len())]);
            }
            Self::Pid => write_padded(out, u64::from(std::process::id()), 1),
            Self::Elapsed => write_padded(out, elapsed(), 1),
            Self::Request => write_request_id(out, record),
            Self::Context(key) => write_context(out, record, key),
        }
    }
}

fn write_request_id(out: &mut Vec<u8>, record: &Record<'_>) {
    match record.request {
        Some(request) => out.extend_from_slice(&hex(request.id())),
        None => out.push(b'-'),
    }
}

/// A value of the request, or a field of the event.
fn write_context(out: &mut Vec<u8>, record: &Record<'_>, key: &str) {
    let value = match key {
        "request" => return write_request_id(out, record),
        "trace" => record.trace(),
        "user" => record.request.and_then(|request| request.user()).or_else(|| record.fields.get("user")),
        _ => record.fields.get(key),
    };
    write_escaped(out, value.unwrap_or("-"));
}

fn elapsed() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(std::time::Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn last_parts(category: &str, count: usize) -> &str {
    let mut starts = category.rmatch_indices("::").map(|(at, _)| at + 2);
    starts.nth(count.saturating_sub(1)).map_or(category, |start| &category[start..])
}

/// `yyyy-MM-dd HH:mm:ss,SSS`, as `SimpleDateFormat` has it, in UTC.
fn write_date(out: &mut Vec<u8>, record: &Record<'_>, format: &str) {
    let since = record.now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let [year, month, day, hour, minute, second] = date_and_time(since.as_secs());
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(letter).len();
        let value = match letter {
            'y' if run == 2 => Some(year % 100),
            'y' => Some(year),
            'M' => Some(month),
            'd' => Some(day),
            'H' => Some(hour),
            'm' => Some(minute),
            's' => Some(second),
            'S' => Some(u64::from(since.subsec_millis())),
            _ => None,
        };
        match value {
            Some(value) => write_padded(out, value, run),
            None => write_escaped(out, &rest[..run]),
        }
        rest = &rest[run..];
    }
}

/// Pads what was written since `start` to a width, or cuts it: Log4perl keeps its end.
fn fit(out: &mut Vec<u8>, start: usize, (least, most): (usize, Option<usize>), left: bool) {
    let text = String::from_utf8_lossy(&out[start..]).into_owned();
    let length = text.chars().count();
    if let Some(most) = most.filter(|most| length > *most) {
        out.truncate(start);
        let cut: String = text.chars().skip(length - most).collect();
        out.extend_from_slice(cut.as_bytes());
        return;
    }
    let padding = least.saturating_sub(length);
    if left {
        out.resize(out.len() + padding, b' ');
    } else {
        out.splice(start..start, std::iter::repeat_n(b' ', padding));
    }
}
