//! Load, comparison and records: what every choice costs, side by side.
