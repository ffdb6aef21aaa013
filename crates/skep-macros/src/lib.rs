//! The compile-time half of skep. Documented where it is re-exported: in `skep`.
