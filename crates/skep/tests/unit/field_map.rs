//! Tests of `field_map`.

use super::*;

#[test]
fn what_is_added_or_removed_after_a_search_is_seen_by_the_next() {
    let mut items: FieldMap<String, usize> = (0..100).map(|at| (format!("{at}"), at)).collect();
    assert_eq!(items.get("new").count(), 0);
    items.push("new".to_owned(), 100);
    assert_eq!(items.get("new").copied().collect::<Vec<_>>(), [100]);
    items.retain(|name| name != "new");
    assert_eq!(items.get("new").count(), 0);
}
