//! Statements that belong elsewhere.

fn main() {
    skep::sql!("attach 'other.sqlite' as other");
    skep::sql!("detach other");
    skep::sql!("pragma journal_mode = delete");
    skep::sql!("select load_extension('evil') as e");
    skep::sql!("begin");
    skep::sql!("commit");
    skep::sql!("savepoint here");
    skep::sql!("create table other (id integer) strict");
    skep::sql!("create temp table other (id integer) strict");
    skep::sql!("drop table post");
    skep::sql!("alter table post add column more text");
    skep::sql!("vacuum");
}
