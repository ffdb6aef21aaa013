//! Where a cache keeps its entries.

use skep_cache::tiers::{Needs, Plan};

/// The tiers of one cache, as a configuration describes them: near to far, such as `memory:64MiB` and
/// `redis:cache1:6379`. [`skep_cache::tiers::Plan`] has the table of descriptions.
///
/// ```
/// use skep::cache::Tiers;
///
/// assert!(Tiers::parse(["memory:64MiB"]).is_ok());
/// assert!(Tiers::parse(["memory:64XB"]).unwrap_err().to_string().contains("invalid size \"64XB\""));
/// ```
#[derive(Clone, Debug)]
pub struct Tiers {
    pub(super) plan: Plan,
    pub(super) needs: Needs,
}

impl Tiers {
    /// Understands a list of descriptions, near to far.
    pub fn parse<T: AsRef<str>>(list: impl IntoIterator<Item = T>) -> Result<Self, NotTiers> {
        let plan = Plan::parse(list).map_err(NotTiers)?;
        Ok(Self { needs: plan.needs(), plan })
    }

    /// What the server must provide for these tiers: see [`Needs`].
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.needs
    }
}

/// A list of tiers is wrong: which, what is wrong with it, and what would be right.
#[derive(Debug)]
pub struct NotTiers(skep_cache::Error);

skep_units::error_text!(NotTiers, |wrong| wrong.0);
