//! Each type of `jiff` has its own columns, and is read from no others; a number that is not exact is no decimal.

use jiff::{Timestamp, civil};
use skep::sql::{Local, Result};

async fn a_day_for_a_time(db: &Local, day: civil::Date) -> Result<Vec<i64>> {
    db.all(skep::sql!(in "typed"; i64, "select id from course where starts > ?", day)).await
}

async fn a_local_time_as_a_moment(db: &Local) -> Result<Vec<Timestamp>> {
    db.all(skep::sql!(in "typed"; Timestamp, "select starts from course")).await
}

async fn inexact(db: &Local, price: f64) -> Result<Vec<i64>> {
    db.all(skep::sql!(in "typed"; i64, "select id from course where price = ?", price)).await
}

fn main() {}
