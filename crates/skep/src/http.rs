//! Requests and responses: the crate `skep-http`, without what only this crate does with them. Modules of this crate,
//! so that the compiler names their types as an application does.

#[doc(hidden)]
pub mod account {
    //! What one request cost.

    pub use skep_http::account::{Account, Rendering, StatementTime, Step, Work, take_abandoned};
}

pub mod body {
    //! What follows the header block, in either direction.

    #[doc(inline)]
    pub use skep_http::body::{Body, BodyError, BodyFailure, FileSlice, TooLarge};

    pub mod drain {
        //! Learning that the server drains: it stops, or a new version takes over, and what is still being sent should
        //! end.
        //!
        //! A server waits for open responses up to `grace`. A stream without an end, such as [events](crate::sse),
        //! makes it wait for nothing; so it listens to [`Draining`].

        #[doc(inline)]
        pub use skep_http::body::drain::{Cut, Draining};
    }
}

pub mod compression {
    //! Compression of responses: the settings `compression.*`.
    //!
    //! The settings are [`Options`]; the rest needs the cargo feature `compression`, which `skep-server` has by
    //! default. Of a component, the host compresses the responses.

    #[doc(inline)]
    pub use skep_http::compression::{Coding, NotACoding, Options, Private};
}

pub mod cookie {
    //! Cookies.

    #[doc(inline)]
    pub use skep_http::cookie::Cookie;
}

pub mod error {
    //! Errors of requests.
    //!
    //! An [`Error`] has a status, a message for the client, and a cause for the log.
    //! [`error_page`](crate::error_page) renders it.

    #[doc(inline)]
    pub use skep_http::error::{Error, Or404};
}

pub mod error_page {
    //! The one place where a failure becomes an answer.
    //!
    //! Whatever goes wrong, from a broken request line to a panic in a handler, the client gets the same page: as HTML
    //! or, for programs, as `application/problem+json` (RFC 9457), with an id that is also in the log. The insides are
    //! in the log only, and in development on the page as well.

    #[doc(inline)]
    pub use skep_http::error_page::{ErrorPage, Failure};
}

pub mod fetch {
    //! Requests to other servers: what a handler asks, what it gets, and why it gets nothing.
    //!
    //! Nothing here opens a socket: a server brings a [`Fetcher`], in a component the host sends the request. Start
    //! reading at [`Cx::fetch`](crate::Cx::fetch).

    #[doc(inline)]
    pub use skep_http::fetch::{Bounds, FetchError, FetchRequest, FetchResponse, Fetcher, Fetching};
}

pub mod files {
    //! Static files: a directory, or a folder inside the executable, below a prefix.
    //!
    //! A name from a request never leaves the directory: not by `..`, not by a symlink, not by any encoding. What was
    //! checked is what is sent: a file is opened once, looked at through its handle, and the handle goes into the
    //! answer. Small files are answered from memory, after one look at whether the disk still has the same.
    //!
    //! Start reading at [`Files::answer`]. [`assets!`](crate::assets!) puts a folder into the executable.

    #[doc(hidden)]
    pub use skep_http::files::EmbeddedFile;
    #[doc(inline)]
    pub use skep_http::files::{Asset, Assets, Files, HELD, HELD_FILE, RemoteFile, StoredFile};
}

pub mod log {
    //! Logging: categories of types, and what all lines of a request carry.
    //!
    //! [`tracing`] is the interface: its macros work everywhere, and their target is the category of a line.
    //! [`derive(Log)`](skep_macros::Log) gives a type a category of its own, whose level can be set in the settings and
    //! changed while the server runs:
    //!
    //! ```
    //! use skep::log::Log;
    //!
    //! #[derive(Log)] // the category is the path of the type, such as "blog::search::Index"
    //! struct Index {
    //!     words: Vec<String>,
    //! }
    //!
    //! impl Index {
    //!     fn search(&self, word: &str) -> bool {
    //!         let found = self.words.iter().any(|known| known == word);
    //!         self.log().debug("searched").field("word", word).field("found", found);
    //!         self.log().trace("of all").lazy("words", || self.words.join(" "));
    //!         found
    //!     }
    //! }
    //!
    //! assert!(Index { words: vec!["bee".into()] }.search("bee"));
    //! assert!(Index::category().name().ends_with("::Index"));
    //! ```
    //!
    //! A line whose level is off costs one relaxed load; its fields are not evaluated if they are [`lazy`](Line::lazy),
    //! and never formatted. The server that runs the application writes the lines (docs/guides/run/logging.md); a
    //! subscriber that the program installs itself replaces the server's.

    #[doc(inline)]
    pub use skep_http::log::{Category, Line, Log, Value};
    #[doc(hidden)]
    pub use skep_http::log::{
        CategoryLine, Raiser, Recorder, RequestLog, Trace, Whose, install_line_writer, install_recorder, raised_level,
        set_raising, with_request,
    };
    pub use skep_macros::Log;
}

pub mod request {
    //! Requests, as a server passes them to the framework.

    #[doc(hidden)]
    pub use skep_http::request::FieldPositions;
    #[doc(inline)]
    pub use skep_http::request::{Fields, NotText, Parts, Peer, Request, RequestId, Subnet, Value, Values};
}

pub mod response {
    //! Responses.

    #[doc(inline)]
    pub use skep_http::response::{HeaderBlock, Response, Result, Written};
}

pub mod sse {
    //! Server-sent events: a response that goes on, and that a page reads with `EventSource` (HTML, 9.2).
    //!
    //! Start with [`Cx::events`](crate::Cx::events). The how-to guide is `docs/guides/live/streams.md`.

    #[doc(inline)]
    pub use skep_http::sse::{Event, Events};
}

pub mod upgrade {
    //! Connections that stop being HTTP and become a byte stream (RFC 9110, 7.8; of HTTP/2, one stream: RFC 8441).
    //!
    //! A handler responds with what is to be done with the byte stream: [`Cx::upgrade`](crate::Cx::upgrade), or of
    //! WebSockets [`Cx::websocket`](crate::Cx::websocket). The server sends that response, and then runs it on the
    //! connection's thread. A server that can do so puts an [`Offer`] into the request; the host of a component cannot.

    #[doc(inline)]
    pub use skep_http::upgrade::{ByteStream, Offer, Task, Upgrade, Upgraded};
}

#[doc(hidden)]
pub mod wire {
    //! How requests and answers cross between a component and its host: `wit/skep.wit`.

    pub use skep_http::wire::{Hint, Reader, Short, Writer, request, state};
}
