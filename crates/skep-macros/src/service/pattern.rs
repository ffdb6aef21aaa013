//! The path of a service: `/writings/{page}/{*rest}`.

use syn::{Error, LitStr, Result};

/// A path, taken apart.
pub(super) struct Pattern {
    parts: Vec<Part>,
    names: Vec<String>,
}

/// A piece of a path. Parameters are known by their position among the parameters.
pub(super) enum Part {
    Literal(String),
    Segment(usize),
    Tail(usize),
}

impl Pattern {
    pub(super) fn parse(path: &LitStr) -> Result<Self> {
        let text = path.value();
        let wrong = |help: String| Err(Error::new(path.span(), help));
        let Some(rest) = text.strip_prefix('/') else {
            return wrong(format!("a path begins with a slash: \"/{text}\""));
        };
        let mut pattern = Self { parts: Vec::new(), names: Vec::new() };
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
                        return wrong(format!("`{{*{name}}}` takes the rest of the path, so it comes last"));
                    }
                    if pattern.names.iter().any(|known| known == name) {
                        return wrong(format!("the path names `{name}` twice"));
                    }
                    pattern.parts.push(Part::Literal(std::mem::take(&mut literal)));
                    let position = pattern.names.len();
                    pattern.names.push(name.to_owned());
                    pattern.parts.push(if tail { Part::Tail(position) } else { Part::Segment(position) });
                }
                Err(help) => return wrong(help),
            }
            if !last {
                literal.push('/');
            }
        }
        if !literal.is_empty() {
            pattern.parts.push(Part::Literal(literal));
        }
        Ok(pattern)
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }
}

/// The name in a segment that is a parameter, and whether it takes the rest of the path.
fn placeholder(segment: &str) -> std::result::Result<Option<(&str, bool)>, String> {
    let inner = segment.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    let Some(inner) = inner else {
        if segment.contains(['{', '}']) {
            return Err(format!("a parameter is a whole segment: `/{{name}}/`, not \"{segment}\""));
        }
        if let Some(wrong) = segment.chars().find(|letter| !is_plain(*letter)) {
            return Err(format!("`{wrong}` cannot stand in a path as it is: percent-encode it"));
        }
        return Ok(None);
    };
    let (name, tail) = inner.strip_prefix('*').map_or((inner, false), |name| (name, true));
    if syn::parse_str::<syn::Ident>(name).is_err() {
        return Err(format!("`{{{inner}}}` does not name a field: `{{name}}`, or `{{*name}}` for the rest"));
    }
    Ok(Some((name, tail)))
}

/// RFC 3986's `pchar`, as requests may hold it.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%".contains(letter)
}
