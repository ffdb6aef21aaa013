//! From a path to a service: routes, the router, and the values that travel in paths and queries.

pub mod param;
pub(crate) mod path_prefix;
pub(crate) mod route;
pub(crate) mod router;
