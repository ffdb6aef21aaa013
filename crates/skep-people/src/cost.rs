//! What hashing a password costs, and what it has cost.

use std::sync::Mutex;

use argon2::Params;
use skep_units::lock;

use skep::Error;
use skep::Result;

/// What hashing a password costs. The defaults are OWASP's for argon2id. A hash says what it was made with, so a change
/// applies to new hashes, and to old ones at the next sign-in ([`password_sign_in`](crate::password_sign_in)).
///
/// Another cost is a value of the application:
///
/// ```
/// use skep_people::PasswordCost;
/// use skep::prelude::*;
///
/// let mut cost = PasswordCost::default();
/// cost.memory = 47_104;
/// cost.passes = 1;
/// let app = App::new().state(cost);
/// # let _ = app;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PasswordCost {
    /// Memory in KiB, 8 at least (19 MiB).
    pub memory: u32,
    /// How often it is gone through (2).
    pub passes: u32,
    /// How many parts of it could be computed at the same time (1).
    pub lanes: u32,
}

impl Default for PasswordCost {
    fn default() -> Self {
        Self { memory: 19_456, passes: 2, lanes: 1 }
    }
}

impl PasswordCost {
    pub(crate) fn params(self) -> Result<Params> {
        Params::new(self.memory, self.passes, self.lanes, None)
            .map_err(|error| Error::internal(format!("the cost of passwords {self:?}: {error}")))
    }
}

/// What the hashes cost that were verified: after another [`PasswordCost`], those of known names still cost what they
/// did.
#[derive(Debug, Default)]
pub(crate) struct Costs(Mutex<Vec<(PasswordCost, u32)>>);

impl Costs {
    /// Distinct costs that are remembered.
    const MOST: usize = 16;

    /// When all are halved, so that what is new comes to count.
    const FULL: u32 = 1000;

    pub(crate) fn note(&self, cost: PasswordCost) -> PasswordCost {
        let mut costs = lock(&self.0);
        match costs.iter().position(|(known, _)| *known == cost) {
            Some(at) => costs[at].1 += 1,
            None if costs.len() < Self::MOST => costs.push((cost, 1)),
            None => {}
        }
        if costs.iter().any(|(_, count)| *count >= Self::FULL) {
            costs.iter_mut().for_each(|(_, count)| *count /= 2);
            costs.retain(|(_, count)| *count > 0);
        }
        cost
    }

    /// That of most.
    pub(crate) fn usual(&self) -> Option<PasswordCost> {
        let costs = lock(&self.0);
        costs.iter().max_by_key(|(_, count)| *count).map(|(cost, _)| *cost)
    }
}

#[cfg(test)]
#[path = "../tests/unit/cost.rs"]
mod tests;
