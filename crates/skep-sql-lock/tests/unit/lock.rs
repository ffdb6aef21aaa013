//! Unit tests of `lock`.

use super::*;
use crate::entry::{Column, Kind, Parameter, Tables};
use crate::scope::{Proof, Reach};

fn entry(statement: &str) -> Entry {
    Entry {
        statement: statement.to_owned(),
        parameters: vec![
            Parameter { kind: Kind::Integer, is_list: true },
            Parameter { kind: Kind::Text, is_list: false },
        ],
        columns: vec![
            Column { name: "a name!".to_owned(), kind: Kind::Boolean, is_list: true, nullable: false, unique: false },
            Column {
                name: "back\\slash\nnew \\n".to_owned(),
                kind: Kind::Decimal,
                is_list: true,
                nullable: true,
                unique: true,
            },
        ],
        reads: Tables::These(["hive".to_owned(), "other.visit".to_owned()].into()),
        writes: Tables::Any,
        is_volatile: true,
        reach: Reach::NoScoped,
    }
}

fn proof(parameter: usize) -> Proof {
    Proof { parameter, table: "other.visit".to_owned(), column: "keeper".to_owned() }
}

#[test]
fn what_is_written_is_read_again() {
    let statements = ["select 1", "select '\n\n| two' ,\n 3", "\nselect"];
    let mut entries = statements.map(entry);
    entries[1].reach = Reach::Scoped([proof(1), proof(12)].into());
    entries[2].reach = Reach::Everybody("nobody\nhelp: `\\n`".to_owned());
    let text = Lock::new(entries.clone(), "1").to_string();
    let lock = Lock::parse(&text).unwrap();
    for entry in &entries {
        assert_eq!(lock.find(&entry.statement, "1"), Ok(entry));
    }
    assert_eq!(lock.to_string(), text);
}

#[test]
fn a_changed_line_is_stale_and_an_unknown_one_is_named() {
    let text = Lock::new([entry("select 1")], "1").to_string();
    for (from, to) in [
        ("decimal[]? back", "decimal[] back"),
        ("reads hive\n", ""),
        ("boolean[] a", "boolean a"),
        ("integer list", "integer"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        assert_eq!(Lock::parse(&changed).unwrap().find("select 1", "1"), Err(Unknown::Stale), "{from}");
    }
    let scoped = Entry { reach: Reach::Scoped([proof(1)].into()), ..entry("select 1") };
    let text = Lock::new([scoped], "1").to_string();
    for (from, to) in [("scope 1", "scope 2"), ("scope 1 keeper other.visit\n", "")] {
        let changed = text.replace(from, to);
        assert_eq!(Lock::parse(&changed).unwrap().find("select 1", "1"), Err(Unknown::Stale), "{from}");
    }
    let conflict = text.replace("volatile", "<<<<<<< HEAD");
    assert_eq!(Lock::parse(&conflict).unwrap_err(), (13, "<<<<<<< HEAD".to_owned()));
}

#[test]
fn entries_are_sorted_whatever_their_order() {
    let (one, two) = (entry("select 1"), entry("select 2"));
    assert_eq!(Lock::new([one.clone(), two.clone()], "").to_string(), Lock::new([two, one], "").to_string());
}
