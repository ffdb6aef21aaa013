//! Statements of which the lock file says nothing, or not any more.

use skep::sql;

fn main() {
    sql!("select name from hive where since > ?", "2026-04-01");
    skep::sql!(in "changed"; "delete from hive where name = ?", "Ash");
    skep::sql!(in "damaged"; "select name, frames, note from hive where frames >= ?\norder by\nname", 1);
    skep::sql!(in "merged"; "delete from hive where name = ?", "Ash");
    skep::sql!(in "nowhere"; "delete from hive where name = ?", "Ash");
    sql!("begin");
}
