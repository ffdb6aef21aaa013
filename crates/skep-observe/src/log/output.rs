//! One output of events, as the setting `log.outputs` says:
//! `file:/var/log/blog.log layout=json level=info rotate=100MiB keep=7`.

use std::path::{Path, PathBuf};

use skep_settings::FromSetting;
use skep_units::{nearest, parse_duration, parse_size};
use tracing::level_filters::LevelFilter;

use super::layout::{Facility, Identity, Layout, Pattern};
use super::levels::{is_as_severe, is_within, normalise, parse_level};
use super::record::Record;
use super::sink::{Address, Connection, LogFile, Rotation, Sink, Socket};

/// An output of events.
#[derive(Clone, Debug)]
pub struct EventOutput {
    pub(super) target: Target,
    pub(super) layout: Layout,
    pub(super) filter: Filter,
}

/// Where an output leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Output,
    Error,
    File(PathBuf, Rotation),
    Datagrams(Address),
    /// A syslog server over TCP: a host and a port.
    Connection(String),
    Ring(usize),
    /// The process that exports: OpenTelemetry.
    Otlp,
}

/// What an output takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    /// The least severe level.
    level: LevelFilter,
    /// The most severe level.
    most: LevelFilter,
    /// Only these categories and those below them.
    only: Vec<String>,
    /// Not these.
    except: Vec<String>,
    /// Only lines whose message has this text.
    matches: Option<String>,
    /// What this output takes does not go to outputs without `only`.
    pub(super) is_exclusive: bool,
}

/// The category of what the process that exports says.
const EXPORTER: &str = "skep::otlp";

const SYSLOG: &str = "/dev/log";
const JOURNALD: &str = "/run/systemd/journal/socket";

const KINDS: &str = "stdout, stderr, file:PATH, syslog, syslog:PATH, syslog:udp:HOST:PORT, syslog:tcp:HOST:PORT, journald, otlp or ring:LINES";

const OPTIONS: [&str; 13] = [
    "layout", "pattern", "level", "most", "only", "except", "match", "additive", "rotate", "every", "keep", "compress",
    "facility",
];

/// The words of a description: `file:/var/log/blog.log pattern="%d %m"`. A quoted value may contain spaces, and `\"`.
pub(super) struct Words {
    pub(super) kind: String,
    pub(super) options: Vec<(String, String)>,
}

impl Words {
    pub(super) fn split(text: &str, known: &[&str]) -> Result<Self, String> {
        let mut words = vec![];
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (word, after) = next_word(rest)?;
            words.push(word);
            rest = after.trim_start();
        }
        let mut words = words.into_iter();
        let kind = words.next().ok_or_else(|| format!("expected {KINDS}"))?;
        let option = |word: String| {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("\"{word}\": expected option=value"))?;
            if !known.contains(&name) {
                let hint = nearest(name, known.iter().copied()).map_or_else(
                    || format!("expected one of {}", known.join(", ")),
                    |meant| format!("did you mean {meant}?"),
                );
                return Err(format!("there is no option {name}: {hint}"));
            }
            Ok((name.to_owned(), value.to_owned()))
        };
        Ok(Self { kind, options: words.map(option).collect::<Result<_, _>>()? })
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// As one word.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

fn next_word(text: &str) -> Result<(String, &str), String> {
    let (mut word, mut quoted, mut letters) = (String::new(), false, text.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' if quoted => word.extend(letters.next().map(|(_, letter)| letter)),
            _ if letter.is_whitespace() && !quoted => return Ok((word, &text[at..])),
            _ => word.push(letter),
        }
    }
    if quoted { Err("a quote is not closed".into()) } else { Ok((word, "")) }
}

