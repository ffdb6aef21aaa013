//! The studio on SQLite.

#[path = "studio/requests.rs"]
mod requests;

use skep::Setup;

requests::tests!(Setup::default,);
