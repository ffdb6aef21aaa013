//! Dates of jiff and decimal numbers, from a form into columns and JSON, and back.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned, civil};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use skep::Setup;
use skep::cache::Clock;
use skep::form::{self, Group};
use skep::prelude::*;
use skep::sql::{self, Migrations, Row, migrations};
use skep::test::Client;

const MIGRATIONS: Migrations = migrations!("tests/sql/typed");

macro_rules! sql {
    ($($input:tt)*) => { skep::sql!(in "tests/sql/typed"; $($input)*) };
}

#[derive(Debug, PartialEq, Group, Row, Serialize, Deserialize)]
struct CourseFields {
    title: String,
    day: civil::Date,
    opens: Option<civil::Time>,
    starts: civil::DateTime,
    price: Decimal,
    open: bool,
}

#[derive(Service)]
#[service(POST "/courses")]
struct Create {
    #[form]
    course: CourseFields,
}

impl Handle for Create {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let insert = sql!(
            "insert into course (created, {columns of CourseFields}) values (?, {values of CourseFields})",
            cx.now(),
            &self.course
        );
        cx.db().execute(insert).await?;
        let course = sql!(CourseFields, "select {columns of CourseFields} from course order by id desc limit 1");
        let course = cx.db().one(course).await?.or_404()?;
        Response::json(&course)
    }
}

/// The courses that were made since, of this price.
#[derive(Service)]
#[service(GET "/courses/since/{moment}")]
struct Since {
    moment: Timestamp,
    price: Option<Decimal>,
    #[query(default = civil::date(2026, 1, 1))]
    least: civil::Date,
}

impl Handle for Since {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let titles = sql!(
            String,
            "select title from course where created > ? and day >= ? and open = ?"
            {if let Some(price) = self.price: "and price = ?", price}
            "order by created",
            self.moment,
            self.least,
            true
        );
        Ok(Response::text(cx.db().all(titles).await?.join(", ")))
    }
}

fn client(clock: &Clock) -> Client {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, clock.clone());
    let app = App::new().serve(services![Create, Since, SetPrice]).database(MIGRATIONS);
    Client::with_setup(app, setup)
}

fn create(client: &Client, title: &str, starts: &str, price: &str) -> skep::test::TestResponse {
    let fields = [
        ("course.title", title),
        ("course.day", "2026-03-29"),
        ("course.opens", ""),
        ("course.starts", starts),
        ("course.price", price),
        ("course.open", "on"),
    ];
    client.request(skep::Method::POST, "/courses").header("accept", "application/json").form(&fields).send()
}

