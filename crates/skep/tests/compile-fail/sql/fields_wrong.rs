//! Structs that the columns do not fit.

use skep::sql::Row;

#[derive(Row)]
struct Post {
    title: String,
    body: Option<String>,
}

#[derive(Row)]
struct WithBody {
    title: String,
    body: String,
}

#[derive(Row)]
struct Numbers {
    id: String,
    seen: Option<bool>,
    rating: i64,
}

#[derive(Row)]
struct Renamed {
    title: String,
    #[row(column = "text")]
    body: Option<String>,
}

/// The statement gives a column that is called as a field, whose column is another one.
#[derive(Row)]
struct Content {
    title: String,
    #[row(column = "body")]
    content: Option<String>,
}

mod inner {
    pub(super) fn of_super() {
        let _ = skep::sql!(super::Content, "select title, slug as content from (select {columns of Content}, slug from post)");
    }
    use super::Content;
}

struct NoRow {
    title: String,
    body: Option<String>,
}

fn main() {
    let _ = skep::sql!(Post, "select title from post join tag on tag.post = post.id where tag.name = ?", "bees");
    let _ = skep::sql!(Post, "select id, title from post");
    let _ = skep::sql!(Post, "select title, body, seen from post");
    let _ = skep::sql!(WithBody, "select title, body from post");
    let _ = skep::sql!(WithBody, "select title, coalesce(body, slug) as body from post");
    let _ = skep::sql!(Numbers, "select id, seen, rating from post");
    let _ = skep::sql!(Renamed, "select title, body from post");
    let _ = skep::sql!(Content, "select title, slug as content from (select {columns of Content}, slug from post)");
    inner::of_super();
    let _ = skep::sql!(NoRow, "select title, body from post");
}
