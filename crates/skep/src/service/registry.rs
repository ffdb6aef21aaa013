//! Tuples of services, and the list of all declared ones.

#[cfg(not(target_family = "wasm"))]
use std::any::TypeId;

use super::Handle;
use super::ambiguity::Pair;
#[cfg(not(target_family = "wasm"))]
use super::{Route, Service};

/// A tuple of up to 64 services, as [`App::serve`](crate::App::serve) takes it; more are served by another call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of services with handlers",
    label = "write `.serve::<(First, Second)>()`, or `.serve::<(Only,)>()` for a single one"
)]
pub trait Services {
    /// Fails to compile if two of them match the same requests.
    #[doc(hidden)]
    const ASSERT_UNAMBIGUOUS: ();

    /// Calls `each` for every service of the tuple.
    fn register(registry: &mut impl Registry);
}

/// Receives the services of a tuple.
pub trait Registry {
    /// Adds one service.
    fn add<S: Handle>(&mut self);
}

macro_rules! tuples_of_services {
    ($first:ident $($name:ident)*) => {
        tuples_of_services!(@ [] $first $($name)*);
    };
    (@ [$($done:ident)*] $next:ident $($rest:ident)*) => {
        impl<$($done: Handle,)* $next: Handle> Services for ($($done,)* $next,) {
            const ASSERT_UNAMBIGUOUS: () = {
                tuples_of_services!(@before $($done)*);
                $(let () = Pair::<$done, $next>::ASSERT_UNAMBIGUOUS;)*
            };

            fn register(registry: &mut impl Registry) {
                $(registry.add::<$done>();)*
                registry.add::<$next>();
            }
        }
        tuples_of_services!(@ [$($done)* $next] $($rest)*);
    };
    (@ [$($done:ident)*]) => {};
    (@before) => {};
    (@before $($done:ident)+) => { let () = <($($done,)+) as Services>::ASSERT_UNAMBIGUOUS; };
}

tuples_of_services!(
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
    A1 B1 C1 D1 E1 F1 G1 H1 I1 J1 K1 L1 M1 N1 O1 P1 Q1 R1 S1 T1 U1 V1 W1 X1 Y1 Z1
    A2 B2 C2 D2 E2 F2 G2 H2 I2 J2 K2 L2
);

/// A service in the executable, mounted or not. `#[derive(Service)]` adds it to the list.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[derive(Debug)]
pub struct Declared {
    pub(crate) route: &'static Route,
    pub(crate) id: fn() -> TypeId,
}

#[cfg(not(target_family = "wasm"))]
impl Declared {
    /// The entry of a service.
    #[must_use]
    pub const fn of<S: Service>() -> Self {
        Self { route: S::ROUTE, id: TypeId::of::<S> }
    }
}

#[cfg(not(target_family = "wasm"))]
inventory::collect!(Declared);

/// Every service of the executable, in no order.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn declared() -> impl Iterator<Item = &'static Declared> {
    inventory::iter::<Declared>.into_iter()
}

/// Adds a service to the list. A component has no linker that could keep one; the same application, built native, is
/// where `--check` is.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_service {
    ($service:ty) => {
        $crate::__inventory::submit! { $crate::service::Declared::of::<$service>() }
    };
}

#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_service {
    ($service:ty) => {};
}
