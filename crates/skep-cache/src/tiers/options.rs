//! Parsing of a description: `kind:main option=value option=value`.

use std::path::PathBuf;
use std::time::Duration;

use crate::tiered::WritePolicy;

/// Why a description is invalid, and what is expected.
pub(super) type Invalid = String;

#[derive(Debug)]
pub(super) struct Description<'t> {
    pub(super) kind: &'t str,
    /// The text after the colon.
    pub(super) main: &'t str,
    options: Vec<(&'t str, &'t str)>,
    known: Vec<&'static str>,
}

impl<'t> Description<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, Invalid> {
        let mut words = text.split_whitespace();
        let first = words.next().ok_or("empty: expected, for example, \"memory:64MiB\"")?;
        let (kind, main) = first.split_once(':').unwrap_or((first, ""));
        let mut options: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("invalid option `{word}`: expected name=value, without spaces in the value"))?;
            if options.iter().any(|(known, _)| *known == name) {
                return Err(format!("duplicate option `{name}`"));
            }
            options.push((name, value));
        }
        Ok(Self { kind, main, options, known: Vec::new() })
    }

    pub(super) fn take<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Invalid> {
        self.known.push(name);
        let Some(at) = self.options.iter().position(|(said, _)| *said == name) else { return Ok(None) };
        let (_, value) = self.options.remove(at);
        read(value).map(Some).map_err(|wrong| format!("{name}: {wrong}"))
    }

    /// Checks that no unknown option is left.
    pub(super) fn finish(self) -> Result<(), Invalid> {
        let Some((name, _)) = self.options.first() else { return Ok(()) };
        let hint = match skep_units::nearest(name, self.known.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if self.known.is_empty() => "it has none".to_owned(),
            None => format!("expected one of {}", self.known.join(", ")),
        };
        Err(format!("unknown option `{name}` of {}: {hint}", self.kind))
    }
}

/// A size such as `64MiB`.
pub(super) fn size(text: &str) -> Result<u64, Invalid> {
    skep_units::parse_size(text).map_err(|error| error.to_string())
}

pub(super) fn memory_size(text: &str) -> Result<usize, Invalid> {
    usize::try_from(size(text)?).map_err(|_| format!("{text} exceeds the address space"))
}

#[cfg(feature = "sqlite")]
pub(super) fn at_least(least: u64) -> impl Fn(&str) -> Result<u64, Invalid> {
    move |text| match number(text)? {
        number if number < least => Err(format!("invalid number {number}: expected at least {least}")),
        number => Ok(number),
    }
}

/// A duration such as `500ms`.
pub(super) fn duration(text: &str) -> Result<Duration, Invalid> {
    skep_units::parse_duration(text).map_err(|error| error.to_string())
}

pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, Invalid> {
    text.parse().map_err(|_| format!("invalid number \"{text}\": expected a whole number"))
}

pub(super) fn path(text: &str) -> Result<PathBuf, Invalid> {
    if text.is_empty() { Err("missing path".to_owned()) } else { Ok(text.into()) }
}

pub(super) fn writes(text: &str) -> Result<WritePolicy, Invalid> {
    one_of(text, &[("through", WritePolicy::Through), ("around", WritePolicy::Around), ("back", WritePolicy::Back)])
}

/// Whether calls run on blocking threads.
#[cfg(any(feature = "file", feature = "sqlite"))]
pub(super) fn pool(description: &mut Description<'_>) -> Result<bool, Invalid> {
    let asked = description.take("pool", |text| one_of(text, &[("yes", true), ("no", false)]))?.unwrap_or(false);
    if asked && !cfg!(feature = "pool") {
        return Err("pool: the feature `pool` of skep-cache is not built in".to_owned());
    }
    Ok(asked)
}

pub(super) fn one_of<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, Invalid> {
    let found = choices.iter().find(|(name, _)| *name == text);
    let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(_, choice)| *choice).ok_or_else(|| format!("invalid value \"{text}\": expected one of {}", names()))
}