#[test]
fn they_come_from_a_form_into_columns_and_json_and_back() {
    let client = client(&Clock::manual());
    let created = create(&client, "Wax", "2026-03-29T18:30", "12.5");
    let json =
        r#"{"title":"Wax","day":"2026-03-29","opens":null,"starts":"2026-03-29T18:30:00","price":"12.50","open":true}"#;
    assert_eq!(created.text(), json);
    let course: CourseFields = serde_json::from_str(json).unwrap();
    assert_eq!((course.price, course.day), (Decimal::new(125, 1), civil::date(2026, 3, 29)));
    for (starts, price, field) in [
        ("2026-03-29", "12.5", "course.starts"),
        ("2026-02-29T18:30", "12.5", "course.starts"),
        ("2026-03-29T18:30", "12,5", "course.price"),
        ("2026-03-29T18:30", "1,000.5", "course.price"),
    ] {
        let refused = create(&client, "Wax", starts, price);
        assert_eq!((refused.status().as_u16(), refused.text().contains(field)), (422, true), "{}", refused.text());
    }
    for (typed, stored) in [(".5", "0.50"), ("1e3", "1000.00"), ("125e-1", "12.50"), ("-2", "-2.00")] {
        let created = create(&client, "Wax", "2026-03-29T18:30", typed);
        assert!(created.text().contains(&format!(r#""price":"{stored}""#)), "{typed}: {}", created.text());
    }
    assert_eq!(create(&client, "Wax", "2026-03-29T18:30", "0.125").status(), 400, "it is not rounded");
    assert_eq!(
        create(&client, "Wax", "2026-03-29T18:30", "1000000").status(),
        400,
        "it has seven digits before the point"
    );
}

#[test]
fn moments_are_in_order_and_equal_numbers_are_equal() {
    let clock = Clock::manual();
    let client = client(&clock);
    let start = client.with_cx(async |cx| Ok(cx.now())).unwrap();
    for (title, price) in [("first", "9.50"), ("second", "10"), ("third", "9.5")] {
        clock.advance(Duration::from_millis(250));
        create(&client, title, "2026-03-29T18:30:05.25", price);
    }
    let since = |moment: Timestamp, price: Option<Decimal>| {
        client.get(&Since { moment, price, least: civil::date(2026, 3, 29) }.url()).text().to_owned()
    };
    assert_eq!(since(start, None), "first, second, third");
    let after_first = start + jiff::SignedDuration::from_millis(250);
    assert_eq!(since(after_first, None), "second, third", "a fraction of a second counts");
    assert_eq!(since(start, Some(Decimal::new(95, 1))), "first, third");
    assert_eq!(since(start, Some(Decimal::TEN)), "second");
    let wrong = client.get("/courses/since/2026-03-29");
    assert_eq!(wrong.status(), 404);
}

/// A bool, not a number: `sql!` says what an unnamed row holds.
#[test]
fn booleans_are_booleans() {
    async fn open(db: &sql::Local) -> sql::Result<Option<bool>> {
        Ok(db.one(sql!("select open from course where title = ?", "Wax")).await?.map(|row| row.open))
    }
    let client = client(&Clock::manual());
    create(&client, "Wax", "2026-03-29T18:30", "1");
    assert_eq!(client.with_cx(async |cx| Ok(open(cx.db()).await?)).unwrap(), Some(true));
}

/// What a `Decimal` of forms refuses, it says beside the field: no column rounds it.
#[derive(Service)]
#[service(POST "/price/{id}")]
struct SetPrice {
    id: i64,
    #[form]
    price: form::Decimal<2, 0, 99_999_999>,
    #[form]
    starts: form::DateTime,
}

impl Handle for SetPrice {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let update = sql!("update course set price = ?, starts = ? where id = ?", self.price, self.starts, self.id);
        cx.db().execute(update).await?;
        let same = sql!(
            (form::Decimal<2>, form::DateTime, Decimal),
            "select price, starts, price as same from course where price = ? and starts = ?",
            self.price,
            self.starts
        );
        let (price, starts, same) = cx.db().one(same).await?.or_404()?;
        Ok(Response::text(format!("{price} {starts} {same}")))
    }
}

#[test]
fn decimals_and_times_of_forms_are_columns() {
    let client = client(&Clock::manual());
    create(&client, "Wax", "2026-03-29T18:30", "1");
    let set = |price| client.post("/price/1", &[("price", price), ("starts", "2026-03-29T18:30")]);
    assert_eq!(set("9.5").text(), "9.50 2026-03-29T18:30 9.50");
    let refused = set("0.125");
    assert_eq!(refused.status(), 422);
    assert!(refused.text().contains("digits behind the point"), "{}", refused.text());
    assert_eq!(set("1000000").status(), 422);
}

#[test]
fn a_text_that_is_no_time_is_not_stored() {
    async fn store(db: &sql::Local, starts: &str) -> sql::Result<sql::Changes> {
        db.execute(sql!("update course set starts = ?", starts)).await
    }
    let client = client(&Clock::manual());
    create(&client, "Wax", "2026-03-29T18:30", "1");
    let stored = client.with_cx(async |cx| {
        let error = store(cx.db(), "tomorrow").await.unwrap_err();
        assert!(error.to_string().contains("is not such as 2026-12-31T18:30:00"), "{error}");
        store(cx.db(), "2026-03-30 07:05").await?;
        Ok(cx.db().one(sql!(String, "select starts from course")).await?)
    });
    assert_eq!(stored.unwrap().as_deref(), Some("2026-03-30T07:05:00.000000"));
}

#[derive(Debug, Row)]
struct Meeting {
    starts: Zoned,
    takes: Span,
    zone: Option<TimeZone>,
}

#[derive(Service)]
#[service(POST "/meetings")]
struct Meet {
    #[form]
    starts: civil::DateTime,
    #[form]
    zone: TimeZone,
    #[query]
    takes: Span,
}

impl Handle for Meet {
    async fn handle(self, cx: &mut Cx<'_>) -> Result<Response> {
        let starts = Self::starts.in_zone(cx, self.starts, &self.zone, None)?;
        let meeting = Meeting { starts, takes: self.takes, zone: Some(self.zone) };
        let insert = sql!("insert into meeting ({columns of Meeting}) values ({values of Meeting})", &meeting);
        cx.db().execute(insert).await?;
        let last = sql!(Meeting, "select {columns of Meeting} from meeting where zone = ?", &meeting.zone);
        let found = cx.db().one(last).await?.or_404()?;
        assert_eq!((&found.starts, found.takes.fieldwise()), (&meeting.starts, meeting.takes.fieldwise()));
        let ends = found.starts.checked_add(found.takes).map_err(Error::internal)?;
        Ok(Response::html(html! { p { (ends) " " (found.zone.unwrap_or(TimeZone::UTC)) } }))
    }
}

#[test]
fn a_moment_keeps_its_time_zone() {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    let client = Client::with_setup(App::new().serve(services![Meet]).database(MIGRATIONS), setup);
    let meet = |takes: &str, zone| {
        client.post(&format!("/meetings?takes={takes}"), &[("starts", "2026-03-28T18:30"), ("zone", zone)])
    };
    let ends = meet("P1D", "Europe/Berlin");
    assert!(ends.text().contains("2026-03-29T18:30:00+02:00[Europe/Berlin] Europe/Berlin"), "{}", ends.text());
    let wrong = meet("P1D", "Europe/Atlantis");
    assert_eq!(
        (wrong.status().as_u16(), wrong.text().contains("a time zone such as")),
        (422, true),
        "{}",
        wrong.text()
    );
    assert_eq!(meet("long", "UTC").status(), 400);
    // A country has changed its rules since: the clock stays.
    let moved = client.with_cx(async |cx| {
        let set = "update meeting set starts = '2027-07-01T12:00:00+01:00[Europe/Berlin]'";
        cx.db().execute(skep::sql::query(set, ())).await?;
        Ok(cx.db().first(sql!(Zoned, "select starts from meeting")).await?)
    });
    assert_eq!(moved.unwrap().unwrap().to_string(), "2027-07-01T12:00:00+02:00[Europe/Berlin]");
}

const GERMAN: form::Messages = form::Messages {
    language: "de",
    time_twice: |time| format!("{time} gibt es an diesem Tag zweimal."),
    ..form::Messages::ENGLISH
};

/// A moment of Samoa, whose clocks left out a day.
#[derive(Service)]
#[service(POST "/moment/{*zone}")]
struct Moment {
    zone: String,
    #[form]
    starts: civil::DateTime,
}

impl Handle for Moment {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let zone = jiff::tz::TimeZone::get(&self.zone).map_err(Error::internal)?;
        let starts = Self::starts.in_zone(cx, self.starts, &zone, None)?;
        Ok(Response::text(starts.timestamp().to_string()))
    }
}

#[test]
fn users_read_in_their_language_what_the_clocks_do() {
    let client = Client::new(App::new().serve(services![Moment]).languages([form::Messages::ENGLISH, GERMAN]));
    let says = |zone: &str, starts: &str, language: &str| {
        let request = client.request(skep::Method::POST, &format!("/moment/{zone}"));
        let refused = request.header("accept-language", language).form(&[("starts", starts)]).send();
        assert_eq!(refused.status(), 422);
        refused.text().to_owned()
    };
    let twice = says("Europe/Berlin", "2026-10-25T02:30", "de");
    assert!(twice.contains("02:30 gibt es an diesem Tag zweimal."), "{twice}");
    let gap = says("Europe/Berlin", "2026-03-29T02:30", "en");
    assert!(gap.contains("The clocks go forward that day, and 02:30 does not come: it is 03:30 by then."), "{gap}");
    let day = says("Pacific/Apia", "2011-12-30T12:00", "en");
    assert!(day.contains("2011-12-30 12:00 does not come: it is 2011-12-31 12:00 by then."), "{day}");
}
