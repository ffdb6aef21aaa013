//! Settings of WebSockets.

use std::time::Duration;

use skep_settings::{GIB, HOUR, MIB, SECOND, settings};

settings! {
    /// The settings `websocket.*`.
    ///
    /// ```
    /// let mut setup = skep::Setup::default();
    /// setup.websocket.message = 64 << 10;
    /// ```
    #[derive(Clone, Copy, Debug)]
    #[non_exhaustive]
    pub struct Options in "websocket" {
        /// Maximum size of a message that a WebSocket receives. A larger one closes it (1009).
        message: usize = Size(125..=GIB), MIB;
        /// Compress messages of at least this size, and accept compressed ones, for clients that offer it
        /// (`permessage-deflate`, each message by itself). 0: neither. The size of a message may tell what is secret in
        /// it, if others choose the rest. Needs the cargo feature `compression`.
        compress: usize = Size(0..=GIB), 0;
        /// Ping the peer of a WebSocket that sends nothing for this long, and give it up after twice of it. 0: never.
        ping: Duration = Duration(0..=24 * HOUR), 30 * SECOND;
    }
}
