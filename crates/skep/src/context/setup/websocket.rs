//! Settings of WebSockets.

use std::time::Duration;

with_defaults! {
    /// The settings `websocket.*`.
    ///
    /// ```
    /// let mut setup = skep::Setup::default();
    /// setup.websocket.message = 64 << 10;
    /// ```
    #[derive(Clone, Copy, Debug)]
    #[non_exhaustive]
    pub struct Options {
        /// Maximum size of a message in bytes (1 MiB). A larger one closes the connection with 1009.
        pub message: usize = 1 << 20,
        /// A peer that sends nothing for this long is pinged (30 s), and given up after twice of it. Zero: never.
        pub ping: Duration = Duration::from_secs(30),
    }
}
