//! How requests and answers cross between a component and its host: `wit/skep.wit`. Both sides use this; statements and
//! rows do, in `skep-sql`.

mod hint;
pub mod request;

pub use hint::Hint;
pub use skep_sql::wire::{Reader, Short, Writer, state};