impl FromSetting<str> for EventOutput {
    fn from_setting(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl EventOutput {
    /// Reads a description.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words = Words::split(text, &OPTIONS)?;
        let target = Target::parse(&words)?;
        let layout = layout(&words, &target)?;
        let mut filter = Filter::parse(&words)?;
        if target == Target::Otlp {
            // That the receiver refuses lines must not become further lines for it.
            filter.except.push(EXPORTER.to_owned());
        }
        Ok(Self { target, layout, filter })
    }

    /// The file that it writes to, if it is one.
    pub fn file(&self) -> Option<&Path> {
        self.target.file()
    }

    /// True if it needs a receiver of OpenTelemetry.
    pub fn is_otlp(&self) -> bool {
        self.target == Target::Otlp
    }
}

fn layout(words: &Words, target: &Target) -> Result<Layout, String> {
    if let Some(kind) = words.kind.split(':').next().filter(|kind| matches!(*kind, "syslog" | "journald" | "otlp")) {
        if words.get("layout").or(words.get("pattern")).is_some() {
            return Err(format!("{kind} has a layout of its own"));
        }
        let facility = words.get("facility").map_or(Ok(Facility::DAEMON), Facility::parse)?;
        let identity = Identity::of_process();
        return Ok(match kind {
            "syslog" => Layout::Syslog(facility, identity),
            "journald" => Layout::Journald(identity),
            _ => Layout::Otlp,
        });
    }
    match (words.get("pattern"), words.get("layout")) {
        (Some(_), Some(_)) => Err("layout and pattern exclude each other".into()),
        (Some(pattern), None) => Pattern::parse(pattern).map(Layout::Pattern),
        (None, Some(layout)) => Layout::parse(layout),
        (None, None) => Ok(Layout::Text { colour: target.is_terminal() }),
    }
}

impl Target {
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path, _) => Some(path),
            _ => None,
        }
    }

    pub(super) fn parse(words: &Words) -> Result<Self, String> {
        let (kind, rest) = words.kind.split_once(':').unwrap_or((&words.kind, ""));
        let rotation = rotation(words)?;
        if rotation != Rotation::default() && kind != "file" {
            return Err("rotate, every, keep and compress are for files".into());
        }
        Ok(match (kind, rest) {
            ("stdout", "") => Self::Output,
            ("stderr", "") => Self::Error,
            ("file", path @ ("" | ".")) => return Err(format!("file:{path}: expected a path")),
            ("file", path) => Self::File(path.into(), rotation),
            ("syslog", "") => Self::Datagrams(Address::Unix(SYSLOG.into())),
            ("syslog", path) if path.starts_with('/') => Self::Datagrams(Address::Unix(path.into())),
            ("syslog", host) => match host.split_once(':') {
                Some(("udp", host)) if host.contains(':') => Self::Datagrams(Address::Udp(host.to_owned())),
                Some(("tcp", host)) if host.contains(':') => Self::Connection(host.to_owned()),
                _ => return Err(format!("syslog:{host}: expected a path, udp:HOST:PORT or tcp:HOST:PORT")),
            },
            ("journald", "") => Self::Datagrams(Address::Unix(JOURNALD.into())),
            ("journald", path) if path.starts_with('/') => Self::Datagrams(Address::Unix(path.into())),
            ("otlp", "") => Self::Otlp,
            ("ring", lines) => {
                let capacity = lines.parse().ok().filter(|lines| (1..=10_000).contains(lines));
                Self::Ring(capacity.ok_or_else(|| format!("ring:{lines}: expected a number from 1 to 10000"))?)
            }
            _ => return Err(format!("\"{}\": expected {KINDS}", words.kind)),
        })
    }

    pub(super) fn open(&self) -> Sink {
        match self {
            Self::Output => Sink::Output,
            Self::Error => Sink::Error,
            Self::File(path, rotation) => Sink::File(LogFile::new(path.clone(), rotation.clone())),
            Self::Datagrams(address) => Sink::Datagrams(Socket::new(address.clone())),
            Self::Connection(host) => Sink::Connection(Connection::new(host.clone())),
            Self::Ring(capacity) => Sink::Ring(*capacity),
            Self::Otlp => Sink::Queue,
        }
    }

    /// The words that [`of_description`](Self::of_description) reads, for another process; none for what is in memory.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Output => "stdout".into(),
            Self::Error => "stderr".into(),
            Self::File(path, rotation) => format!("{}{rotation}", quoted(&format!("file:{}", path.display()))),
            Self::Datagrams(Address::Unix(path)) => quoted(&format!("syslog:{}", path.display())),
            Self::Datagrams(Address::Udp(host)) => quoted(&format!("syslog:udp:{host}")),
            Self::Connection(host) => quoted(&format!("syslog:tcp:{host}")),
            Self::Ring(_) => String::new(),
            Self::Otlp => "otlp".into(),
        }
    }

    pub(super) fn of_description(text: &str) -> Result<Self, String> {
        Self::parse(&Words::split(text, &OPTIONS)?)
    }

    fn is_terminal(&self) -> bool {
        match self {
            Self::Output => rustix::termios::isatty(rustix::stdio::stdout()),
            Self::Error => rustix::termios::isatty(rustix::stdio::stderr()),
            _ => false,
        }
    }

    /// How messages about it call it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Output => "stdout".into(),
            Self::Error => "stderr".into(),
            Self::File(path, _) | Self::Datagrams(Address::Unix(path)) => path.display().to_string(),
            Self::Datagrams(Address::Udp(host)) => host.clone(),
            // A host may have both, and they are two sinks.
            Self::Connection(host) => format!("tcp:{host}"),
            Self::Ring(_) => "ring".into(),
            Self::Otlp => "otlp".into(),
        }
    }
}

