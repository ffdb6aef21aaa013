//! Statements of every form.

use jiff::Timestamp;
use jiff::civil::Date;
use skep::sql;
use skep::sql::{Changes, Cursor, Local, Page, PageNumber, Result, Row};

/// A row of `hive`.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct Hive {
    /// Unique.
    pub name: String,
    /// In all of its boxes.
    pub frames: i64,
    /// What a keeper wrote.
    pub note: Option<String>,
}

/// How lists are sorted.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// From A to Z.
    Name,
    /// The largest first.
    Frames,
}

/// Adds one, and gives its number.
pub async fn add(db: &Local, hive: &Hive) -> Result<Option<i64>> {
    db.one(sql!(
        i64,
        "insert into hive ({columns of Hive}, since) values ({values of Hive}, '2026-04-01')
         on conflict (name) do update set frames = excluded.frames, note = excluded.note
         returning id",
        hive
    ))
    .await
}

/// Those with at least this number of frames, and a note if that matters.
pub async fn hives(db: &Local, at_least: i64, noted: bool, order: Order) -> Result<Vec<Hive>> {
    db.all(sql!(
        Hive,
        "select name, frames, note from hive where frames >= ?"
        {if noted: "and note is not null"}
        "order by" {match order: Order::Name => "name", Order::Frames => "frames desc, name"},
        at_least
    ))
    .await
}

/// When hives were visited since this moment, and since when they are there.
pub async fn moments(db: &Local, since: Timestamp) -> Result<Vec<(Timestamp, Option<Date>)>> {
    db.all(sql!(
        (Timestamp, Option<Date>),
        "select at, since from visit join hive on hive.id = visit.hive where at > ? order by at",
        since
    ))
    .await
}

/// A visit of a hive, in a list.
#[derive(Clone, Debug, PartialEq, Row)]
pub struct Visit {
    /// Unique.
    pub id: i64,
    /// As `2026-04-01T12:00:00Z`.
    pub at: String,
    /// Of the hive.
    pub name: String,
}

/// Three visits, the newest first.
pub async fn visits(
    db: &Local,
    at: Option<Cursor<(String, i64)>>,
    healthy: Option<bool>,
) -> Result<Page<Visit, Cursor<(String, i64)>>> {
    db.page(sql!(
        Visit,
        "select visit.id, visit.at, hive.name from visit join hive on hive.id = visit.hive where true"
        {if let Some(healthy) = healthy: "and visit.healthy = ?", healthy}
        "order by at desc, id desc" {keyset 3: at}
    ))
    .await
}

/// Two names, from A to Z.
pub async fn names(db: &Local, at: PageNumber) -> Result<Page<String, PageNumber>> {
    db.page(sql!(String, "select name from hive order by name" {page 2: at})).await
}

/// Those with these names, or all others.
pub async fn named(db: &Local, names: &[&str], others: bool) -> Result<Vec<String>> {
    db.all(sql!(
        String,
        "select name from hive where"
        {match others: false => { "name in {names}" }, true => { "name not in {names}" }}
        "order by id"
    ))
    .await
}

/// Adds several, and gives their numbers.
pub async fn add_all(db: &Local, names: &[&str], frames: Vec<Option<i64>>) -> Result<Vec<i64>> {
    db.all(sql!(
        i64,
        "insert into hive (name, frames) select name, coalesce(frames, 10) from unnest(?::text[], ?::bigint[]) as given (name, frames)
         returning id",
        names,
        frames
    ))
    .await
}

/// The names and the notes of all, in the order of the names.
pub async fn lists(db: &Local) -> Result<Option<(Vec<String>, Option<Vec<Option<String>>>)>> {
    db.one(sql!(
        (Vec<String>, Option<Vec<Option<String>>>),
        "select array_agg(name order by name) as \"names!\", array_agg(note order by name) as notes from hive"
    ))
    .await
}

/// Notes a visit.
pub async fn visit(db: &Local, hive: i64, weight: Option<f64>, healthy: bool) -> Result<Changes> {
    db.execute(sql!("insert into visit (hive, weight, healthy) values (?, ?, ?)", hive, weight, healthy)).await
}

/// A line for each hive: its name, how often it was visited, its greatest weight, and whether it has been healthy.
pub async fn summary(db: &Local) -> Result<Vec<String>> {
    let rows = sql!(
        "select hive.name, count(visit.id) as visits, max(visit.weight) as heaviest, bool_and(visit.healthy) as healthy,
            coalesce(hive.note, '-') as note, hive.since::text as \"since!\", (select count(*) from hive) as hives,
            array_length((array[1, 2])[1:1], 1) as one
         from hive left join visit on visit.hive = hive.id
         group by hive.id order by hive.id"
    );
    let mut lines = Vec::new();
    for row in db.all(rows).await? {
        // The types are what this test is about.
        let (visits, hives): (i64, i64) = (row.visits, row.hives);
        let (heaviest, healthy): (Option<f64>, Option<bool>) = (row.heaviest, row.healthy);
        let (note, since, one): (String, String, Option<i64>) = (row.note, row.since, row.one);
        lines.push(format!("{} {visits} of {hives} {heaviest:?} {healthy:?} {note} {since} {one:?}", row.name));
    }
    Ok(lines)
}

/// Names and numbers of a view.
pub async fn visited(db: &Local) -> Result<Vec<(String, i64)>> {
    db.all(sql!((String, i64), "select name, visits from visited order by name")).await
}

/// All frames and the mean of all hives: each digit, the nearest number, and an integer that PostgreSQL made.
pub async fn frames(db: &Local) -> Result<Option<(Option<String>, Option<f64>, Option<i64>)>> {
    let rows = sql!(
        (Option<String>, Option<f64>, Option<i64>),
        "select sum(frames::bigint), avg(frames), cast(sum(frames::bigint) as bigint) from hive where frames >= ?::numeric",
        1.5
    );
    db.one(rows).await
}

/// Removes a hive, and with it its visits.
pub async fn remove(db: &Local, name: &str) -> Result<u64> {
    Ok(db.execute(sql!("delete from hive where name = ?", name)).await?.rows)
}

/// A table with a trigger.
pub async fn add_apiary(db: &Local, place: &str) -> Result<Changes> {
    db.execute(sql!("insert into apiary (id, place) values ((select count(*) + 1 from apiary), ?)", place)).await
}
