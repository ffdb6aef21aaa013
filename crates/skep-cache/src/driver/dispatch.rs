//! Drivers that forward calls to another driver: an enum of drivers chosen at run time, `Arc`, and drivers around a
//! driver.

/// Methods that call the method of the same name of another driver, after a match of `self`: `{ pattern => driver }`.
/// `boxed` after a driver boxes the futures of one that waits for I/O: an enum's future would otherwise be as large as
/// the largest. `at_once`: its methods are not async.
macro_rules! forward {
    (@name $to:tt) => { forward! { @now $to name() -> &'static str } };
    (@get $to:tt) => { forward! { @later $to #[inline] get[R: Send, F: FnOnce($crate::driver::Entry<'_>) -> R + Send](key: &[u8], now: $crate::Time, read: F) -> Option<R> } };
    (@set $to:tt) => { forward! { @later $to set[](key: &[u8], record: &$crate::driver::Record, when: $crate::driver::When, now: $crate::Time) -> bool } };
    (@remove $to:tt) => { forward! { @later $to remove[](key: &[u8], removal: $crate::driver::Removal, now: $crate::Time) -> bool } };
    (@lease $to:tt) => { forward! { @later $to lease[](key: &[u8], claim: $crate::driver::Claim, now: $crate::Time) -> Option<$crate::driver::Token> } };
    (@release $to:tt) => { forward! { @later $to release[](key: &[u8], token: $crate::driver::Token, now: $crate::Time) -> () } };
    (@abandon $to:tt) => { forward! { @now $to abandon(key: &[u8], token: $crate::driver::Token, now: $crate::Time) -> () } };
    (@get_many $to:tt) => { forward! { @later $to get_many[F: FnMut(usize, $crate::driver::Entry<'_>) + Send](keys: &[&[u8]], now: $crate::Time, read: F) -> () } };
    (@set_many $to:tt) => { forward! { @later $to set_many[](entries: &[(&[u8], $crate::driver::Record)], now: $crate::Time) -> () } };
    (@increment $to:tt) => { forward! { @later $to increment[](key: &[u8], by: i64, fresh: &$crate::driver::Record, now: $crate::Time) -> i64 } };
    (@touch $to:tt) => { forward! { @later $to touch[](key: &[u8], fresh: $crate::Time, dead: $crate::Time, now: $crate::Time) -> bool } };
    (@keys $to:tt) => { forward! { @later $to keys[F: FnMut(&[u8]) + Send](prefix: &[u8], now: $crate::Time, each: F) -> () } };
    (@clear $to:tt) => { forward! { @later $to clear[](prefix: &[u8], now: $crate::Time) -> () } };
    (@generation $to:tt) => { forward! { @now $to generation() -> $crate::driver::Stamp } };
    (@stamp $to:tt) => { forward! { @now $to stamp(key: &[u8]) -> $crate::driver::Stamp } };
    (@watch $to:tt) => { forward! { @now $to watch(listener: $crate::driver::Listener) -> bool } };
    (@usage $to:tt) => { forward! { @now $to usage() -> $crate::driver::Usage } };
    (@now $to:tt $method:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        #[inline]
        fn $method(&self, $($argument: $type),*) -> $result {
            $crate::driver::called!(self $to $method($($argument),*))
        }
    };
    (@later $to:tt $(#[$meta:meta])* $method:ident[$($generics:tt)*]($($argument:ident: $type:ty),*) -> $result:ty) => {
        $(#[$meta])*
        async fn $method<$($generics)*>(&self, $($argument: $type),*) -> $crate::error::Result<$result> {
            $crate::driver::called!(self $to $method($($argument),*) await)
        }
    };
    ($to:tt $($method:ident)*) => { $(forward! { @$method $to })* };
}

/// The call of a method, or of one that is awaited.
macro_rules! called {
    (@ boxed $call:expr) => { Box::pin($call).await };
    (@ at_once $call:expr) => { $call };
    (@ $call:expr) => { $call.await };
    ($self:ident { $($(#[$cfg:meta])* $pattern:pat => $driver:expr $(, $how:ident)?);* $(;)? } $method:ident $arguments:tt) => {
        match $self { $($(#[$cfg])* $pattern => $driver.$method $arguments),* }
    };
    ($self:ident { $($(#[$cfg:meta])* $pattern:pat => $driver:expr $(, $how:ident)?);* $(;)? } $method:ident $arguments:tt await) => {
        match $self { $($(#[$cfg])* $pattern => $crate::driver::called!(@ $($how)? $driver.$method $arguments)),* }
    };
}

/// Implements `Driver` by forwarding every call.
macro_rules! dispatch {
    ([$($generics:tt)*] $type:ty => $to:tt) => {
        #[allow(unused_doc_comments, reason = "the attributes of an enum's variant, which may be a `cfg`, are repeated at its arms")]
        impl $($generics)* $crate::driver::Driver for $type {
            $crate::driver::forward! { $to
                name get set remove lease release abandon get_many set_many increment touch keys clear
                generation stamp watch usage
            }
        }
    };
}

/// Defines an enum of drivers that is a driver.
macro_rules! dispatch_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$cfg:meta])* $variant:ident($driver:ty) $($how:ident)?),* $(,)? }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$cfg])* $variant($driver)),* }

        $crate::driver::dispatch! { [] $name => { $($(#[$cfg])* Self::$variant(driver) => driver $(, $how)?);* } }
    };
}

pub(crate) use {called, dispatch, dispatch_enum, forward};
