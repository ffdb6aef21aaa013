//! Which parts of an address are secret, so that logs show `***` instead: what parameters of a secret type hold
//! ([`Param::IS_SECRET`](crate::param::Param::IS_SECRET)), and below mounts, whose routes are not known, what looks
//! like a token.
//!
//! A path is masked by its form, whether or not something answers there: `/reset/TOKEN/` and `//reset/TOKEN` hold the
//! token, too.

use std::borrow::Cow;
use std::ops::Range;

use crate::base::percent;
use crate::routing::route::Route;

/// The secret parts of the addresses of an application.
#[derive(Debug, Default)]
pub struct Masks {
    routes: Vec<SecretRoute>,
    /// Parameters of queries.
    names: Vec<&'static str>,
    /// The prefixes of mounts.
    mounts: Vec<String>,
}

/// The beginning of a route, up to its last secret.
#[derive(Debug)]
struct SecretRoute {
    parts: Vec<Segment>,
    /// The last part is all that follows.
    is_rest: bool,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    Any,
    /// Unless it is one of these, which other routes have in its place.
    Secret(Vec<String>),
}

/// What is shown instead.
const MASK: &str = "***";

/// Segments of a path that is not known are taken for a token from this length on: 24 bytes in base64.
const TOKEN: usize = 32;

impl Masks {
    /// `patterns`: those of all routes.
    pub(crate) fn new(routes: &[&'static Route], patterns: &[&str], mounts: Vec<String>) -> Self {
        let mut masks = Self { mounts, ..Self::default() };
        for route in routes.iter().filter(|route| route.secrets.iter().any(|(_, is_secret)| *is_secret)) {
            let secrets: Vec<&str> =
                route.secrets.iter().filter(|(_, is_secret)| *is_secret).map(|(name, _)| *name).collect();
            masks.names.extend(&secrets);
            masks.routes.extend(SecretRoute::new(&route.path(), &secrets, patterns));
        }
        masks
    }

    /// The path of a request, as logs may show it.
    #[must_use]
    pub fn path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let is_of_mount = |mount: &String| {
            path.strip_prefix(&**mount)
                .is_some_and(|rest| mount.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
        };
        let guesses = self.mounts.iter().any(is_of_mount);
        if self.routes.is_empty() && !guesses {
            return path.into();
        }
        let mut secret = vec![];
        if guesses {
            secret.extend(raw_segments(path).filter(|segment| looks_like_token(&path[segment.clone()])));
        }
        let segments = segments(path);
        self.routes.iter().for_each(|route| route.find(&segments, &mut secret));
        masked(path, secret)
    }

    /// An address as logs may show it: a target (`/path?query`), or a whole URL.
    #[must_use]
    pub fn address<'a>(&self, address: &'a str) -> Cow<'a, str> {
        if self.routes.is_empty() && self.names.is_empty() && self.mounts.is_empty() {
            return address.into();
        }
        let start = address.find("://").map_or(0, |colon| {
            let authority = colon + 3;
            address[authority..].find(['/', '?', '#']).map_or(address.len(), |slash| authority + slash)
        });
        let end = address[start..].find(['?', '#']).map_or(address.len(), |end| start + end);
        let (path, query) = (self.path(&address[start..end]), self.query(&address[end..]));
        match (path, query) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => address.into(),
            (path, query) => [&address[..start], &path, &query].concat().into(),
        }
    }

    /// `?a=b`, or nothing.
    fn query<'q>(&self, query: &'q str) -> Cow<'q, str> {
        let is_secret = |pair: &str| {
            let name = pair.split_once('=').map(|(name, _)| percent::decode_form(name));
            name.flatten().is_some_and(|name| self.names.iter().any(|secret| name.eq_ignore_ascii_case(secret)))
        };
        let Some(pairs) = query.strip_prefix('?') else { return query.into() };
        if self.names.is_empty() || !pairs.split('&').any(is_secret) {
            return query.into();
        }
        let pairs = pairs.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if is_secret(pair) => format!("{name}={MASK}"),
            _ => pair.to_owned(),
        });
        format!("?{}", pairs.collect::<Vec<_>>().join("&")).into()
    }
}

