//! How many jobs each queue and each batch has: for the page, the task `jobs` and the status.

use std::collections::BTreeMap;

use skep::sql::{Query, query};

/// A queue in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    pub(crate) waiting: i64,
    pub(crate) running: i64,
    pub(crate) dead: i64,
    /// For how many seconds a job has been due that nobody has begun.
    pub(crate) late: u64,
}

pub(crate) type Row = (String, i64, i64, i64, Option<i64>);

/// A row for each queue that has jobs.
pub(crate) fn count() -> Query<'static, Row> {
    let text = "select queue, count(case when state = 0 then 1 end), count(case when state = 1 then 1 end),
                count(case when state = 2 then 1 end), min(case when state = 0 then at end) from skep_job group by queue";
    query(text, ()).own()
}

/// By their names, as they are now, when they were read.
pub(crate) fn queues(rows: Vec<Row>, now: i64) -> BTreeMap<String, Queue> {
    let late = |first: Option<i64>| first.map_or(0, |first| now.saturating_sub(first) / 1000).try_into().unwrap_or(0);
    let queue = |(name, waiting, running, dead, first)| (name, Queue { waiting, running, dead, late: late(first) });
    rows.into_iter().map(queue).collect()
}

/// A batch that has not ended: number and kind of the job at its end, how many jobs it waits for, and how many of its
/// jobs are dead letters.
pub(crate) type BatchRow = (i64, String, i64, i64);

/// The oldest of them.
pub(crate) fn batches(most: i64) -> Query<'static, BatchRow> {
    let text = "select id, kind, (select count(*) from skep_job one where one.batch = skep_job.id and one.state <> 2),
                (select count(*) from skep_job one where one.batch = skep_job.id and one.state = 2)
                from skep_job where state = 3 order by id limit ?";
    query(text, most).own()
}
