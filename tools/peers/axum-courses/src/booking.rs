//! Places: who has one, who waits for one, and who moves up.
//!
//! Who changes the bookings of a course writes its row first, so that all of them happen one after the other.

use askama::Template;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{Html, Redirect};
use serde::Deserialize;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqlitePool;

use super::list::Course;
use super::{Answer, Failure};

/// The user who is signed in.
pub(crate) struct User(i64);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        let account = parts.headers.get("x-account").and_then(|account| account.to_str().ok()?.parse().ok());
        account.map(Self).ok_or(Failure(StatusCode::UNAUTHORIZED, "sign in first"))
    }
}

/// A message in the address stands in for a flash message.
#[derive(Deserialize)]
pub(crate) struct Told {
    told: Option<String>,
}

#[derive(Template)]
#[template(path = "show.html")]
struct Page {
    course: Course,
    waiting: Option<bool>,
    message: Option<&'static str>,
}

const COURSE: &str = "select id, title, level, starts, places, price, taken from course where id = ?";
const NOT_FOUND: Failure = Failure(StatusCode::NOT_FOUND, "there is no such course");

pub(crate) async fn show(
    State(db): State<SqlitePool>,
    Path(id): Path<i64>,
    Query(told): Query<Told>,
    User(user): User,
) -> Answer<Html<String>> {
    let course: Option<Course> = sqlx::query_as(COURSE).bind(id).fetch_optional(&db).await?;
    let waiting = sqlx::query_scalar("select waiting from booking where course_id = ? and account_id = ?");
    let waiting: Option<bool> = waiting.bind(id).bind(user).fetch_optional(&db).await?;
    let message = match told.told.as_deref() {
        Some("booked") => Some("You are in."),
        Some("waiting") => Some("You are on the waiting list."),
        Some("cancelled") => Some("Your booking is cancelled."),
        _ => None,
    };
    Ok(Html(Page { course: course.ok_or(NOT_FOUND)?, waiting, message }.render()?))
}

/// Locks a course until the transaction ends.
async fn lock(db: &mut SqliteConnection, id: i64) -> Answer<Course> {
    sqlx::query("update course set taken = taken where id = ?").bind(id).execute(&mut *db).await?;
    let course: Option<Course> = sqlx::query_as(COURSE).bind(id).fetch_optional(db).await?;
    course.ok_or(NOT_FOUND)
}

pub(crate) async fn book(State(db): State<SqlitePool>, Path(id): Path<i64>, User(user): User) -> Answer<Redirect> {
    let mut db = db.begin_with("begin immediate").await?;
    let course = lock(&mut db, id).await?;
    let is_late = sqlx::query_scalar("select ? <= strftime('%Y-%m-%dT%H:%M:%SZ', 'now')").bind(&course.starts);
    if is_late.fetch_one(&mut *db).await? {
        return Err(Failure(StatusCode::CONFLICT, "this course has begun"));
    }
    let waiting = sqlx::query_scalar("select waiting from booking where course_id = ? and account_id = ?");
    let waiting: Option<bool> = waiting.bind(id).bind(user).fetch_optional(&mut *db).await?;
    let waiting = if let Some(waiting) = waiting {
        waiting
    } else {
        let waiting = course.free() == 0;
        let insert = sqlx::query("insert into booking (course_id, account_id, waiting) values (?, ?, ?)");
        insert.bind(id).bind(user).bind(waiting).execute(&mut *db).await?;
        if !waiting {
            sqlx::query("update course set taken = taken + 1 where id = ?").bind(id).execute(&mut *db).await?;
        }
        waiting
    };
    db.commit().await?;
    let told = if waiting { "waiting" } else { "booked" };
    Ok(Redirect::to(&format!("/courses/{id}?told={told}")))
}

pub(crate) async fn cancel(State(db): State<SqlitePool>, Path(id): Path<i64>, User(user): User) -> Answer<Redirect> {
    let mut db = db.begin_with("begin immediate").await?;
    lock(&mut db, id).await?;
    let delete = sqlx::query_scalar("delete from booking where course_id = ? and account_id = ? returning waiting");
    let was_waiting: Option<bool> = delete.bind(id).bind(user).fetch_optional(&mut *db).await?;
    if was_waiting == Some(false) {
        sqlx::query("update course set taken = taken - 1 where id = ?").bind(id).execute(&mut *db).await?;
    }
    fill(&mut db, id).await?;
    db.commit().await?;
    Ok(Redirect::to(&format!("/courses/{id}?told=cancelled")))
}

/// Gives the free places of a course to those who wait.
async fn fill(db: &mut SqliteConnection, id: i64) -> Answer<()> {
    let course = lock(db, id).await?;
    let first = sqlx::query_scalar("select id from booking where course_id = ? and waiting order by id limit ?");
    let first: Vec<i64> = first.bind(id).bind(course.free()).fetch_all(&mut *db).await?;
    for booking in first {
        sqlx::query("update booking set waiting = false where id = ?").bind(booking).execute(&mut *db).await?;
        sqlx::query("update course set taken = taken + 1 where id = ?").bind(id).execute(&mut *db).await?;
    }
    Ok(())
}
