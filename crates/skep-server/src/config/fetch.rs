//! The setting `fetch.allow`: where requests of handlers may go.

use crate::outgoing::Reach;

/// The settings `fetch.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fetch {
    pub(crate) allow: FetchHosts,
}

/// Hosts that requests may go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FetchHosts(pub(crate) Reach);

impl FetchHosts {
    pub(super) fn parse(list: &[String]) -> Result<Self, String> {
        if !list.is_empty() && !cfg!(feature = "fetch") {
            return Err("it needs skep-server with the cargo feature `fetch`".to_owned());
        }
        Reach::parse(list).map(Self)
    }
}
