//! Migrations: each once, also if several processes start at the same time, and what is wrong with them is said before
//! anything is served.

use std::sync::Arc;

use skep::offload::Inline;
use skep::prelude::*;
use skep::sql::{Database, Migration, Migrations, OpenError, Options};
use skep::{Secret, Setup};
use skep_cluster::Cluster;

fn open(cluster: &Cluster, migrations: &Migrations) -> Result<Database, OpenError> {
    Database::open_postgres(&cluster.address(), migrations, Options::new(), Arc::new(Inline), false)
}

macro_rules! migrations {
    ($($number:literal $text:literal),*) => {
        Migrations::new(&[]).with_postgres(const { &Migrations::new(const { &[$(Migration::new($number, concat!("000", $number, "_a.sql"), $text)),*] }) })
    };
}

const FIRST: Migrations = migrations!(1 "create table a (b int); insert into a values (1);");
const FOR_SQLITE: Migrations = Migrations::new(&[Migration::new(1, "0001_a.sql", "create table a (b) strict")]);

#[test]
#[ignore = "needs PostgreSQL"]
fn migrations_run_once_and_whole() {
    let cluster = Cluster::start();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&cluster, &FIRST).map(drop))).collect();
        for one in all {
            one.join().unwrap().unwrap();
        }
    });
    let fails = |migrations: &Migrations| open(&cluster, migrations).unwrap_err().to_string();
    let error = fails(&migrations!(1 "create table a (b text);"));
    assert!(error.contains("0001_a.sql has run with another text"), "{error}");
    let error = fails(&Migrations::NONE);
    assert!(error.contains("from a newer version"), "{error}");
    let broken = migrations!(1 "create table a (b int); insert into a values (1);", 2 "create table c (d int);\n\nselect nonsense\nfrom a;");
    let error = fails(&broken);
    assert!(error.contains("0002_a.sql failed at line 3") && error.contains("select nonsense"), "{error}");
    let late = migrations!(1 "create table a (b int); insert into a values (1);", 2 "create table c (d int);\n\ninsert into a values (1 / 0);");
    let error = fails(&late);
    assert!(error.contains("0002_a.sql failed at line 3") && error.contains("division by zero"), "{error}");
    let control =
        migrations!(1 "create table a (b int); insert into a values (1);", 2 "create table c (d int);\ncommit;");
    let error = fails(&control);
    assert!(error.contains("line 2") && error.contains("must not begin or end a transaction"), "{error}");
    let declared = fails(&migrations!(1 "-- skep: function slug(text) text"));
    assert!(declared.contains("line 1: `slug(text) text`: PostgreSQL cannot call functions"), "{declared}");
    let good = migrations!(1 "create table a (b int); insert into a values (1);", 2 "create table c (d int);");
    let database = open(&cluster, &good).unwrap();
    assert_eq!(database.write(|db| db.one::<i64>("select count(*) from a, skep_migrations")).unwrap(), Some(2));
    assert!(!database.path().display().to_string().contains("user="), "{:?}", database.path());
}

#[test]
#[ignore = "needs PostgreSQL"]
fn migrations_of_sqlite_are_not_run() {
    let cluster = Cluster::start();
    let error = open(&cluster, &FOR_SQLITE);
    assert!(error.unwrap_err().to_string().contains("for SQLite only"));
    let careful = |migrations: &Migrations| {
        Database::open_postgres(&cluster.address(), migrations, Options::new(), Arc::new(Inline), true).map(drop)
    };
    careful(&migrations!(1 "create table a (b int);")).unwrap();
    let error = careful(&migrations!(1 "create table a (b int);", 2 "drop table a;")).unwrap_err().to_string();
    assert!(error.contains("does more than add"), "{error}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_database_that_is_not_there_is_an_error_with_its_place() {
    let open = |address: &str| {
        Database::open_postgres(address, &Migrations::NONE, Options::new(), Arc::new(Inline), false)
            .unwrap_err()
            .to_string()
    };
    let error = open("postgres://ann:s3cr3t@127.0.0.1:1/shop");
    assert!(error.contains("postgres://127.0.0.1/shop: PostgreSQL cannot be reached"), "{error}");
    assert!(!error.contains("s3cr3t"), "{error}");
    let error = open("mysql://127.0.0.1/shop");
    assert!(error.contains("expected an address such as `postgres://"), "{error}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn migrations_are_listed_with_what_became_of_them() {
    let cluster = Cluster::start();
    let mut setup = Setup::default();
    setup.database = Some(Secret::new(cluster.address()));
    let list =
        |migrations: Migrations| App::new().database(migrations).migrations(&setup).map_err(|error| error.to_string());
    assert_eq!(list(FIRST).unwrap(), ["0001_a.sql  pending"]);
    drop(open(&cluster, &FIRST).unwrap());
    let more = migrations!(1 "create table a (b int); insert into a values (1);", 2 "\ndrop table a;");
    let [ran, pending] = &list(more).unwrap()[..] else { panic!("two lines") };
    assert!(ran.starts_with("0001_a.sql  ran at 2") && ran.ends_with('Z') && ran.len() == 39, "{ran}");
    assert_eq!(pending, "0002_a.sql  pending, and does more than add: line 2, drop table a;");
    let changed = list(migrations!(1 "create table a (b text);")).unwrap_err();
    assert!(changed.contains("0001_a.sql has run with another text"), "{changed}");
}
