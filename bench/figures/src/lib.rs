//! What every bench here does with its figures.
//!
//! No measuring happens here. [`stats`] has the arithmetic, [`table`] what a person reads, [`machine`] what a record
//! says of where it was made, [`random`] the order of a round.

pub mod machine;
pub mod random;
pub mod stats;
pub mod table;
