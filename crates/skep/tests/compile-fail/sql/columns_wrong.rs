//! The columns of a struct are checked where they are put.

use skep::sql::{self, Row};

#[derive(Row)]
struct Post {
    title: String,
    seen: i64,
}

#[derive(Row)]
struct Tag {
    post: i64,
    name: String,
}

#[derive(Row)]
struct Rating {
    title: i64,
}

struct NoRow {
    title: String,
}

async fn examples(db: &sql::Local, post: &Post, tag: &Tag, rating: &Rating, no: &NoRow) -> sql::Result<()> {
    db.all(sql::sql!("select {columns of Tag} from post")).await?;
    db.execute(sql::sql!("update post set {values of Post} where id = 1", tag)).await?;
    db.execute(sql::sql!("update post set {values of Rating} where id = 1", rating)).await?;
    db.execute(sql::sql!("update post set {values of Post} where id = 1")).await?;
    db.execute(sql::sql!("update post set {values of Post} where id = 1", &made())).await?;
    db.execute(sql::sql!("update post set {values of NoRow} where id = 1", no)).await?;
    db.all(sql::sql!("select {columns of Post as} from post")).await?;
    Ok(())
}

fn made() -> Post {
    Post { title: String::new(), seen: 0 }
}

fn main() {}
