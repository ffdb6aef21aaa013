//! Dates of jiff and decimal numbers in columns of PostgreSQL's own types.

use jiff::{Timestamp, civil};
use rust_decimal::Decimal;
use skep::sql::{Options, query};

use crate::{shared, with};

type Row = (civil::Date, civil::Time, civil::DateTime, Timestamp, Decimal);

#[test]
#[ignore = "needs PostgreSQL"]
fn they_come_back_as_what_they_are() {
    with(shared(), Options::new(), async |db| {
        let db = db.transaction().await.unwrap();
        db.execute("create temporary table typed (a date, b time, c timestamp, d timestamptz, e numeric(10, 2)) on commit drop")
            .await
            .unwrap();
        let micros = 1_234_567_000;
        for (second, price) in [(0, "12.50"), (1_774_742_400, "-0.01"), (-62_135_596_800, "99999999.99")] {
            let moment = Timestamp::new(second, 0).unwrap() + jiff::SignedDuration::from_nanos(micros);
            let local = moment.to_zoned(jiff::tz::TimeZone::UTC).datetime();
            let price: Decimal = price.parse().unwrap();
            let insert =
                query("insert into typed values (?, ?, ?, ?, ?)", (local.date(), local.time(), local, moment, price));
            db.execute(insert).await.unwrap();
            let found =
                db.one::<Row>(query("select * from typed where d = ? and e = ?", (moment, price))).await.unwrap();
            assert_eq!(found, Some((local.date(), local.time(), local, moment, price)));
        }
        let many = [Decimal::new(1250, 2), Decimal::new(1, 2)];
        let found: Option<Vec<Decimal>> =
            db.one(query("select array_agg(e order by e) from typed where e = any(?)", &many[..1])).await.unwrap();
        assert_eq!(found, Some(many[..1].to_vec()));
        db.rollback().await.unwrap();
    });
}
