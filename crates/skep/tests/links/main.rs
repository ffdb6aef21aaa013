//! Links: where they lead, and that they lead back to their values.

mod destinations;
mod round_trip;
mod values;
