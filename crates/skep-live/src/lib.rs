//! What reaches a page while it is open: topics, whose messages are published with a transaction, and live pages, which
//! follow the database.
//!
//! | to | see |
//! |---|---|
//! | publish messages, subscribe to them | [`Topic`] |
//! | send them to a page, as events or on a WebSocket | [`Topic::events`], [`Topic::socket`] |
//! | take them one by one | [`Topic::subscribe`], [`Subscription`] |
//! | have a piece of a page follow the database | [`live`], [`LiveApp::live_pages`] |
//! | send its forms, and follow its links, in place | [`live_script`] |
//! | know who looks at a page now | [`Presence`] |
//! | mount topics, set how long messages are there | [`LiveApp::topics`], [`Topics`] |
//!
//! Messages are rows of the application's database, so nothing is kept twice and no server is needed beside it. Pages
//! have no state on the server: a new version goes on where the old one was.
//!
//! Start reading at `topic.rs` and `hub.rs` for messages, at `page.rs` for live pages.

#![cfg_attr(target_family = "wasm", allow(dead_code, reason = "a component has no threads and hears of nothing"))]
#![allow(clippy::missing_panics_doc, reason = "what is missing is a fault in the application, as `Cx::state` says")]

mod app;
mod changes;
#[cfg(not(target_family = "wasm"))]
mod elsewhere;
mod hub;
mod members;
mod page;
mod pages;
mod piece;
mod presence;
mod presences;
mod schema;
mod send;
#[cfg(not(target_family = "wasm"))]
mod thread;
mod topic;
mod topics;

pub use app::{LiveApp, live_script};
pub use members::Present;
pub use piece::live;
pub use presence::{Presence, PresenceChange};
pub use presences::Presences;
pub use send::RELOAD;
pub use topic::{Received, Subscription, Topic, TopicContext};
pub use topics::Topics;

/// What an application's source usually needs.
pub mod prelude {
    pub use crate::{LiveApp, Presence, Presences, Topic, Topics, live, live_script};
}

/// The examples of the guide are compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/live/live-pages.md")]
struct Pages;
