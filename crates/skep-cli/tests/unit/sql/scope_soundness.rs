//! A statement that keeps to its scope reaches no row of others: random statements on random rows, by PostgreSQL.
//!
//! - What is read stays the same if the rows of others are deleted, and so do rows that it writes into tables that are
//!   not scoped.
//! - What it writes changes no row of others.
//!
//! The parameters that must be a `Scope` are 1, all others anything.
//!
//! `SQL_CASES=100000 cargo test -p skep-cli scope -- --ignored` tries as many statements; a failure names its seed,
//! with which `SQL_SEED` begins.

#![allow(clippy::format_push_string, reason = "the texts are put together as they read")]

use crate::sql::describe::Database;
use crate::sql::describe::tests::soundness::{Random, first_seed, rows};

use super::*;

const SCHEMA: &str = "
    create table s0 (id int primary key, owner int not null, a int, unique (owner, a));
    create table s1 (id int primary key, owner bigint not null, a int);
    create table p0 (id int, owner int, a int);
    -- skep: s0 is scoped by owner
    -- skep: s1 is scoped by owner
    create view v0 as select id, owner, a from p0;";

const TABLES: [&str; 6] = ["s0", "s0", "s1", "s1", "p0", "v0"];

/// Rows of two people.
fn fill(random: &mut Random) -> String {
    let mut text = "delete from s0; delete from s1; delete from p0;".to_owned();
    for table in ["s0", "s1", "p0"] {
        for id in 0..random.below(5) {
            let (owner, a) = (random.of(&["1", "2"]), random.of(&["0", "1", "2", "3", "null"]));
            text += &format!("insert into {table} values ({id}, {owner}, {a}) on conflict do nothing;");
        }
    }
    text
}

/// What a condition or a value may name.
#[derive(Clone, Default)]
struct Names {
    /// Of this query.
    here: Vec<String>,
    /// Of those around it.
    outer: Vec<String>,
    depth: usize,
}

impl Names {
    fn inner(&self) -> Self {
        let outer = self.here.iter().chain(&self.outer).cloned().collect();
        Self { here: Vec::new(), outer, depth: self.depth + 1 }
    }

    fn one<'n>(&'n self, random: &mut Random) -> &'n str {
        let from =
            if !self.outer.is_empty() && (self.here.is_empty() || random.one_in(4)) { &self.outer } else { &self.here };
        &from[random.below(from.len())]
    }
}

fn condition(random: &mut Random, names: &Names, deep: usize) -> String {
    let (one, other) = (names.one(random).to_owned(), names.one(random).to_owned());
    if deep < 3 && random.one_in(2) {
        let (left, right) = (condition(random, names, deep + 1), condition(random, names, deep + 1));
        return match random.below(8) {
            0 => format!("({left} or {right})"),
            1 => format!("(not {left} and {right})"),
            2 => format!("({left}) is true"),
            _ => format!("({left} and {right})"),
        };
    }
    match random.below(if names.depth < 3 { 12 } else { 10 }) {
        0..=3 => format!("{one}.owner = ?"),
        4 => format!("? = {one}.owner"),
        5 | 6 => format!("{one}.owner = {other}.owner"),
        7 => format!("{one}.a = {other}.a"),
        8 => format!("{one}.owner <> ?"),
        9 => format!("({one}.owner, {one}.a) = (?, {other}.a)"),
        10 => format!("exists ({})", select(random, &names.inner())),
        _ => format!("{one}.id in ({})", select(random, &names.inner())),
    }
}

/// All scoped tables of this query are compared, or some are.
fn filter(random: &mut Random, names: &Names) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in &names.here {
        if !random.one_in(6) {
            all.push(format!("{name}.owner = ?"));
        }
    }
    if all.is_empty() || random.one_in(3) {
        all.push(condition(random, names, 0));
    }
    all.join(" and ")
}

