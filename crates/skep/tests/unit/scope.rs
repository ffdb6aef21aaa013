//! Tests of `scope`.

use super::is_one_of;

#[test]
fn a_column_is_meant_in_any_table_or_in_one() {
    let names = &["account_id", "Account.id"];
    assert!(is_one_of(names, "ticket", "account_id") && is_one_of(names, "account", "id"));
    for (table, column) in [("user", "id"), ("ticket", "d"), ("count", "id"), ("ticket", "user_id"), ("", "id")] {
        assert!(!is_one_of(names, table, column), "{table}.{column}");
    }
}
