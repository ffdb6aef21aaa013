//! Which language a user gets.

use http::header::ACCEPT_LANGUAGE;

use super::Messages;
use crate::cookie;
use crate::fields::Fields;
use crate::fields::list::weighted;
use crate::request::Parts;

/// The languages of an application, and how a request says which one it wants.
#[derive(Default)]
pub struct Languages {
    /// The first is for clients that accept none of them.
    pub messages: Vec<Messages>,
    /// The segment behind this prefix may name one.
    pub below: Option<&'static str>,
    /// A cookie of this name may.
    pub cookie: Option<&'static str>,
}

/// What a language was taken from: what caches need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageSource {
    /// The address, or there is but one: all who ask for it get the same.
    Address,
    /// `Accept-Language`.
    Accepted,
    /// What is known of one user.
    User,
}

impl Languages {
    /// The place of the language of a request, by its path, its cookie or what its client accepts, in this order.
    pub fn of_request(&self, parts: &Parts) -> (usize, LanguageSource) {
        if self.messages.len() < 2 {
            return (0, LanguageSource::Address);
        }
        self.named(parts).unwrap_or_else(|| {
            let chosen = choose(&self.messages, Some(&parts.headers)).language;
            (self.find(chosen).unwrap_or_default(), LanguageSource::Accepted)
        })
    }

    /// The language that the path or the cookie names.
    pub fn named(&self, parts: &Parts) -> Option<(usize, LanguageSource)> {
        let place = |tag: &str| self.messages.iter().position(|one| one.language == tag);
        let path = self.below.and_then(|prefix| parts.uri.path().strip_prefix(prefix)?.strip_prefix('/'));
        let in_path = path.and_then(|path| place(path.split('/').next()?));
        let in_cookie = || self.cookie.and_then(|name| place(cookie::find(&parts.headers, name)?));
        in_path
            .map(|place| (place, LanguageSource::Address))
            .or_else(|| in_cookie().map(|place| (place, LanguageSource::User)))
    }

    /// The place of a language, by its tag: `de`.
    #[must_use]
    pub fn find(&self, language: &str) -> Option<usize> {
        self.messages.iter().position(|one| one.language.eq_ignore_ascii_case(language))
    }

    /// The messages at a place; English beyond the last one.
    #[must_use]
    pub fn at(&self, place: usize) -> &Messages {
        self.messages.get(place).unwrap_or(&Messages::ENGLISH)
    }

    /// The request header fields that a page in one of them depends on, if its address does not say which.
    pub fn vary(&self) -> &'static str {
        if self.cookie.is_some() { "accept-language, cookie" } else { "accept-language" }
    }
}

/// Ranges that are read, and the letters of each: each is compared with each, and no user has more languages.
const RANGES: usize = 32;
const LENGTH: usize = 64;

/// The best of `languages` for an `Accept-Language` (RFC 9110, 12.5.4; the lookup of RFC 4647, 3.4): the first where
/// nothing fits.
fn choose<'m>(languages: &'m [Messages], headers: Option<&Fields>) -> &'m Messages {
    let first = languages.first().unwrap_or(&Messages::ENGLISH);
    let Some(headers) = headers.filter(|_| languages.len() > 1) else { return first };
    let ranges = weighted(headers, &ACCEPT_LANGUAGE).filter(|(range, _)| range.len() <= LENGTH);
    let ranges: Vec<_> = ranges.take(RANGES).collect();
    let mut best: Option<(u16, &Messages)> = None;
    for &(range, weight) in &ranges {
        // Of two that are liked the same, the first named wins.
        if weight <= best.map_or(0, |(weight, _)| weight) {
            continue;
        }
        let found = if range == "*" {
            // It stands for what no other range names.
            languages.iter().find(|one| !ranges.iter().any(|(other, _)| is_within(one.language, other)))
        } else {
            // A range with the weight 0 excludes what it names better than this one does.
            let excluded = |tag: &str| {
                let more = |other: &str| other.len() > range.len() || !is_within(tag, range);
                ranges.iter().any(|&(other, weight)| weight == 0 && is_within(tag, other) && more(other))
            };
            look_up(languages, range, excluded)
        };
        best = found.map(|found| (weight, found)).or(best);
    }
    best.map_or(first, |(_, messages)| messages)
}

/// `zh-Hant-TW` is served by that, else by `zh-Hant`, by another one that is written so, by `zh`, and then by any that
/// may be written so.
fn look_up<'m>(languages: &'m [Messages], range: &str, excluded: impl Fn(&str) -> bool) -> Option<&'m Messages> {
    let there = || languages.iter().filter(|one| !excluded(one.language));
    let exact = |range: &str| there().find(|one| one.language.eq_ignore_ascii_case(range));
    let (primary, script) = (primary(range), script(range));
    let of_language = || there().filter(|one| is_within(one.language, primary));
    let is_written_so =
        |one: &&Messages| script.zip(self::script(one.language)).map(|(a, b)| a.eq_ignore_ascii_case(b));
    std::iter::successors(Some(range), |range| shorten(range))
        .take_while(|range| range.len() > primary.len())
        .find_map(exact)
        .or_else(|| of_language().find(|one| is_written_so(one) == Some(true)))
        .or_else(|| exact(primary))
        .or_else(|| of_language().find(|one| is_written_so(one) != Some(false)))
}

/// Without the last subtag, and without a single letter before it, which only introduces what follows.
fn shorten(range: &str) -> Option<&str> {
    let (shorter, _) = range.rsplit_once('-')?;
    match shorter.rsplit_once('-') {
        Some((before, single)) if single.len() == 1 => Some(before),
        _ => Some(shorter),
    }
}

fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or_default()
}

/// How a language is written, where its tag says so: with a subtag, or for Chinese with the region.
fn script(tag: &str) -> Option<&str> {
    let subtags = || tag.split('-').skip(1).take_while(|subtag| subtag.len() > 1);
    let is_script = |subtag: &&str| subtag.len() == 4 && subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
    let of_region = |region: &str| match &*region.to_ascii_uppercase() {
        "TW" | "HK" | "MO" => Some("Hant"),
        "CN" | "SG" | "MY" => Some("Hans"),
        _ => None,
    };
    let is_chinese = primary(tag).eq_ignore_ascii_case("zh");
    subtags().find(is_script).or_else(|| subtags().filter(|_| is_chinese).find_map(of_region))
}

/// True if the tag is that of the range, or begins with it (RFC 4647, 3.3.1). `*` is no such range.
fn is_within(tag: &str, range: &str) -> bool {
    let beginning = tag.get(..range.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(range));
    beginning && tag[range.len()..].bytes().next().is_none_or(|next| next == b'-')
}

#[cfg(test)]
#[path = "../../tests/unit/validation/language.rs"]
mod tests;
