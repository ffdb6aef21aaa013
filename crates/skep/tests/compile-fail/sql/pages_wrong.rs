//! Pages: what would leave rows out, or has another cursor.

use skep::sql::{Cursor, PageNumber};

fn main() {
    let (number, at) = (PageNumber::FIRST, None::<Cursor<i64>>);
    skep::sql!("select id, title from post" {page 20: number});
    skep::sql!("select id, title from post order by title" {page 20: number} "limit 3");
    skep::sql!("select id, title from post order by id" {page 20: 3});
    skep::sql!("select id, title from post order by id" {pages 20: number});
    skep::sql!("select id, title from post order by id" {page 20});
    skep::sql!("select id, title from post" {keyset 20: at});
    skep::sql!("select id, title from post order by title" {keyset 20: at});
    skep::sql!("select id, body from post order by body, id" {keyset 20: at});
    skep::sql!("select title from post order by id" {keyset 20: at});
    skep::sql!("select id, title from post order by title desc, id" {keyset 20: at});
    skep::sql!("select id, title from post order by lower(title), id" {keyset 20: at});
    skep::sql!("select post.id, tag.name from post join tag on tag.post = post.id order by id" {keyset 20: at});
    skep::sql!("select slug, title from post order by slug" {keyset 20: at});
    skep::sql!(i64, "select id from post order by id" {keyset 20: at});
}
