//! Lists of services.

use std::any::TypeId;
use std::fmt;

use super::App;
use crate::contract::service::{Handle, Route, indistinguishable};

/// A list of services for [`App::serve`], as long as one likes. [`services!`](crate::services) writes it, and has an
/// example.
#[derive(Clone, Copy)]
pub struct Services {
    list: &'static [ServiceEntry],
}

/// A service with its handler, without its type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ServiceEntry {
    pub(crate) route: &'static Route,
    pub(crate) id: fn() -> TypeId,
    pub(crate) mount: fn(&mut App),
}

impl ServiceEntry {
    /// That of a service.
    #[must_use]
    pub const fn of<S: Handle>() -> Self {
        Self { route: S::ROUTE, id: TypeId::of::<S>, mount: App::add::<S> }
    }
}

impl Services {
    /// Does not evaluate if no request tells two of them apart.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(list: &'static [ServiceEntry]) -> Self {
        let mut at = 0;
        while at < list.len() {
            let mut before = 0;
            while before < at {
                if let Some(complaint) = indistinguishable(list[before].route, list[at].route) {
                    panic!("{}", complaint.text());
                }
                before += 1;
            }
            at += 1;
        }
        Self { list }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'static ServiceEntry> {
        self.list.iter()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|one| one.route.service)).finish()
    }
}

/// A list of services by their types, for [`App::serve`](crate::App::serve). Two that no request can tell apart do not
/// compile.
///
/// ```
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// #[derive(Service)]
/// #[service(GET "/articles/{slug}")]
/// struct Article { slug: Slug }
/// # impl Handle for Index { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
/// # impl Handle for Article { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
///
/// let app = App::new().serve(services![Index, Article]);
/// ```
#[macro_export]
macro_rules! services {
    ($($service:ty),* $(,)?) => {{
        // Each is compared with each: a few hundred take longer than the compiler likes.
        #[allow(long_running_const_eval)]
        let services = const { $crate::Services::new(const { &[$($crate::ServiceEntry::of::<$service>()),*] }) };
        services
    }};
}
