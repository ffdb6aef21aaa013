//! What the document is made from.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::contract::form::FieldInfo;
use crate::contract::interface::Interface;
use crate::contract::service::Served;
use crate::routing::route::Route;
use skep_http::files::Held;

/// What is known of a service without its type.
pub(crate) struct ServiceDescription {
    pub(super) route: &'static Route,
    pub(super) fields: &'static [FieldInfo],
    pub(super) interface: fn() -> Interface,
}

impl ServiceDescription {
    pub(crate) fn of<S: Served>() -> Self {
        Self { route: S::ROUTE, fields: S::FIELDS, interface: S::interface }
    }
}

impl fmt::Debug for ServiceDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.route.service)
    }
}

/// The document, once it is made.
pub(crate) type Made = Arc<OnceLock<Held>>;
