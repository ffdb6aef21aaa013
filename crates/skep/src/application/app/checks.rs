//! What parts of a library need of one another.

use std::any::TypeId;

use super::App;
use crate::context::setup::StartError;

/// The value, unless there is something wrong, which is noted.
pub(super) fn note<T>(problems: &mut Vec<String>, found: Result<T, StartError>) -> Option<T> {
    found.map_err(|error| problems.extend(error.problems)).ok()
}

/// Finds a problem of an application that is complete.
pub(super) type Check = fn(&App) -> Option<String>;

impl App {
    /// Looks at the application when it is complete, in whichever order its parts were given, and at `--check`: what
    /// the function finds keeps it from starting. For libraries.
    #[doc(hidden)]
    #[must_use]
    pub fn check_parts(mut self, check: fn(&Self) -> Option<String>) -> Self {
        self.part_checks.push(check);
        self
    }

    /// The value of this type that was given to [`state`](Self::state).
    #[doc(hidden)]
    #[must_use]
    pub fn find_state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.values.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// What was noted of it until now, and what its parts say.
    pub(super) fn own_problems(&mut self) -> Vec<String> {
        let mut problems = std::mem::take(&mut self.problems);
        problems.extend(self.part_checks.iter().filter_map(|check| check(self)));
        problems
    }
}
