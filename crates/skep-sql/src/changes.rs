//! What a write did.

/// What a write did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// How many rows were inserted, updated or deleted, without those that triggers and foreign keys changed.
    pub rows: u64,
    /// The rowid of the row inserted last on this connection, by this statement or an earlier one.
    pub last_insert_id: i64,
}

impl Changes {
    /// What two statements did, one after the other.
    pub(crate) fn and(self, next: Self) -> Self {
        Self { rows: self.rows + next.rows, last_insert_id: next.last_insert_id }
    }
}
