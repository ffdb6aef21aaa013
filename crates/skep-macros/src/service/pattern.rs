//! Parses the path of a service: `/writings/{page}/{*rest}`.

use syn::{Expr, LitStr, Result};

use super::declaration::Declaration;
use crate::field::wrong;

/// A parsed path.
pub(super) struct Pattern {
    pub(super) parts: Vec<PathPart>,
    /// Its parameters.
    pub(super) names: Vec<String>,
    /// The number of parts before the suffix that the query may replace.
    before_suffix: usize,
    /// A fixed query parameter of each link.
    pub(super) when: Option<(String, String)>,
}

/// Part of a path. Parameters are numbered in order.
#[derive(Clone)]
pub(super) enum PathPart {
    Prefix(Box<Expr>),
    Literal(String),
    Segment(usize),
    Tail(usize),
}

impl Pattern {
    pub(super) fn of(declaration: &Declaration) -> Result<Self> {
        if declaration.external {
            return Self::external(&declaration.path);
        }
        let mut pattern = Self::parse(&declaration.path)?;
        if let Some(from_query) = &declaration.from_query {
            pattern.before_suffix = pattern.before_suffix();
            if pattern.before_suffix == pattern.parts.len() {
                return wrong(from_query, "`from_query` needs a path that ends with a parameter");
            }
        }
        if let Some(prefix) = &declaration.prefix {
            pattern.parts.insert(0, PathPart::Prefix(Box::new(prefix.clone())));
            pattern.before_suffix += 1;
        }
        pattern.when.clone_from(&declaration.when);
        Ok(pattern)
    }

    /// A URL of another site: scheme and host, then a path.
    fn external(address: &LitStr) -> Result<Self> {
        let text = address.value();
        let wrong = |help: String| wrong(address, help);
        let Some((scheme, rest)) =
            ["https://", "http://"].iter().find_map(|scheme| Some((scheme, text.strip_prefix(scheme)?)))
        else {
            return wrong(format!(
                "an external address must be an absolute URL such as \"https://example.org/path\", not \"{text}\""
            ));
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        if host.is_empty() || !host.bytes().all(fits) {
            return wrong(format!("invalid host \"{host}\": expected \"{scheme}example.org/path\""));
        }
        let path = LitStr::new(if path.is_empty() { "/" } else { path }, address.span());
        let mut pattern = Self::parse(&path)?;
        if let Some(PathPart::Literal(first)) = pattern.parts.first_mut() {
            first.insert_str(0, &format!("{scheme}{host}"));
        }
        Ok(pattern)
    }

    fn parse(path: &LitStr) -> Result<Self> {
        let text = path.value();
        let wrong = |help: String| wrong(path, help);
        let Some(rest) = text.strip_prefix('/') else {
            return wrong(format!("a path must start with a slash: \"/{text}\""));
        };
        let mut pattern = Self { parts: Vec::new(), names: Vec::new(), before_suffix: 0, when: None };
        let mut literal = String::from("/");
        let segments: Vec<&str> = rest.split('/').collect();
        for (position, segment) in segments.iter().enumerate() {
            let last = position + 1 == segments.len();
            if segment.is_empty() && !last {
                return wrong(format!("the path \"{text}\" has an empty segment: remove one slash"));
            }
            match placeholder(segment) {
                Ok(None) => literal.push_str(segment),
                Ok(Some((name, tail))) => {
                    if tail && !last {
                        return wrong(format!("`{{*{name}}}` matches the rest of the path, so it must be last"));
                    }
                    if pattern.names.iter().any(|known| known == name) {
                        return wrong(format!("the path names `{name}` twice"));
                    }
                    pattern.parts.push(PathPart::Literal(std::mem::take(&mut literal)));
                    let position = pattern.names.len();
                    pattern.names.push(name.to_owned());
                    pattern.parts.push(if tail { PathPart::Tail(position) } else { PathPart::Segment(position) });
                }
                Err(help) => return wrong(help),
            }
            if !last {
                literal.push('/');
            }
        }
        if !literal.is_empty() {
            pattern.parts.push(PathPart::Literal(literal));
        }
        pattern.before_suffix = pattern.parts.len();
        Ok(pattern)
    }

    /// The number of parts before the trailing parameters.
    fn before_suffix(&self) -> usize {
        let is_suffix = |part: &&PathPart| match part {
            PathPart::Segment(_) | PathPart::Tail(_) => true,
            PathPart::Literal(text) => text == "/",
            PathPart::Prefix(_) => false,
        };
        let suffix = self.parts.iter().rev().take_while(is_suffix).count();
        // A literal at the end is not a suffix, and neither is "/" alone.
        let has_parameter = matches!(self.parts.last(), Some(PathPart::Segment(_) | PathPart::Tail(_)));
        if has_parameter { self.parts.len() - suffix } else { self.parts.len() }
    }

    /// Does a GET form send this parameter in the query?
    pub(super) fn comes_from_query(&self, position: usize) -> bool {
        let suffix = &self.parts[self.before_suffix..];
        suffix.iter().any(|part| matches!(part, PathPart::Segment(at) | PathPart::Tail(at) if *at == position))
    }

    /// The path whose trailing parameters are in the query, without a trailing slash unless it is the root.
    pub(super) fn without_suffix(&self) -> Vec<PathPart> {
        let mut parts = self.parts[..self.before_suffix].to_vec();
        if self.before_suffix == self.parts.len() {
            return parts;
        }
        let begins = !parts.iter().any(|part| !matches!(part, PathPart::Prefix(_)));
        match parts.last_mut() {
            Some(PathPart::Literal(text)) if text.len() > 1 => text.truncate(text.trim_end_matches('/').len()),
            _ if begins => parts.push(PathPart::Literal("/".to_owned())),
            _ => {}
        }
        parts
    }

    pub(super) fn is_tail(&self, position: usize) -> bool {
        self.parts.iter().any(|part| matches!(part, PathPart::Tail(at) if *at == position))
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }
}

/// The parameter in a segment, and whether it matches the rest of the path.
fn placeholder(segment: &str) -> std::result::Result<Option<(&str, bool)>, String> {
    let inner = segment.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    let Some(inner) = inner else {
        if segment.contains(['{', '}']) {
            return Err(format!("a parameter must be a whole segment: `/{{name}}/`, not \"{segment}\""));
        }
        if let Some(wrong) = segment.chars().find(|letter| !is_plain(*letter)) {
            return Err(format!("`{wrong}` is not allowed in a path: percent-encode it"));
        }
        return Ok(None);
    };
    let (name, tail) = inner.strip_prefix('*').map_or((inner, false), |name| (name, true));
    if syn::parse_str::<syn::Ident>(name).is_err() {
        return Err(format!("`{{{inner}}}` does not name a field: `{{name}}`, or `{{*name}}` for the rest"));
    }
    Ok(Some((name, tail)))
}

/// `pchar` (RFC 3986), as in requests.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%".contains(letter)
}
