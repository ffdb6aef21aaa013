//! How many jobs each queue has: for the page, the task `jobs` and the status.

use std::collections::BTreeMap;

use skep::sql::{Query, query};

/// A queue in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    pub(crate) waiting: i64,
    pub(crate) running: i64,
    pub(crate) dead: i64,
    /// When the first of those that wait is or was due, in milliseconds since 1970.
    pub(crate) first: Option<i64>,
}

pub(crate) type Row = (String, i64, i64, i64, Option<i64>);

/// A row for each queue that has jobs.
pub(crate) fn count() -> Query<'static, Row> {
    let text = "select queue, count(case when state = 0 then 1 end), count(case when state = 1 then 1 end),
                count(case when state = 2 then 1 end), min(case when state = 0 then at end) from skep_job group by queue";
    query(text, ()).own()
}

/// By their names.
pub(crate) fn queues(rows: Vec<Row>) -> BTreeMap<String, Queue> {
    let queue = |(name, waiting, running, dead, first)| (name, Queue { waiting, running, dead, first });
    rows.into_iter().map(queue).collect()
}

impl Queue {
    /// For how many seconds a job has been due that nobody has begun.
    pub(crate) fn late(&self, now: i64) -> u64 {
        let late = self.first.map_or(0, |first| now.saturating_sub(first) / 1000);
        u64::try_from(late).unwrap_or(0)
    }
}
