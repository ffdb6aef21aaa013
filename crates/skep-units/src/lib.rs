//! The grammar of values in settings, flags, tier descriptions and macros.
//!
//! | value | grammar | examples |
//! |---|---|---|
//! | [duration](parse_duration) | numbers with a unit (`ns`, `us`, `ms`, `s`, `m`, `h`, `d`), added up | `500ms`, `30s`, `1.5h`, `1m30s`, `0` |
//! | [size](parse_size) | a number of bytes, or a number with a unit (`B`; `KiB`, `MiB`, `GiB`, `TiB`; `KB`, `MB`, `GB`, `TB`) | `1500`, `64KiB`, `1.5GB` |
//! | [rate](Rate) | a number, `/`, and a unit of time or a duration | `100/s`, `5/10m`, `1000/1h` |
//! | [address](Address) | `HOST:PORT`, `:PORT`, `unix:PATH` or `fd:NUMBER` | `127.0.0.1:8800`, `[::]:80`, `unix:/run/app.sock` |
//! | [list](parse_list) | elements separated by `;` or line breaks | `memory:8MiB; memcached:a,b` |
//!
//! Numbers are decimal and may have a fraction. Spaces may surround a value and separate a number from its unit.
//! Units of size are case-insensitive; units of time are not.
//!
//! This crate is a leaf: the server, cache tiers, components, macros and tools use it, and it knows none of them.

mod address;
mod chain;
mod duration;
mod error;
mod list;
#[doc(hidden)]
mod macros;
mod mutex;
mod nearest;
mod number;
#[doc(hidden)]
pub mod panic;
mod rate;
#[cfg(feature = "roots")]
mod roots;
mod size;
mod suggestion;
mod text;

pub use address::Address;
pub use chain::chain;
pub use duration::{format_duration, parse_duration};
pub use error::InvalidValue;
pub use list::{LINE_SEPARATOR, any_of, format_list, parse_list};
pub use mutex::{lock, read_lock, write_lock};
pub use nearest::nearest;
pub use rate::Rate;
#[cfg(feature = "roots")]
pub use roots::system_roots;
pub use size::{format_size, parse_size};
pub use suggestion::suggestion;
pub use text::{escape_unprintable, is_unprintable, percent_encoded};
