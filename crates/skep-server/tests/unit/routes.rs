//! Tests of `routes`.

use skep::sql::Dialect;

use super::*;

#[test]
fn each_table_is_listed_with_its_writers_first() {
    let (list, add) = (("src/list.rs", 7), ("src/add.rs", 9));
    let statements = [
        Statement::new(add, Dialect::Sqlite, &["post"], &["post", "tag"]),
        Statement::new(list, Dialect::Sqlite, &["post"], &[]),
    ];
    let expected = "post  writes  src/add.rs:9
post  reads   src/add.rs:9
post  reads   src/list.rs:7
tag   writes  src/add.rs:9
not listed:";
    let table = of_tables(&statements.each_ref());
    assert!(table.starts_with(expected), "{table}");
}
