//! What every bench here does with its figures: statistics, order and tables are those of `skep bench`.
//!
//! No measuring happens here. [`stats`] has the arithmetic, [`table`] what a record's page has, [`machine`] what a
//! record says of where it was made, [`random`] the order of a round.

pub mod machine;
pub mod table;

pub use skep_bench::random;

/// Medians, ranges and ratios.
pub mod stats {
    pub use skep_bench::compare::{Spread, median, ratios};
}
