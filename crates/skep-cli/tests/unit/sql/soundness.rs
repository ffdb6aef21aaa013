//! What is said of a statement holds: on random schemas, with random rows and random selects, by PostgreSQL.
//!
//! - No column that is said not to be NULL is ever NULL, and none that is said to be unique has a value twice.
//! - If a table that is not among those that are read is emptied, the answer stays the same.
//!
//! `SQL_CASES=100000 cargo test -p skep-cli soundness -- --ignored` tries as many statements; a failure names its seed,
//! with which `SQL_SEED` begins.

#![allow(clippy::format_push_string, reason = "the texts are put together as they read")]

use tokio_postgres::SimpleQueryMessage;

use super::*;

/// The same numbers for the same seed: splitmix64.
pub(in crate::sql) struct Random(pub(in crate::sql) u64);

impl Random {
    pub(in crate::sql) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % end as u64).unwrap()
    }

    pub(in crate::sql) fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    pub(in crate::sql) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

const TABLES: [&str; 3] = ["t0", "t1", "t2"];
const COLUMNS: [&str; 4] = ["a", "b", "c", "d"];

/// Tables of numbers (`a`, `b`) and texts (`c`, `d`), views of them, and rows.
fn schema(random: &mut Random) -> String {
    let mut text = String::new();
    for table in TABLES {
        let columns: Vec<String> = COLUMNS
            .iter()
            .map(|name| {
                let ty = if *name < "c" { "int" } else { "text" };
                let key = if ["a", "c"].contains(name) && random.one_in(3) { " unique" } else { "" };
                format!("{name} {ty}{}{key}", random.of(&[" not null", " not null", ""]))
            })
            .collect();
        text += &format!("create table {table} ({});\n", columns.join(", "));
        for _ in 0..random.below(4) {
            // What `not null` and `unique` refuse is left out.
            let number = |random: &mut Random| random.of(&["0", "1", "2", "null"]).to_owned();
            let word = |random: &mut Random| random.of(&["''", "'x'", "'y'", "null"]).to_owned();
            let row = [number(random), number(random), word(random), word(random)].join(", ");
            text += &format!(
                "do $$ begin insert into {table} values ({row}); exception when integrity_constraint_violation then null; end $$;\n"
            );
        }
    }
    for view in ["v0", "v1"] {
        text += &format!("create view {view} (a, c) as {};\n", select(random, 2, &["a", "c"]));
    }
    text
}

/// A select of a number and a text, with these names.
fn select(random: &mut Random, depth: usize, names: &[&str; 2]) -> String {
    let mut text = String::new();
    let mut sources = Vec::new();
    let mut from = String::new();
    let with = depth < 3 && random.one_in(5);
    if with {
        text += &format!("with w as ({}) ", select(random, depth + 1, &["a", "c"]));
    }
    for nth in 0..=random.below(3) {
        let alias = format!("s{depth}{nth}");
        let source = match random.below(9) {
            0 if depth < 3 => format!("({})", select(random, depth + 1, &["a", "c"])),
            1 if depth == 0 => random.of(&["v0", "v1"]).to_owned(),
            2 if with => "w".to_owned(),
            3 => "(values (1, 'x'), (2, null))".to_owned(),
            4 => "unnest(array[1, null, 2], array['x', null])".to_owned(),
            _ => random.of(&TABLES).to_owned(),
        };
        let item = if source.starts_with("(values") || source.starts_with("unnest") {
            format!("{source} {alias} (a, c)")
        } else {
            format!("{source} {alias}")
        };
        if nth == 0 {
            from += &item;
        } else {
            let join = random.of(&["join", "left join", "left join", "right join", "full join", "cross join"]);
            let on = match join {
                "cross join" => String::new(),
                // `full join` wants an equality.
                _ => {
                    format!(" on {alias}.a = {}.a", random.of(&sources.iter().map(String::as_str).collect::<Vec<_>>()))
                }
            };
            from += &format!(" {join} {item}{on}");
        }
        sources.push(alias);
    }
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let grouped = random.one_in(4);
    let (number, word) = if grouped {
        let by = random.of(&sources).to_owned();
        let number = match random.below(4) {
            0 => format!("max({}.a)", random.of(&sources)),
            1 => "count(*)::int".to_owned(),
            2 => format!("sum({}.a)::int", random.of(&sources)),
            _ => format!("min({}.a) filter (where {by}.a > 0)", random.of(&sources)),
        };
        from += &match random.below(4) {
            0 => format!(" group by rollup ({by}.c)"),
            _ => format!(" group by {by}.c"),
        };
        (number, format!("{by}.c"))
    } else {
        if random.one_in(3) {
            let condition = random.of(&["> 0", "= any(array[1, 2])", "<> all(array[0, null])"]);
            from += &format!(" where {} {condition}", number(random, &sources, depth));
        }
        (number(random, &sources, depth), word(random, &sources))
    };
    text += &format!("select {number} as {}, {word} as {} from {from}", names[0], names[1]);
    if !with && random.one_in(6) {
        let operator = random.of(&["union", "union all", "except", "intersect"]);
        text = format!("({text}) {operator} ({})", select(random, depth + 1, names));
    }
    text
}

