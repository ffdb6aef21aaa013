//! Verbs that a statement has no use for, and fields that its rows do not have.

use skep::sql::Local;

async fn wrong(db: &Local) {
    let _ = db.execute(skep::sql!("select title from post")).await;
    let _ = db.execute(skep::sql!(i64, "insert into author (name) values ('Ann') returning id")).await;
    if let Ok(Some(post)) = db.one(skep::sql!("select title, body from post where id = 1")).await {
        let _ = post.text;
        let _: String = post.body;
    }
}

fn main() {}
