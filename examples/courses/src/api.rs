//! Courses for programs, which `/api.json` describes, and the one-page client that is one of them.

use jiff::civil::Date;
use skep_people::SignedOrBearer;

use crate::booking::{self, Booking};
use crate::browse;
use crate::prelude::*;

/// A course, and what the caller has of it.
#[derive(Serialize, JsonSchema)]
pub struct Listed {
    id: i64,
    title: String,
    about: String,
    level: Level,
    starts: Timestamp,
    minutes: i64,
    places: i64,
    free: i64,
    price: Decimal,
    trainer: String,
    booking: Option<Booking>,
}

/// The courses of a week.
#[derive(Serialize, JsonSchema)]
pub struct Page {
    /// Its Monday.
    monday: Date,
    courses: Vec<Listed>,
}

/// The courses of the week in which a day is, or today, by the caller's clock.
#[handler(GET "/api/courses")]
pub async fn Courses(cx: &mut Cx<'_>, day: Option<Date>, #[guard] user: SignedOrBearer<User>) -> Result<Page> {
    let mine: Scope<'_, User> = Scope::of(&user);
    let trainers = Trainers::offered(cx).await?;
    let monday = browse::monday(day, cx.now(), &user.zone);
    let found = browse::courses(cx.db(), monday, &user.zone).await?;
    let select = sql!("select course_id, waiting from booking where account_id = ? order by id", mine);
    let bookings = cx.db().all(select).await?;
    let booking = |id| bookings.iter().find(|one| one.course_id == id).map(|one| Booking { waiting: one.waiting });
    let courses = found.into_iter().map(|course| {
        let (free, booking) = (course.free(), booking(course.id));
        let trainer = trainers.label(&course.trainer_id).unwrap_or_default().to_owned();
        let Course { id, title, about, level, starts, minutes, places, price, .. } = course;
        Listed { id, title, about, level, starts, minutes, places, free, price, trainer, booking }
    });
    Ok(Page { monday, courses: courses.collect() })
}

/// Books a place, or one on the waiting list. To do it twice changes nothing.
#[handler(PUT "/api/courses/{id}/booking")]
pub async fn Book(cx: &mut Cx<'_>, id: i64, #[guard] user: SignedOrBearer<User>) -> Result<Booking> {
    booking::book(cx, Scope::of(&user), &user, id).await
}

/// Gives it back.
#[handler(DELETE "/api/courses/{id}/booking")]
pub async fn Cancel(cx: &mut Cx<'_>, id: i64, #[guard] user: SignedOrBearer<User>) -> Result<()> {
    booking::cancel(cx, Scope::of(&user), id).await
}

/// The client, a page whose script does the rest.
#[handler(GET "/plan", guard = Signed<User>)]
pub async fn Plan(cx: &mut Cx<'_>) -> Result {
    let viewer = Viewer::of(cx).await?;
    let content = html! {
        h1 { (t!(cx, plan)) }
        p.hint { (t!(cx, plan_hint)) }
        div #plan
            data-language=(cx.language())
            data-zone=(viewer.zone.iana_name().unwrap_or_default())
            data-previous=(t!(cx, previous))
            data-next=(t!(cx, next))
            data-book=(t!(cx, book))
            data-wait=(t!(cx, join_waiting_list))
            data-cancel=(t!(cx, cancel))
            data-booked=(t!(cx, booked))
            data-waiting=(t!(cx, waiting))
            data-empty=(t!(cx, no_courses)) {}
        script src=(Static::PLAN_JS) defer {}
    };
    page(cx, t!(cx, plan), &content).await
}
