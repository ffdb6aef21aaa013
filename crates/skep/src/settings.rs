//! Settings: what can be set, where a value came from, and structs of an application's own settings.
//!
//! A [`Row`] describes one setting. A [`Table`] of rows turns what files, variables and flags say ([`RawSetting`]) into
//! [`Resolved`] values. The server has a table of its own; an application adds its rows with `derive(Settings)`:
//!
//! ```
//! use std::time::Duration;
//!
//! use skep::prelude::*;
//! use skep::settings::Settings;
//!
//! /// `[helpdesk]` in skep.toml, `SKEP_HELPDESK_SMTP`, `--set helpdesk.smtp=...`
//! #[derive(Settings)]
//! #[settings(table = "helpdesk")]
//! struct Helpdesk {
//!     /// The mail server, such as mail.example.org:587.
//!     smtp: String,
//!     /// The password of the mail server.
//!     #[setting(secret)]
//!     password: Option<String>,
//!     /// How long a ticket stays open without a reply.
//!     #[setting(default = "14d")]
//!     close_after: Duration,
//! }
//!
//! # #[derive(Service)]
//! # #[service(GET "/")]
//! # struct Index;
//! impl Handle for Index {
//!     async fn handle(self, cx: &mut Cx<'_>) -> Result {
//!         Ok(Response::text(cx.settings::<Helpdesk>().smtp.clone()))
//!     }
//! }
//!
//! let app = App::new().settings::<Helpdesk>().serve(services![Index]);
//! let client = skep::test::Client::with_settings(app, &[("helpdesk.smtp", "mail.example.org:587")]);
//! assert_eq!(client.get("/").text(), "mail.example.org:587");
//! ```
//!
//! A setting without a default is required, unless its type is `Option`, `Vec` or `bool`. A missing or invalid setting,
//! and a key that the table does not have, stop the start with the line or the command that sets it.

pub use skep_macros::Settings;
#[doc(hidden)]
pub use skep_settings::section;
pub use skep_settings::{
    ByteSize, Field, Kind, RawSetting, RawValue, Reader, Resolved, Row, SettingValue, Settings, Source, Table,
    VARIABLE, Value, Values, decode, encode, variable_of,
};
pub(crate) use skep_settings::{Declared, Holder, Loaded, load_all};
pub use skep_units::Address;
