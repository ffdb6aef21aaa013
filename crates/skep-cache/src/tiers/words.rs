//! The words of a description: `kind:main option=value option=value`.

use std::path::PathBuf;
use std::time::Duration;

use crate::tiered::Writes;

/// What is wrong with a description, and what would be right.
pub(super) type Wrong = String;

/// A description, taken apart.
#[derive(Debug)]
pub(super) struct Words<'t> {
    pub(super) kind: &'t str,
    /// What follows the colon.
    pub(super) main: &'t str,
    options: Vec<(&'t str, &'t str)>,
    known: Vec<&'static str>,
}

impl<'t> Words<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, Wrong> {
        let mut words = text.split_whitespace();
        let first = words.next().ok_or("it is empty; right would be \"memory:64MiB\"")?;
        let (kind, main) = first.split_once(':').unwrap_or((first, ""));
        let mut options: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| {
                format!("`{word}` is no option: options are written name=value, and no value has a space in it")
            })?;
            if options.iter().any(|(known, _)| *known == name) {
                return Err(format!("`{name}` is said twice"));
            }
            options.push((name, value));
        }
        Ok(Self { kind, main, options, known: Vec::new() })
    }

    /// The value of an option, if it is said.
    pub(super) fn take<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        self.known.push(name);
        let Some(at) = self.options.iter().position(|(said, _)| *said == name) else { return Ok(None) };
        let (_, value) = self.options.remove(at);
        read(value).map(Some).map_err(|wrong| format!("{name}: {wrong}"))
    }

    /// After all options were taken: none is left.
    pub(super) fn finish(self) -> Result<(), Wrong> {
        let Some((name, _)) = self.options.first() else { return Ok(()) };
        let known = self.known.join(", ");
        Err(format!(
            "`{name}` is no option of {}; there are {}",
            self.kind,
            if known.is_empty() { "none" } else { &known }
        ))
    }
}

/// `64MiB`.
pub(super) fn size(text: &str) -> Result<u64, Wrong> {
    let wrong = || format!("\"{text}\" is no size: write a whole number and B, KiB, MiB or GiB, as in 64MiB");
    let (number, shift) = split(text, &[("KiB", 10), ("MiB", 20), ("GiB", 30), ("B", 0)]).ok_or_else(wrong)?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// The same, for what is mapped.
pub(super) fn room(text: &str) -> Result<usize, Wrong> {
    usize::try_from(size(text)?).map_err(|_| format!("{text} is more than this machine can address"))
}

/// `1000`, and not less than some number.
#[cfg(feature = "sqlite")]
pub(super) fn at_least(least: u64) -> impl Fn(&str) -> Result<u64, Wrong> {
    move |text| match number(text)? {
        number if number < least => Err(format!("{number} is too few: it is at least {least}")),
        number => Ok(number),
    }
}

/// `500ms`.
pub(super) fn time(text: &str) -> Result<Duration, Wrong> {
    let wrong = || format!("\"{text}\" is no time: write a whole number and ms, s, min or h, as in 500ms");
    let units = [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000)];
    let (number, millis) = split(text, &units).ok_or_else(wrong)?;
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(wrong)
}

/// A whole number and what its unit stands for. No unit is the end of one that stands before it.
fn split(text: &str, units: &[(&str, u64)]) -> Option<(u64, u64)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, means) = units.iter().find(|(name, _)| *name == unit)?;
    Some((number.parse().ok()?, *means))
}

pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, Wrong> {
    text.parse().map_err(|_| format!("\"{text}\" is no whole number, or too large a one"))
}

pub(super) fn path(text: &str) -> Result<PathBuf, Wrong> {
    if text.is_empty() { Err("no path is said".to_owned()) } else { Ok(text.into()) }
}

pub(super) fn writes(text: &str) -> Result<Writes, Wrong> {
    one_of(text, &[("through", Writes::Through), ("around", Writes::Around), ("back", Writes::Back)])
}

/// The value of this name.
pub(super) fn one_of<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, Wrong> {
    let found = choices.iter().find(|(name, _)| *name == text);
    let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(_, choice)| *choice).ok_or_else(|| format!("\"{text}\" is none of {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!((size("1B"), size("2KiB"), size("3GiB")), (Ok(1), Ok(2 << 10), Ok(3 << 30)));
        for wrong in ["", "64", "64MB", "MiB", "-1MiB", "1.5MiB", "64 MiB", "99999999999GiB", "99999999999999999999B"] {
            assert!(size(wrong).unwrap_err().contains("as in 64MiB"), "{wrong}");
        }
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!((time("2s"), time("1min")), (Ok(Duration::from_secs(2)), Ok(Duration::from_mins(1))));
        for wrong in ["", "5", "5 s", "s", "5m", "99999999999999999999ms"] {
            assert!(time(wrong).unwrap_err().contains("as in 500ms"), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_option_is_named_with_those_there_are() {
        let mut words = Words::parse("memory:1MiB entires=3").unwrap();
        assert_eq!(words.take("entries", number::<u64>), Ok(None));
        assert_eq!(words.finish().unwrap_err(), "`entires` is no option of memory; there are entries");
        assert!(Words::parse("memory:1MiB fast").unwrap_err().contains("`fast` is no option"));
        assert!(Words::parse("memory:1MiB a=1 a=2").unwrap_err().contains("`a` is said twice"));
        assert!(Words::parse(" ").unwrap_err().contains("it is empty"));
    }
}