fn number(random: &mut Random, sources: &[&str], depth: usize) -> String {
    let source = random.of(sources).to_owned();
    if random.one_in(3) {
        return format!("{source}.a");
    }
    match random.below(if depth < 3 { 16 } else { 13 }) {
        0 => "1".to_owned(),
        1 => format!("{source}.a + 1"),
        2 => format!("coalesce({source}.a, {}.a)", random.of(sources)),
        3 => format!("coalesce({source}.a, 0)"),
        4 => format!("length({source}.c)"),
        5 => format!("case when {source}.a > 0 then {}.a else 3 end", random.of(sources)),
        6 => format!("case {source}.a when 1 then 2 end"),
        7 => "row_number() over ()".to_owned(),
        8 => format!("greatest({source}.a, {}.a)", random.of(sources)),
        9 => format!("(array[{source}.a, 1])[{}]", random.of(&["1", "2", "3"])),
        10 => format!("cardinality(array[{source}.a, {}.a])", random.of(sources)),
        11 => format!("cardinality(array_agg({source}.a) over ())"),
        12 => format!("array_length(string_to_array({source}.c, 'y'), 1)"),
        13 => format!("(select count(*)::int from {} where a = {source}.a)", random.of(&TABLES)),
        14 => format!("(select max(a) from {} where a = {source}.a)", random.of(&TABLES)),
        _ => format!("{source}.a"),
    }
}

fn word(random: &mut Random, sources: &[&str]) -> String {
    let source = random.of(sources).to_owned();
    if random.one_in(3) {
        return format!("{source}.c");
    }
    match random.below(11) {
        0 => format!("{source}.c || 'x'"),
        1 => format!("lower({source}.c)"),
        2 => format!("nullif({source}.c, 'x')"),
        3 => format!("concat({source}.c, 'z')"),
        4 => format!("({source}.a is null)::text"),
        5 => format!("max({source}.c) over ()"),
        6 => format!("coalesce({source}.c, '')"),
        7 => format!("array_to_string(array[{source}.c], ',')"),
        8 => format!("(array_agg({source}.c) over ())[1]"),
        9 => format!("array(select c from {} where a = {source}.a)::text", random.of(&TABLES)),
        _ => format!("{source}.c"),
    }
}

/// Rows as texts; `None` if PostgreSQL refuses the statement.
pub(in crate::sql) async fn rows(database: &Database, sql: &str) -> Option<Vec<Vec<Option<String>>>> {
    let messages = database.client.simple_query(sql).await.ok()?;
    let rows = messages.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|nth| row.get(nth).map(str::to_owned)).collect()),
        _ => None,
    });
    let mut rows: Vec<Vec<Option<String>>> = rows.collect();
    rows.sort();
    Some(rows)
}

pub(in crate::sql) fn first_seed() -> u64 {
    std::env::var("SQL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_is_said_of_a_random_statement_holds() {
    let cases: usize = std::env::var("SQL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000);
    let (mut tried, mut columns, mut not_null, mut unique, mut refused) = (0, 0, 0, 0, 0);
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let mut server = Server::shared();
        for seed in first_seed().. {
            let mut random = Random(seed * 1_000_003);
            let schema = schema(&mut random);
            std::fs::write(folder.path().join("0001_all.sql"), &schema).unwrap();
            let Ok(database) = Database::of(&mut server, folder.path()).await else {
                refused += 1;
                continue;
            };
            for _ in 0..100 {
                let sql = select(&mut random, 0, &["n", "w"]);
                let Some(before) = rows(&database, &sql).await else {
                    refused += 1;
                    continue;
                };
                let context = || format!("seed {seed}\n{schema}\n{sql}");
                let entry = database.describe(&sql).await.unwrap_or_else(|error| panic!("{error}\n{}", context()));
                for (nth, column) in entry.columns.iter().enumerate() {
                    let is_null = before.iter().any(|row| row[nth].is_none());
                    assert!(column.nullable || !is_null, "{} is NULL: {}", column.name, context());
                    (columns, not_null) = (columns + 1, not_null + usize::from(!column.nullable));
                    let mut values: Vec<_> = before.iter().filter_map(|row| row[nth].as_ref()).collect();
                    values.sort();
                    let comes_twice = values.windows(2).any(|pair| pair[0] == pair[1]);
                    assert!(!column.unique || !comes_twice, "{} comes twice: {}", column.name, context());
                    unique += usize::from(column.unique);
                }
                for table in TABLES.iter().filter(|table| entry.reads.names().all(|name| name != **table)) {
                    database.client.batch_execute(&format!("begin; delete from {table}")).await.unwrap();
                    let after = rows(&database, &sql).await;
                    database.client.batch_execute("rollback").await.unwrap();
                    assert_eq!(after.as_ref(), Some(&before), "{table} is read: {}", context());
                }
                tried += 1;
            }
            if tried >= cases {
                break;
            }
        }
        server.end().await;
    });
    println!("{tried} statements, {refused} refused, {not_null} of {columns} columns are never NULL, {unique} unique");
    assert!(
        not_null * 4 > columns && unique * 100 > columns && refused < tried,
        "{tried} {refused} {not_null} {unique} {columns}"
    );
}