/// `from`, whose names are added to those of this query.
fn from(random: &mut Random, names: &mut Names) -> String {
    let mut text = String::new();
    for nth in 0..=random.below(3) {
        let alias = format!("t{}{nth}", names.depth);
        let mut source = match random.below(8) {
            0 if names.depth < 3 => {
                // What stands to the left may be used inside.
                let lateral = nth > 0 && random.one_in(2);
                let inner = if lateral {
                    names.inner()
                } else {
                    Names { here: Vec::new(), depth: names.depth + 1, ..names.clone() }
                };
                let inner = rows_of(random, &inner);
                format!("{}({inner})", if lateral { "lateral " } else { "" })
            }
            _ => random.of(&TABLES).to_owned(),
        };
        source += &format!(" {alias}");
        if nth == 0 {
            text = source;
            names.here.push(alias);
            continue;
        }
        let is_lateral = source.starts_with("lateral");
        let join = if is_lateral {
            random.of(&["join", "left join"])
        } else {
            random.of(&["join", "left join", "left join", "right join", "full join"])
        };
        let before = names.here[random.below(names.here.len())].clone();
        names.here.push(alias.clone());
        let more = if random.one_in(2) {
            format!(" and {alias}.owner = {}", random.of(&["?", "?", &format!("{before}.owner")]))
        } else {
            String::new()
        };
        text += &match join {
            // It wants an equality that can be merged.
            "full join" => format!(" full join {source} on {alias}.a = {before}.a{more}"),
            _ if random.one_in(5) => {
                let only = Names { here: names.here.clone(), ..names.clone() };
                format!(" {join} {source} on {}", condition(random, &only, 1))
            }
            _ => format!(" {join} {source} on {alias}.a = {before}.a{more}"),
        };
    }
    text
}

/// A select of one number.
fn select(random: &mut Random, names: &Names) -> String {
    let mut names = Names { here: Vec::new(), ..names.clone() };
    let from = from(random, &mut names);
    let one = names.here[random.below(names.here.len())].clone();
    let value = match random.below(6) {
        0 => format!("{one}.id"),
        1 => "count(*)::int".to_owned(),
        2 if names.depth < 3 => format!("max((select count(*) from s1 x where x.owner = {one}.owner))::int"),
        _ => format!("max({one}.a)"),
    };
    format!("select {value} from {from} where {}", filter(random, &names))
}

/// A select that stands for a table.
fn rows_of(random: &mut Random, names: &Names) -> String {
    let mut names = Names { here: Vec::new(), ..names.clone() };
    let from = from(random, &mut names);
    let one = names.here[random.below(names.here.len())].clone();
    let owner = random.of(&[&format!("{one}.owner"), &format!("{one}.owner"), "?::int"]).to_owned();
    let mut text = format!("select {one}.id, {owner} as owner, {one}.a from {from}");
    if !random.one_in(5) {
        text += &format!(" where {}", filter(random, &names));
    }
    if names.depth < 2 && random.one_in(6) {
        text += &format!(
            " {} {}",
            random.of(&["union", "union all", "except"]),
            rows_of(random, &Names { here: Vec::new(), ..names })
        );
    }
    text
}

/// A statement of any kind.
fn statement(random: &mut Random) -> String {
    let names = Names::default();
    let table = random.of(&["s0", "s1", "p0"]).to_owned();
    let target = Names { here: vec![table.clone()], outer: Vec::new(), depth: 1 };
    let mut more = target.clone();
    match random.below(12) {
        0 => {
            let value =
                random.of(&["a = 7", "owner = ?", "owner = owner", "a = (select max(a) from s1 where owner = ?)"]);
            let from = if random.one_in(2) { format!(" from {}", from(random, &mut more)) } else { String::new() };
            format!("update {table} set {value}{from} where {} returning {table}.id", filter(random, &more))
        }
        1 => {
            let using = if random.one_in(2) { format!(" using {}", from(random, &mut more)) } else { String::new() };
            format!("delete from {table}{using} where {} returning {table}.id", filter(random, &more))
        }
        2 => format!(
            "insert into {table} (id, owner, a) select 10 + id, owner, a from ({}) x returning id",
            rows_of(random, &names)
        ),
        3 => {
            let set = random.of(&["a = excluded.a", "owner = excluded.owner", "owner = ?", "a = 9"]);
            let condition = random.of(&[
                "",
                " where {}.owner = excluded.owner",
                " where {}.owner = ?",
                " where excluded.owner = ?",
            ]);
            let (table, on) = if random.one_in(2) { ("s0", random.of(&["id", "owner, a"])) } else { ("s1", "id") };
            let row = format!("({}, {}, {})", random.below(4), random.of(&["?", "?", "1"]), random.of(&["0", "1"]));
            format!(
                "insert into {table} (id, owner, a) values {row} on conflict ({on}) do update set {set}{}",
                condition.replace("{}", table)
            )
        }
        4 => format!("with w as ({}) select id, a from w where {}", rows_of(random, &names), "w.owner = ?"),
        _ => rows_of(random, &names),
    }
}

