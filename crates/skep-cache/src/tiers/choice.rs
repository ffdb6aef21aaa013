//! Drivers that are chosen when the program runs, without a box: an enum that is a driver.

/// Defines an enum of drivers that is a driver itself. `boxed` stands behind those whose calls wait for others: their futures are
/// large, and the enum's futures would be as large as the largest.
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$cfg:meta])* $variant:ident($driver:ty) $($how:ident)?),* $(,)? }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$cfg])* $variant($driver)),* }

        #[allow(unused_doc_comments, reason = "the attributes of a variant, which may be a `cfg`, also stand at its arms")]
        impl $crate::driver::Driver for $name {
            fn name(&self) -> &'static str {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.name()),* }
            }

            #[inline]
            async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
            where
                R: Send,
                F: FnOnce(Entry<'_>) -> R + Send,
            {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.get(key, now, read))),* }
            }

            async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.set(key, record, when, now))),* }
            }

            async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.remove(key, removal, now))),* }
            }

            async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.lease(key, claim, now))),* }
            }

            async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.release(key, token, now))),* }
            }

            fn abandon(&self, key: &[u8], token: Token, now: Time) {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.abandon(key, token, now)),* }
            }

            async fn get_many<F>(&self, keys: &[&[u8]], now: Time, read: F) -> Result<()>
            where
                F: FnMut(usize, Entry<'_>) + Send,
            {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.get_many(keys, now, read))),* }
            }

            async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.set_many(entries, now))),* }
            }

            async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.increment(key, by, fresh, now))),* }
            }

            async fn touch(&self, key: &[u8], fresh: Time, dead: Time, now: Time) -> Result<bool> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.touch(key, fresh, dead, now))),* }
            }

            async fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> Result<()>
            where
                F: FnMut(&[u8]) + Send,
            {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.keys(prefix, now, each))),* }
            }

            async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
                match self { $($(#[$cfg])* Self::$variant(driver) => answer!($($how)? driver.clear(prefix, now))),* }
            }

            #[inline]
            fn generation(&self) -> Option<u64> {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.generation()),* }
            }

            #[inline]
            fn stamp(&self, key: &[u8]) -> Option<u64> {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.stamp(key)),* }
            }

            #[inline]
            fn generation_here(&self) -> Option<u64> {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.generation_here()),* }
            }

            #[inline]
            fn stamp_here(&self, key: &[u8]) -> Option<u64> {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.stamp_here(key)),* }
            }

            fn watch(&self, listener: Listener) -> bool {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.watch(listener)),* }
            }

            fn usage(&self) -> Usage {
                match self { $($(#[$cfg])* Self::$variant(driver) => driver.usage()),* }
            }
        }
    };
}

/// What a call gives.
macro_rules! answer {
    (boxed $call:expr) => {
        Box::pin($call).await
    };
    ($call:expr) => {
        $call.await
    };
}

pub(super) use {answer, choice};
