//! Statements on scoped tables that do not prove whose rows they reach.

use skep::sql;

fn main() {
    sql!("delete from honey where jar = ? and keeper_id = ?", "heather", 1);
    sql!(i64, "select coalesce(cast(sum(grams) as bigint), 0) from honey");
    sql!(unscoped "hives belong to all"; "delete from hive where name = ?", "Ash");
    sql!(unscoped "we take what there is"; "delete from honey where jar = ? and keeper_id = ?", "heather", 1);
}
