//! Literal segments at the beginning of a path, and which paths are below them.

use percent_encoding::percent_decode_str;

/// Literal segments at the beginning of a path.
#[derive(Clone, Debug)]
pub(crate) struct PathPrefix(Vec<String>);

impl PathPrefix {
    pub(crate) fn new(prefix: &str) -> Self {
        Self(segments(prefix).map(str::to_owned).collect())
    }

    pub(crate) fn segments(&self) -> &[String] {
        &self.0
    }

    /// The number of its segments.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// True if any reading of this path is below the prefix: `//admin`, `/%61dmin` and `/x/../admin` are. What is
    /// mounted may or may not remove dot segments (RFC 3986, 5.2.4), so `/admin/../x` is below it, too.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let decoded = percent_decode_str(path).decode_utf8_lossy();
        let mut resolved: Vec<&str> = Vec::new();
        for segment in segments(&decoded).filter(|segment| *segment != ".") {
            if segment == ".." {
                resolved.pop();
            } else {
                resolved.push(segment);
            }
        }
        let as_written: Vec<&str> = segments(&decoded).filter(|segment| *segment != ".").collect();
        self.begins(&resolved) || self.begins(&as_written)
    }

    /// True if the path is below the prefix as it is written. For what the prefix permits: a path which only some
    /// reading has below it, such as `/x/..%2Fadmin`, may lead elsewhere.
    pub(crate) fn begins_literally(&self, path: &str) -> bool {
        let mut path = path.strip_prefix('/').unwrap_or(path).split('/');
        self.0.iter().all(|own| path.next() == Some(own))
    }

    fn begins(&self, path: &[&str]) -> bool {
        path.len() >= self.0.len() && self.0.iter().zip(path).all(|(own, other)| own == other)
    }
}

/// The segments of a path, without empty ones.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

#[cfg(test)]
#[path = "../../tests/unit/path_prefix.rs"]
mod tests;
