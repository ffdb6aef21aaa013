//! The tables of the experiments with a database, in PostgreSQL and in SQLite: articles, rows with a number, and texts.
//!
//! Each server has a copy of its own, so that none reads what another has written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Site;
use crate::Result;
use crate::build::executable;
use crate::cluster::{Cluster, feed};
use crate::need::Need;

/// How many rows with a number there are, and how large the numbers are.
pub(crate) const WORLDS: u32 = 10_000;

/// In the words of both databases.
const TABLES: &str = "
    create table article (
        id integer primary key, slug text not null unique, title text not null, summary text not null,
        published text not null, tags text not null);
    create index article_published on article (published, id);
    create table world (id integer primary key, randomnumber integer not null);
    create table fortune (id integer primary key, message text not null);";

/// What texts may have in them.
const FORTUNES: [&str; 12] = [
    "A backup that was never restored is a wish.",
    "Measure twice, cache once.",
    "Every default is somebody's surprise.",
    "<script>alert(\"This must not run.\");</script>",
    "Locks & keys: know who holds which.",
    "There are 10 kinds of people: those who count from 0, and the other 9.",
    "It's the \"temporary\" table that stays.",
    "a < b does not say that b > a was tested.",
    "\u{30c7}\u{30fc}\u{30bf}\u{30d9}\u{30fc}\u{30b9}\u{306f}\u{53cb}\u{9054}\u{3067}\u{3059}",
    "An index is a promise to those who read, paid by those who write.",
    "The query was slow because nobody had asked why.",
    "Read your own writes, or write down what you read.",
];

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Database {
    Postgres,
    Sqlite,
}

/// Rows by their ids, with each number that was said of them.
pub(crate) type Worlds = BTreeMap<u32, Vec<u32>>;

/// The number of a row that nobody has written.
pub(crate) fn number(id: u32) -> u32 {
    id * 7919 % WORLDS + 1
}

impl Site {
    /// Makes the database of the server with this directory, unless it is there.
    pub(crate) fn make_data(&self, of: Database, dir: &Path) -> Result<()> {
        match of {
            Database::Postgres => self.cluster()?.make(&name(dir)),
            Database::Sqlite if sqlite(dir).exists() => Ok(()),
            Database::Sqlite => {
                fs::create_dir_all(dir)?;
                let text = format!("pragma journal_mode = wal;\n{}", statements());
                feed(Command::new(executable(Need::SQLITE)).arg(sqlite(dir)), &text).map(drop)
            }
        }
    }

    /// The address of its database in PostgreSQL.
    pub(crate) fn data_address(&self, dir: &Path) -> Result<String> {
        Ok(self.cluster()?.address(&name(dir)))
    }

    /// Whether the database of the server with this directory has these rows.
    pub(crate) fn has_data(&self, of: Database, dir: &Path, worlds: &Worlds) -> Result<bool> {
        let row = |(id, numbers): (&u32, &Vec<u32>)| {
            let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
            format!("id = {id} and randomnumber in ({})", numbers.join(", "))
        };
        let rows: Vec<_> = worlds.iter().map(row).collect();
        let text = format!("select count(*) from world where {};", rows.join(" or "));
        let found = match of {
            Database::Postgres => self.cluster()?.run(&name(dir), &text)?,
            Database::Sqlite => feed(Command::new(executable(Need::SQLITE)).arg(sqlite(dir)), &text)?,
        };
        Ok(found == worlds.len().to_string())
    }

    /// The cluster, if a server has asked for it.
    pub(crate) fn running_cluster(&self) -> Option<&Cluster> {
        self.1.get()
    }

    fn cluster(&self) -> Result<&Cluster> {
        if let Some(cluster) = self.1.get() {
            return Ok(cluster);
        }
        let cluster = Cluster::start(&(statements() + "analyze;\n"))?;
        Ok(self.1.get_or_init(|| cluster))
    }
}

/// The database in SQLite of the server with this directory. Skep has it there by itself.
pub(crate) fn sqlite(dir: &Path) -> PathBuf {
    dir.join("database.sqlite")
}

/// The name of its database in PostgreSQL.
fn name(dir: &Path) -> String {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.replace(|char: char| !char.is_ascii_alphanumeric(), "_")
}

fn statements() -> String {
    let mut sql = format!("begin;{TABLES}\n");
    for article in articles::all() {
        let articles::Article { number, slug, title, summary, published, tags } = article;
        let texts = [slug, title, summary, published, tags.join(" ")].map(|text| quoted(&text));
        let _ = writeln!(sql, "insert into article values ({number}, {});", texts.join(", "));
    }
    let worlds: Vec<_> = (1..=WORLDS).map(|id| format!("({id}, {})", number(id))).collect();
    let _ = writeln!(sql, "insert into world values {};", worlds.join(", "));
    for (id, message) in (1..).zip(FORTUNES) {
        let _ = writeln!(sql, "insert into fortune values ({id}, {});", quoted(message));
    }
    sql + "commit;\n"
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_inserted_once() {
        let sql = statements();
        assert_eq!(sql.matches("insert into article ").count(), articles::COUNT);
        assert_eq!(sql.matches("insert into fortune ").count(), FORTUNES.len());
        let mut numbers: Vec<_> = (1..=WORLDS).map(number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(1..=WORLDS));
    }

    #[test]
    fn a_directory_names_its_database() {
        assert_eq!(name(Path::new("/tmp/x/pg-list-axumSqlx")), "pg_list_axumsqlx");
    }
}
