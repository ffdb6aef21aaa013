//! Rows that cannot be.

fn main() {
    let text = "select title from post";
    skep::sql!(text);
    skep::sql!(Post, text);
    skep::sql!((i64, String), "select * from post");
    skep::sql!((i64, String), "select post.* from post");
    skep::sql!((i64, String), "select id from post");
    skep::sql!(i64, "delete from post");
    skep::sql!("select count(*) from post");
    skep::sql!("select title, title from post");
    skep::sql!("select post.id, author.id from post, author");
    skep::sql!("select id as self from post");
    skep::sql!(&'static str, "select id, title from post");
}