impl SecretRoute {
    fn new(pattern: &str, secrets: &[&str], patterns: &[&str]) -> Option<Self> {
        let own: Vec<&str> = pattern_segments(pattern).collect();
        let is_secret =
            |segment: &&str| segment.starts_with('{') && secrets.contains(&segment.trim_matches(['{', '*', '}']));
        let length = own.iter().rposition(is_secret)? + 1;
        let part = |(at, segment): (usize, &&str)| match segment {
            _ if is_secret(segment) => Segment::Secret(siblings(&own[..at], patterns)),
            _ if segment.starts_with('{') => Segment::Any,
            literal => Segment::Literal((*literal).to_owned()),
        };
        let parts = own[..length].iter().enumerate().map(part).collect();
        Some(Self { parts, is_rest: own[length - 1].starts_with("{*") })
    }

    /// Adds the secret ranges of a path.
    fn find(&self, segments: &[(Cow<'_, str>, Range<usize>)], secret: &mut Vec<Range<usize>>) {
        let fits = |(part, (segment, _)): (&Segment, &(Cow<'_, str>, Range<usize>))| match part {
            Segment::Literal(literal) => literal.eq_ignore_ascii_case(segment),
            Segment::Any => true,
            Segment::Secret(others) => !others.iter().any(|other| other == segment),
        };
        if segments.len() < self.parts.len() || !self.parts.iter().zip(segments).all(fits) {
            return;
        }
        let secrets = self.parts.iter().zip(segments).filter(|(part, _)| matches!(part, Segment::Secret(_)));
        secret.extend(secrets.map(|(_, (_, range))| range.clone()));
        if self.is_rest {
            secret.extend(segments[self.parts.len()..].iter().map(|(_, range)| range.clone()));
        }
    }
}

/// The literals that other routes have behind the same beginning.
fn siblings(beginning: &[&str], patterns: &[&str]) -> Vec<String> {
    let literal = |pattern: &&str| {
        let mut segments = pattern_segments(pattern);
        let same = |own: &&str| {
            segments.next().is_some_and(|other| other == *own || (other.starts_with('{') && own.starts_with('{')))
        };
        let begins_so = beginning.iter().all(same);
        segments.next().filter(|next| begins_so && !next.starts_with('{')).map(str::to_owned)
    };
    patterns.iter().filter_map(literal).collect()
}

fn pattern_segments(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('/').filter(|segment| !segment.is_empty())
}

/// Where the segments of a path are.
fn raw_segments(path: &str) -> impl Iterator<Item = Range<usize>> {
    path.split('/').scan(0, |at, segment| {
        let start = *at;
        *at += segment.len() + 1;
        Some(start..start + segment.len())
    })
}

/// The segments of a path as they are meant, and where they are: decoded, without empty ones and dots.
fn segments(path: &str) -> Vec<(Cow<'_, str>, Range<usize>)> {
    let mut segments = Vec::new();
    for range in raw_segments(path) {
        let raw = &path[range.clone()];
        let segment = percent::decode_segment(raw).unwrap_or(raw.into());
        match &*segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push((segment, range)),
        }
    }
    segments
}

/// Long, of letters and digits, and no UUID.
fn looks_like_token(segment: &str) -> bool {
    let is_plain =
        segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'%' | b'=' | b'~'));
    let is_uuid = segment.len() == 36 && [8, 13, 18, 23].iter().all(|at| segment.as_bytes()[*at] == b'-');
    segment.len() >= TOKEN && is_plain && !is_uuid
}

fn masked(path: &str, mut secret: Vec<Range<usize>>) -> Cow<'_, str> {
    if secret.is_empty() {
        return path.into();
    }
    secret.sort_by_key(|range| range.start);
    secret.dedup();
    let (mut text, mut at) = (String::with_capacity(path.len()), 0);
    for range in secret {
        text += &path[at..range.start];
        text += MASK;
        at = range.end;
    }
    (text + &path[at..]).into()
}

#[cfg(test)]
#[path = "../../tests/unit/masks.rs"]
mod tests;
