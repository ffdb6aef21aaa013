//! Values and tuples that the columns do not fit.

use skep::Slug;

struct Day;

fn main() {
    let _ = skep::sql!(i64, "select sum(seen) from post");
    let _ = skep::sql!(i64, "select max(id) from post");
    let _ = skep::sql!(i64, "select title from post");
    let _ = skep::sql!(String, "select seen from post");
    let _ = skep::sql!(Vec<u8>, "select picture from post");
    let _ = skep::sql!(Slug, "select slug from post left join tag on tag.post = post.id union select null");
    let _ = skep::sql!((i64, String), "select post.id, author.name from post left join author on author.id = post.author");
    let _ = skep::sql!((String, String), "select slug, author from post_with_author");
    let _ = skep::sql!(Day, "select slug from post");
    let _ = skep::sql!(String, "select (select title from post where id = 1)");
}
