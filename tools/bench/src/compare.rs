//! Variants side by side: the figures of rounds, what lies between two variants, and how sure that is.
//!
//! Start reading at [`Rounds::interval`] for the arithmetic, at [`Matrix`] for what is shown of it.

mod gate;
mod interval;
mod kept;
mod matrix;
mod measure;
mod rounds;
mod spread;

pub use gate::{Gate, Outcome};
pub use interval::Interval;
pub use kept::StoredHistogram;
pub use matrix::Matrix;
pub(crate) use matrix::matrices;
pub use measure::Measure;
pub(crate) use rounds::sample;
pub use rounds::{Curve, Piece, Round, Rounds, Sample, Variant};
pub use spread::{Spread, median, ratios};
