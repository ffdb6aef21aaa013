//! Drivers that forward each call to another driver: an enum of drivers chosen at run time, and `Arc`.

/// Implements `Driver` by a match: each pattern leads to an expression that is a driver. `boxed` after it boxes the futures of
/// drivers that wait for I/O: an enum's future would otherwise be as large as the largest.
macro_rules! dispatch {
    ([$($generics:tt)*] $type:ty { $($(#[$cfg:meta])* $pattern:pat => $driver:expr $(, $how:ident)?);* $(;)? }) => {
        #[allow(unused_doc_comments, reason = "the attributes of an enum's variant, which may be a `cfg`, are repeated at its arms")]
        impl $($generics)* $crate::driver::Driver for $type {
            fn name(&self) -> &'static str {
                match self { $($(#[$cfg])* $pattern => $driver.name()),* }
            }

            #[inline]
            async fn get<R, F>(&self, key: &[u8], now: $crate::clock::Time, read: F) -> $crate::error::Result<Option<R>>
            where
                R: Send,
                F: FnOnce($crate::driver::Entry<'_>) -> R + Send,
            {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.get(key, now, read))),* }
            }

            async fn set(&self, key: &[u8], record: &$crate::driver::Record, when: $crate::driver::When, now: $crate::clock::Time) -> $crate::error::Result<bool> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.set(key, record, when, now))),* }
            }

            async fn remove(&self, key: &[u8], removal: $crate::driver::Removal, now: $crate::clock::Time) -> $crate::error::Result<bool> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.remove(key, removal, now))),* }
            }

            async fn lease(&self, key: &[u8], claim: $crate::driver::Claim, now: $crate::clock::Time) -> $crate::error::Result<Option<$crate::driver::Token>> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.lease(key, claim, now))),* }
            }

            async fn release(&self, key: &[u8], token: $crate::driver::Token, now: $crate::clock::Time) -> $crate::error::Result<()> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.release(key, token, now))),* }
            }

            fn abandon(&self, key: &[u8], token: $crate::driver::Token, now: $crate::clock::Time) {
                match self { $($(#[$cfg])* $pattern => $driver.abandon(key, token, now)),* }
            }

            async fn get_many<F>(&self, keys: &[&[u8]], now: $crate::clock::Time, read: F) -> $crate::error::Result<()>
            where
                F: FnMut(usize, $crate::driver::Entry<'_>) + Send,
            {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.get_many(keys, now, read))),* }
            }

            async fn set_many(&self, entries: &[(&[u8], $crate::driver::Record)], now: $crate::clock::Time) -> $crate::error::Result<()> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.set_many(entries, now))),* }
            }

            async fn increment(&self, key: &[u8], by: i64, fresh: &$crate::driver::Record, now: $crate::clock::Time) -> $crate::error::Result<i64> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.increment(key, by, fresh, now))),* }
            }

            async fn touch(&self, key: &[u8], fresh: $crate::clock::Time, dead: $crate::clock::Time, now: $crate::clock::Time) -> $crate::error::Result<bool> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.touch(key, fresh, dead, now))),* }
            }

            async fn keys<F>(&self, prefix: &[u8], now: $crate::clock::Time, each: F) -> $crate::error::Result<()>
            where
                F: FnMut(&[u8]) + Send,
            {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.keys(prefix, now, each))),* }
            }

            async fn clear(&self, prefix: &[u8], now: $crate::clock::Time) -> $crate::error::Result<()> {
                match self { $($(#[$cfg])* $pattern => $crate::driver::dispatch_call!($($how)? $driver.clear(prefix, now))),* }
            }

            #[inline]
            fn generation(&self) -> $crate::driver::Stamp {
                match self { $($(#[$cfg])* $pattern => $driver.generation()),* }
            }

            #[inline]
            fn stamp(&self, key: &[u8]) -> $crate::driver::Stamp {
                match self { $($(#[$cfg])* $pattern => $driver.stamp(key)),* }
            }

            fn watch(&self, listener: $crate::driver::Listener) -> bool {
                match self { $($(#[$cfg])* $pattern => $driver.watch(listener)),* }
            }

            fn usage(&self) -> $crate::driver::Usage {
                match self { $($(#[$cfg])* $pattern => $driver.usage()),* }
            }
        }
    };
}

/// Awaits a call, in a box or not.
macro_rules! dispatch_call {
    (boxed $call:expr) => {
        Box::pin($call).await
    };
    ($call:expr) => {
        $call.await
    };
}

/// Defines an enum of drivers that is a driver.
macro_rules! dispatch_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$cfg:meta])* $variant:ident($driver:ty) $($how:ident)?),* $(,)? }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$cfg])* $variant($driver)),* }

        $crate::driver::dispatch! { [] $name { $($(#[$cfg])* Self::$variant(driver) => driver $(, $how)?);* } }
    };
}

pub(crate) use {dispatch, dispatch_call, dispatch_enum};
