//! Unit tests of `migrations`.

use super::*;

fn check(names: &[&str]) -> Result<Vec<(u32, String)>, String> {
    numbered(names.iter().map(|&name| name.to_owned()).collect())
}

#[test]
fn files_are_ordered_by_number() {
    let expected = [(1, "0001_posts.sql".to_owned()), (10, "0010_tags_2.sql".to_owned())];
    assert_eq!(check(&["0001_posts.sql", "0010_tags_2.sql"]).unwrap(), expected);
}

#[test]
fn an_invalid_name_is_an_error_with_an_example() {
    let names = "posts.sql 1_posts.sql 0000_posts.sql 0001_Posts.sql 0001_.sql 0001_posts.txt +001_x.sql";
    for name in names.split(' ') {
        let error = check(&[name]).unwrap_err();
        assert!(
            error.starts_with(&format!("invalid migration name `{name}`")) && error.contains("0001_posts.sql"),
            "{error}"
        );
    }
}

#[test]
fn an_error_lists_both_files_with_the_same_number() {
    let error = check(&["0001_a.sql", "0001_b.sql"]).unwrap_err();
    assert!(error.starts_with("`0001_a.sql` and `0001_b.sql` have the same number"), "{error}");
}
