//! What the peers with a database have in common: the rows, the pages, random numbers, and PostgreSQL by way of
//! tokio-postgres.
//!
//! The tables are those of `tools/runner/src/site/data.rs`.

mod pages;
pub mod postgres;

use serde::Serialize;

pub use pages::{fortunes, list};

/// How many rows `/queries` reads, and `/updates` reads and writes.
pub const ROWS: usize = 20;

/// How many articles `/list` shows.
pub const PER_PAGE: i64 = 20;

/// An article as the list shows it.
#[derive(Debug)]
pub struct Article {
    /// What its address ends with.
    pub slug: String,
    /// Plain text.
    pub title: String,
    /// Plain text.
    pub summary: String,
    /// `YYYY-MM-DD`.
    pub published: String,
    /// With a space between them.
    pub tags: String,
}

/// A row with a number.
#[derive(Debug, Serialize)]
pub struct World {
    /// From 1 to 10 000.
    pub id: i32,
    /// From 1 to 10 000, too.
    #[serde(rename = "randomNumber")]
    pub number: i32,
}

/// A row with a text.
#[derive(Debug)]
pub struct Fortune {
    /// From 1; 0 is the one that no table has.
    pub id: i32,
    /// Plain text, with what must be escaped.
    pub message: String,
}

/// The number of a row, or a number for it.
#[must_use]
pub fn random() -> i32 {
    fastrand::i32(1..=10_000)
}
