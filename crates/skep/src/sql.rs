//! Databases: the crate `skep-sql`. A module of this crate, so that the compiler names its types as an application
//! does.

#[doc(inline)]
pub use skep_sql::*;

mod named;

pub use self::named::NamedDatabase;
// In the place of those of `skep-sql`, which write paths of that crate: an application of skep depends on this one.
pub use skep_sql_macros::{RowOfSkep as Row, migrations_of_skep as migrations, sql_of_skep as sql};