/// With numbers for parameters: those of `proofs` are 1.
fn filled(random: &mut Random, sql: &str, proofs: &BTreeSet<usize>) -> String {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (nth, part) in (1..).zip(parts) {
        text += if proofs.contains(&nth) { "1" } else { random.of(&["1", "2", "0"]) };
        text += part;
    }
    text
}

/// What a statement answers, and what is in the tables then; undone in the end. `None` if PostgreSQL refuses it.
async fn outcome(database: &Database, before: &str, sql: &str) -> Option<Outcome> {
    database.client.batch_execute(&format!("begin; {before}")).await.unwrap();
    let answer = rows(database, sql).await;
    let mut outcome = None;
    if let Some(answer) = answer {
        let plain = rows(database, "select * from p0").await.unwrap();
        let of_others = "select 's0', * from s0 where owner <> 1 union all select 's1', * from s1 where owner <> 1";
        outcome = Some(Outcome { answer, plain, of_others: rows(database, of_others).await.unwrap() });
    }
    database.client.batch_execute("rollback").await.unwrap();
    outcome
}

type Rows = Vec<Vec<Option<String>>>;

struct Outcome {
    answer: Rows,
    plain: Rows,
    of_others: Rows,
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_random_statement_that_keeps_to_its_scope_reaches_no_row_of_others() {
    let cases: usize = std::env::var("SQL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000);
    let (mut kept, mut refused, mut wrong) = (0, 0, 0);
    run(with(SCHEMA, async |database| {
        for seed in first_seed().. {
            let mut random = Random(seed * 1_000_003);
            let rows = fill(&mut random);
            database.client.batch_execute(&rows).await.unwrap();
            let before = outcome(database, "", "select 1").await.unwrap().of_others;
            for _ in 0..10 {
                let sql = statement(&mut random);
                let Ok(entry) = database.describe(&sql).await else {
                    wrong += 1;
                    continue;
                };
                let proofs = match &entry.reach {
                    Reach::NoScoped => continue,
                    Reach::Scoped(proofs) => proofs.iter().map(|proof| proof.parameter).collect(),
                    Reach::Everybody(_) => {
                        refused += 1;
                        continue;
                    }
                };
                let filled = filled(&mut random, &sql, &proofs);
                let context = || format!("seed {seed}\n{rows}\n{sql}\n{filled}\n{proofs:?}");
                let Some(all) = outcome(database, "", &filled).await else {
                    wrong += 1;
                    continue;
                };
                assert_eq!(all.of_others, before, "rows of others are written: {}", context());
                kept += 1;
                // A row of somebody else that is in the way is noticed.
                let conflicts = sql.starts_with("insert into s");
                let alone = "delete from s0 where owner <> 1; delete from s1 where owner <> 1";
                if let Some(alone) = outcome(database, alone, &filled).await.filter(|_| !conflicts) {
                    assert_eq!(all.answer, alone.answer, "rows of others are read: {}", context());
                    assert_eq!(all.plain, alone.plain, "rows of others are copied: {}", context());
                }
            }
            if kept + refused >= cases {
                break;
            }
        }
    }));
    println!("{kept} statements keep to their scope, {refused} do not surely, {wrong} are no statements");
    assert!(kept * 5 > refused && refused * 10 > kept && wrong < kept + refused, "{kept} {refused} {wrong}");
}
