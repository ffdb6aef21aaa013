//! Which services are mounted, and which were forgotten.
//!
//! A link to a service that is not mounted leads nowhere, and no compiler sees that. So `#[derive(Service)]` adds each
//! service to a list of the executable, and the server that starts a whole application asks for what is missing from
//! it: [`App::unmounted_services`]. Tests may open a part of an application.

use std::any::TypeId;

use super::services::ServiceEntry;
use super::{App, Services};
use crate::application::endpoint::Endpoint;
use crate::contract::service::{Route, declared};
use crate::routing::router::Entry;

/// A service that is not mounted on purpose.
pub(super) struct LeftOut {
    route: &'static Route,
    id: TypeId,
    reason: &'static str,
}

impl App {
    /// Says that services are not mounted on purpose, and why: those of a library that this application has no use for.
    /// Two that no request tells apart are two calls.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/wishes")]
    /// struct Wishes;
    /// # impl Handle for Wishes { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// let is_missing = |app: &App| app.unmounted_services().iter().any(|line| line.starts_with("Wishes (GET /wishes, "));
    /// let app = App::new();
    /// assert!(is_missing(&app));
    /// let app = app.allow_unmounted(services![Wishes], "nobody may wish for anything in this shop");
    /// assert!(!is_missing(&app));
    /// ```
    #[must_use]
    pub fn allow_unmounted(mut self, services: Services, reason: &'static str) -> Self {
        let left_out = |one: &ServiceEntry| LeftOut { route: one.route, id: (one.id)(), reason };
        self.left_out.extend(services.iter().map(left_out));
        self
    }

    /// The services of this executable that are neither mounted nor left out on purpose: a line for each, with what to
    /// do. A server asks for them before it opens a socket, a component has none.
    #[must_use]
    pub fn unmounted_services(&self) -> Vec<String> {
        let known =
            |id| self.services.iter().any(|entry| entry.id == Some(id)) || self.left_out.iter().any(|out| out.id == id);
        let unmounted = declared().filter(|one| !known((one.id)()));
        let mut lines: Vec<String> = unmounted.map(|one| line(one.route)).collect();
        lines.sort();
        lines
    }

    /// How many services are mounted.
    #[must_use]
    pub fn service_count(&self) -> usize {
        self.services.iter().filter(|entry| entry.id.is_some()).count()
    }

    /// The services that [`allow_unmounted`](Self::allow_unmounted) named, a line for each, with its reason.
    #[must_use]
    pub fn allowed_unmounted(&self) -> Vec<String> {
        self.left_out.iter().map(|LeftOut { route, reason, .. }| format!("{}: {reason}", place(route))).collect()
    }
}

/// What is both mounted and left out.
pub(super) fn both(services: &[Entry<Endpoint>], left_out: &[LeftOut]) -> impl Iterator<Item = String> {
    let both = left_out.iter().filter(|out| services.iter().any(|entry| entry.id == Some(out.id)));
    both.map(|out| {
        format!("{} is mounted and left out: remove it from `allow_unmounted`, or from `serve`", place(out.route))
    })
}

fn line(route: &Route) -> String {
    let Route { service, method, source: (file, line), .. } = route;
    format!(
        "{service} ({method} {}, {file}:{line}) is never mounted: add it to `App::serve`, or say why not with \
         `App::allow_unmounted(services![{service}], \"reason\")`",
        route.path()
    )
}

fn place(route: &Route) -> String {
    format!("{} ({} {})", route.service, route.method, route.path())
}
