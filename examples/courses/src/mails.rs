//! Mails about bookings, each with a calendar file, and the reminder of the day before.

use icalendar::{Calendar, Component, Event};
use jiff::SignedDuration;
use serde::Deserialize;
use skep::mail::{Attachment, Mail};

use crate::prelude::*;

/// How long before its beginning a course is recalled.
const BEFORE: SignedDuration = SignedDuration::from_hours(24);

/// Why somebody gets a mail about a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    Booked,
    Waiting,
    Tomorrow,
}

/// The mail, with a calendar file for who has a place.
pub(crate) fn mail(to: &User, course: &Course, occasion: Occasion, origin: &str) -> Mail {
    let (language, title) = (to.language, &course.title);
    let (subject, text) = match occasion {
        Occasion::Booked => (t!(language, mail_booked, title), t!(language, you_are_in)),
        Occasion::Waiting => (t!(language, mail_waiting, title), t!(language, you_wait)),
        Occasion::Tomorrow => (t!(language, mail_reminder, title), t!(language, see_you)),
    };
    let when = language.date(course.starts.to_zoned(to.zone.clone()), DateLength::Full);
    let page = html! {
        h1 { (title) }
        p { (text) }
        p { (when) " (" (to.zone.iana_name().unwrap_or_default()) ")" }
        p { a href=(Show::link(course.id)) { (t!(language, to_the_course)) } }
    };
    let mail = Mail::from_html(&to.email, &subject, origin, page);
    if occasion != Occasion::Booked {
        return mail;
    }
    mail.attach(Attachment::new("course.ics", "text/calendar; charset=utf-8", calendar(to, course)))
}

/// The course for the calendar of one who booked it.
fn calendar(to: &User, course: &Course) -> String {
    let utc = |at: Timestamp| at.strftime("%Y%m%dT%H%M%SZ").to_string();
    let event = Event::new()
        .uid(&format!("course-{}-{}@courses", course.id, to.id))
        .summary(&course.title)
        .description(&course.about)
        .add_property("DTSTART", utc(course.starts))
        .add_property("DTEND", utc(course.starts + SignedDuration::from_mins(course.minutes)))
        .done();
    Calendar::new().push(event).done().to_string()
}

/// Recalls the courses of the next day, each booking once; what is beyond the limit, an hour later.
#[derive(Serialize, Deserialize)]
pub struct Remind;

impl Job for Remind {
    const KIND: &'static str = "remind";

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        let now = Timestamp::try_from(cx.due()).map_err(Error::internal)?;
        let origin = cx.site().base_url().map(ToString::to_string).unwrap_or_default();
        let reminded = sql!(
            unscoped "everybody is reminded";
            "update booking set reminded = true where id in
                (select b.id from booking b join course c on c.id = b.course_id where not b.waiting and not b.reminded
                 and c.starts > ? and c.starts <= ? order by b.id limit 500) returning course_id, account_id",
            now,
            now + BEFORE
        );
        for booking in cx.transaction().await?.all(reminded).await? {
            let course = Course::find(cx.db(), booking.course_id).await?;
            let Some(reader) = User::with_id(cx.db(), booking.account_id).await? else { continue };
            cx.deliver_later(mail(&reader, &course, Occasion::Tomorrow, &origin)).await?;
        }
        Ok(Outcome::Done)
    }
}
