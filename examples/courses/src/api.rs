//! Courses for programs, and for the one-page client: `/api.json` describes it.

use jiff::Timestamp;
use jiff::civil::Date;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;
use skep::form::Offer;
use skep::guard::Scope;
use skep::prelude::*;
use skep_people::SignedOrBearer;

use crate::account::User;
use crate::booking::{self, BookingState};
use crate::course::Trainers;
use crate::week;

/// A course, and what the caller has of it.
#[derive(Serialize, JsonSchema)]
pub struct Course {
    id: i64,
    title: String,
    trainer: String,
    level: &'static str,
    starts: Timestamp,
    minutes: i64,
    price: Decimal,
    places: i64,
    free: i64,
    booking: Option<BookingState>,
}

/// The courses of a week.
#[derive(Serialize, JsonSchema)]
pub struct Page {
    /// Its Monday.
    monday: Date,
    courses: Vec<Course>,
}

/// The courses of the week in which a day is, or today, by the caller's clock.
#[derive(Service)]
#[service(GET "/api/courses", answers = Page)]
pub struct Courses {
    day: Option<Date>,
    #[guard]
    user: SignedOrBearer<User>,
}

/// Books a place, or one on the waiting list. To do it twice changes nothing.
#[derive(Service)]
#[service(PUT "/api/courses/{id}/booking", answers = BookingState)]
pub struct Book {
    id: i64,
    #[guard]
    user: SignedOrBearer<User>,
}

/// Gives it back.
#[derive(Service)]
#[service(DELETE "/api/courses/{id}/booking", answers = ())]
pub struct Cancel {
    id: i64,
    #[guard]
    user: SignedOrBearer<User>,
}

impl Answer for Courses {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Page> {
        let mine: Scope<'_, User> = Scope::of(&self.user);
        let trainers = Trainers::offered(cx).await?;
        let monday = week::monday(self.day, cx.now(), &self.user.zone);
        let found = week::courses(cx.db(), monday, &self.user.zone).await?;
        let select = sql!("select course_id, waiting from booking where account_id = ? order by id", mine);
        let bookings = cx.db().all(select).await?;
        let state = |id| bookings.iter().find(|one| one.course_id == id).map(|one| BookingState::of(one.waiting));
        let courses = found.into_iter().map(|course| Course {
            trainer: trainers.label(&course.trainer_id).unwrap_or_default().to_owned(),
            level: course.level.value(),
            free: course.free(),
            booking: state(course.id),
            id: course.id,
            title: course.title,
            starts: course.starts,
            minutes: course.minutes,
            price: course.price,
            places: course.places,
        });
        Ok(Page { monday, courses: courses.collect() })
    }
}

impl Answer for Book {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<BookingState> {
        booking::book(cx, Scope::of(&self.user), &self.user, self.id).await
    }
}

impl Answer for Cancel {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<()> {
        booking::cancel(cx, Scope::of(&self.user), self.id).await
    }
}
