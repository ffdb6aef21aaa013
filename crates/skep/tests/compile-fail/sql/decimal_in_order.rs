//! SQLite stores decimals and moments as texts, which are neither in the order of numbers nor equal in another form.

use skep::sql::{Local, Result};

async fn in_order(db: &Local) -> Result<Vec<i64>> {
    db.all(skep::sql!(in "typed"; i64, "select id from course order by price")).await
}

async fn a_number(db: &Local) -> Result<u64> {
    db.execute(skep::sql!(in "typed"; "update course set price = 9.5")).await
}

async fn the_clock(db: &Local) -> Result<Vec<i64>> {
    db.all(skep::sql!(in "typed"; i64, "select id from course where created > current_timestamp")).await
}

fn main() {}
