//! A table of a page, which is Markdown.

use std::fmt;

/// Rows of cells; the first row is the head.
pub struct Table(skep_bench::table::Table);

impl Table {
    /// A table without rows yet.
    pub fn new(head: impl IntoIterator<Item = String>) -> Self {
        Self(skep_bench::table::Table::new(head))
    }

    /// Adds columns.
    pub fn head(&mut self, more: impl IntoIterator<Item = String>) {
        self.0.head(more);
    }

    /// Adds a row.
    pub fn row(&mut self, row: Vec<String>) {
        self.0.row(row);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0.markdown())
    }
}
