//! The level of each category: the most specific one that is set counts, else the level of all.
//!
//! The parts of a category are separated by `::` or `.`: `blog::search` has its level from `blog::search`, `blog`, or
//! all.

use std::fmt;
use std::str::FromStr;
use std::sync::RwLock;

use skep_units::{read_lock, write_lock};
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};

/// What is logged, as settings and control commands say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    all: LevelFilter,
    categories: Vec<(String, LevelFilter)>,
}

/// A change at run time: of a category, or of all that have no level of their own. Without a level, a category has that
/// of its parent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelChange {
    /// `None`: all that have no level of their own.
    pub category: Option<String>,
    level: Option<LevelFilter>,
}

static LEVELS: RwLock<Levels> = RwLock::new(Levels { all: LevelFilter::INFO, categories: Vec::new() });

const EXPECTED: &str = "expected error, warn, info, debug, trace or off";

impl Levels {
    /// From the settings `log.level` and `log.levels`.
    pub fn new(all: &str, categories: &[String]) -> Result<Self, String> {
        let mut levels = Self { all: parse_level(all)?, categories: Vec::new() };
        for setting in categories {
            let (category, level) =
                setting.split_once('=').ok_or_else(|| format!("\"{setting}\": expected CATEGORY=LEVEL"))?;
            levels.set(normalise(category.trim())?, parse_level(level.trim())?);
        }
        Ok(levels)
    }

    /// Makes these the levels of the process.
    pub fn install(self) {
        *write_lock(&LEVELS) = self;
        // Each callsite caches whether it is enabled.
        tracing::callsite::rebuild_interest_cache();
    }

    fn set(&mut self, category: String, level: LevelFilter) {
        self.categories.retain(|(known, _)| *known != category);
        self.categories.push((category, level));
    }

    fn of(&self, target: &str) -> LevelFilter {
        let matching = self.categories.iter().filter(|(category, _)| is_within(target, category));
        matching.max_by_key(|(category, _)| category.len()).map_or(self.all, |(_, level)| *level)
    }

    fn highest(&self) -> LevelFilter {
        self.categories.iter().map(|(_, level)| *level).fold(self.all, Ord::max)
    }
}

/// True if lines of this callsite are written.
pub(super) fn enabled(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= read(|levels| levels.of(metadata.target()))
}

/// The most verbose level of all categories.
pub(super) fn highest() -> LevelFilter {
    read(Levels::highest)
}

fn read<T>(read: impl FnOnce(&Levels) -> T) -> T {
    read(&read_lock(&LEVELS))
}

/// True if a target is this category or one below it.
pub(super) fn is_within(target: &str, category: &str) -> bool {
    let (mut target, mut category) = (parts(target), parts(category));
    loop {
        match (category.next(), target.next()) {
            (None, _) => return true,
            (Some(wanted), Some(part)) if wanted == part => {}
            _ => return false,
        }
    }
}

fn parts(category: &str) -> impl Iterator<Item = &str> {
    category.split(['.', ':']).filter(|part| !part.is_empty())
}

/// A category as it is compared: with `::` between its parts.
pub(super) fn normalise(category: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, ':' | '.' | '_' | '-');
    if category.is_empty() || !category.chars().all(fits) {
        return Err(format!("invalid category \"{category}\": expected a path such as blog::search"));
    }
    Ok(parts(category).collect::<Vec<_>>().join("::"))
}

pub(super) fn parse_level(text: &str) -> Result<LevelFilter, String> {
    let known = ["error", "warn", "info", "debug", "trace", "off"];
    let is_known = known.iter().any(|known| known.eq_ignore_ascii_case(text));
    is_known.then(|| text.parse().ok()).flatten().ok_or_else(|| format!("unknown log level \"{text}\": {EXPECTED}"))
}

impl LevelChange {
    /// `LEVEL`, `CATEGORY LEVEL` or `CATEGORY inherit`.
    pub fn parse(words: &[&str]) -> Result<Self, String> {
        match words {
            [level] => Ok(Self { category: None, level: Some(parse_level(level)?) }),
            [category, "inherit"] => Ok(Self { category: Some(normalise(category)?), level: None }),
            [category, level] => Ok(Self { category: Some(normalise(category)?), level: Some(parse_level(level)?) }),
            _ => Err("expected log LEVEL, or log CATEGORY LEVEL".to_owned()),
        }
    }

    /// Changes the levels of this process.
    pub fn apply(&self) {
        let mut levels = read_lock(&LEVELS).clone();
        match (&self.category, self.level) {
            (None, Some(level)) => levels.all = level,
            (Some(category), Some(level)) => levels.set(category.clone(), level),
            (Some(category), None) => levels.categories.retain(|(known, _)| known != category),
            (None, None) => {}
        }
        levels.install();
    }

    /// What has changed, for who asked for it.
    pub fn describe(&self) -> String {
        let level = self.level.map(|level| level.to_string().to_ascii_uppercase());
        match (&self.category, level) {
            (None, level) => format!("log level set to {}\n", level.unwrap_or_default()),
            (Some(category), Some(level)) => format!("log level of {category} set to {level}\n"),
            (Some(category), None) => format!("{category} has the log level of its parent\n"),
        }
    }
}

/// As [`LevelChange::from_str`] reads it.
impl fmt::Display for LevelChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(category) = &self.category {
            write!(f, "{category} ")?;
        }
        match self.level {
            Some(level) => write!(f, "{level}"),
            None => f.write_str("inherit"),
        }
    }
}

impl FromStr for LevelChange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(&text.split_whitespace().collect::<Vec<_>>())
    }
}

/// Whether a level is at least as severe as another.
pub(super) fn is_as_severe(level: Level, than: LevelFilter) -> bool {
    LevelFilter::from_level(level) <= than
}

#[cfg(test)]
#[path = "../../tests/unit/log/levels.rs"]
mod tests;
