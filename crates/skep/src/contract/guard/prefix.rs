//! Guards before everything below a prefix.

use std::sync::Arc;

use super::DynGuard;
use crate::routing::path_prefix::{PathPrefix, segments};

/// A guard and the prefix that it stands before.
pub(crate) struct PrefixGuard {
    pub(crate) prefix: Arc<PathPrefix>,
    pub(crate) guard: Arc<DynGuard>,
}

/// Which requests to a route are below a prefix.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    /// Where a parameter has the value of a segment of the prefix.
    Some,
    None,
}

impl PrefixGuard {
    pub(crate) fn new(prefix: &str, guard: DynGuard) -> Self {
        Self { prefix: Arc::new(PathPrefix::new(prefix)), guard: Arc::new(guard) }
    }

    pub(crate) fn reach(&self, pattern: &str) -> Reach {
        let mut reach = Reach::All;
        let mut pattern = segments(pattern);
        for segment in self.prefix.segments() {
            match pattern.next() {
                Some(own) if own == segment => {}
                Some(own) if own.starts_with("{*") => return Reach::Some,
                Some(own) if own.starts_with('{') => reach = Reach::Some,
                _ => return Reach::None,
            }
        }
        reach
    }
}