fn rotation(words: &Words) -> Result<Rotation, String> {
    let wrong = |error: skep_units::InvalidValue| error.to_string();
    let positive = |number: &u64| *number > 0;
    Ok(Rotation {
        size: words.get("rotate").map(|text| parse_size(text).map_err(wrong)).transpose()?.filter(positive),
        every: words
            .get("every")
            .map(|text| parse_duration(text).map_err(wrong))
            .transpose()?
            .filter(|time| !time.is_zero()),
        keep: words
            .get("keep")
            .map(|text| text.parse().map_err(|_| format!("keep={text}: expected a number")))
            .transpose()?,
        compress: words.get("compress").map(yes_or_no).transpose()?.unwrap_or(false),
    })
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("\"{text}\": expected yes or no")),
    }
}

impl Filter {
    fn parse(words: &Words) -> Result<Self, String> {
        let categories = |name| -> Result<Vec<String>, String> {
            words.get(name).map_or(Ok(Vec::new()), |list| list.split(',').map(normalise).collect())
        };
        let (only, additive) = (categories("only")?, words.get("additive").map(yes_or_no).transpose()?);
        if only.is_empty() && additive == Some(false) {
            return Err("additive=no needs only=CATEGORY: other outputs do not get these".into());
        }
        Ok(Self {
            level: words.get("level").map_or(Ok(LevelFilter::TRACE), parse_level)?,
            most: words.get("most").map_or(Ok(LevelFilter::ERROR), parse_level)?,
            only,
            except: categories("except")?,
            matches: words.get("match").map(ToOwned::to_owned),
            is_exclusive: additive == Some(false),
        })
    }

    /// True if the output takes this event.
    pub(super) fn takes(&self, record: &Record<'_>) -> bool {
        is_as_severe(record.level, self.level)
            && LevelFilter::from_level(record.level) >= self.most
            && (self.only.is_empty() || self.names(record.category))
            && !self.except.iter().any(|category| is_within(record.category, category))
            && self.matches.as_ref().is_none_or(|text| record.fields.message().contains(text.as_str()))
    }

    /// True if `only` names this category or one above it.
    pub(super) fn names(&self, category: &str) -> bool {
        self.only.iter().any(|own| is_within(category, own))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/log/output.rs"]
mod tests;
