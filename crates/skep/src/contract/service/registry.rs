//! The list of all declared services.

use std::any::TypeId;

use super::{Route, Service};

/// A service in the executable, mounted or not. `#[derive(Service)]` adds it to the list.
#[doc(hidden)]
#[derive(Debug)]
pub struct Declared {
    pub(crate) route: &'static Route,
    pub(crate) id: fn() -> TypeId,
}

impl Declared {
    /// The entry of a service.
    #[must_use]
    pub const fn of<S: Service>() -> Self {
        Self { route: S::ROUTE, id: TypeId::of::<S> }
    }
}

#[cfg(not(target_family = "wasm"))]
inventory::collect!(Declared);

/// Every service of the executable, in no order. A component has no linker that could keep a list: it has none, and the
/// same application, built native, is where `--check` is.
pub(crate) fn declared() -> impl Iterator<Item = &'static Declared> {
    #[cfg(not(target_family = "wasm"))]
    return inventory::iter::<Declared>.into_iter();
    #[cfg(target_family = "wasm")]
    return std::iter::empty();
}

/// Adds a service to the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_service {
    ($service:ty) => {
        #[cfg(not(target_family = "wasm"))]
        $crate::__inventory::submit! { $crate::service::Declared::of::<$service>() }
    };
}
