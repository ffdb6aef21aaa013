//! Mails about bookings, each with a calendar file, and the reminder of the day before.

use icalendar::{Calendar, Component, Event};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use skep::mail::{Attachment, Mail};
use skep::prelude::*;
use skep_jobs::prelude::*;
use skep_language::DateLength;
use skep_language::prelude::*;

use crate::account::User;
use crate::booking::BookingState;
use crate::course::Course;
use crate::show::Show;

/// How long before its beginning a course is recalled.
const BEFORE: SignedDuration = SignedDuration::from_hours(24);

/// Says what became of a booking.
pub(crate) fn booked(to: &User, course: &Course, state: BookingState, origin: &str) -> Mail {
    let (language, title) = (to.language, &course.title);
    match state {
        BookingState::Booked => mail(to, course, &t!(language, mail_booked, title), t!(language, you_are_in), origin)
            .attach(Attachment::new("course.ics", "text/calendar; charset=utf-8", calendar(to, course))),
        BookingState::Waiting => mail(to, course, &t!(language, mail_waiting, title), t!(language, you_wait), origin),
    }
}

fn mail(to: &User, course: &Course, subject: &str, text: &str, origin: &str) -> Mail {
    let when = to.language.date(course.starts.to_zoned(to.zone.clone()), DateLength::Full);
    let page = html! {
        h1 { (course.title) }
        p { (text) }
        p { (when) " (" (to.zone.iana_name().unwrap_or_default()) ")" }
        p { a href=(Show::link(course.id)) { (t!(to.language, to_the_course)) } }
    };
    Mail::from_html(&to.email, subject, origin, page)
}

/// The course for the calendar of one who booked it.
fn calendar(to: &User, course: &Course) -> String {
    let utc = |at: Timestamp| at.strftime("%Y%m%dT%H%M%SZ").to_string();
    let event = Event::new()
        .uid(&format!("course-{}-{}@courses", course.id, to.id))
        .summary(&course.title)
        .description(&course.about)
        .add_property("DTSTART", utc(course.starts))
        .add_property("DTEND", utc(course.ends()))
        .done();
    Calendar::new().push(event).done().to_string()
}

/// Recalls the courses of the next day, each booking once.
#[derive(Serialize, Deserialize)]
pub struct Remind;

impl Job for Remind {
    const KIND: &'static str = "remind";

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        let now = Timestamp::try_from(cx.due()).map_err(Error::internal)?;
        let origin = cx.site().base_url().map(ToString::to_string).unwrap_or_default();
        let db = cx.transaction().await?;
        let courses = sql!(
            Course,
            "select {columns of Course} from course where starts > ? and starts <= ? order by id limit 1000",
            now,
            now + BEFORE
        );
        for course in db.all(courses).await? {
            let readers = sql!(
                unscoped "everybody is reminded";
                User,
                "select {columns of User as a} from account a where id in
                    (select account_id from booking where course_id = ? and not waiting and not reminded) order by id",
                course.id
            );
            for reader in db.all(readers).await? {
                let (language, title) = (reader.language, &course.title);
                let subject = t!(language, mail_reminder, title);
                let mail = mail(&reader, &course, &subject, t!(language, see_you), &origin);
                cx.deliver_later(mail).await?;
            }
            let update = sql!(
                unscoped "everybody was reminded";
                "update booking set reminded = true where course_id = ? and not waiting",
                course.id
            );
            db.execute(update).await?;
        }
        Ok(Outcome::Done)
    }
}
