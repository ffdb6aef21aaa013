//! The courses of a week, and the one-page client over the JSON API.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use skep::prelude::*;
use skep::sql;
use skep_language::DateLength;
use skep_language::prelude::*;
use skep_people::Signed;

use crate::Static;
use crate::account::User;
use crate::course::Course;
use crate::layout::{Viewer, page};
use crate::show::{Show, places};

/// The week in which this day is, or today.
#[derive(Service)]
#[service(GET "/", open = "courses are for everybody")]
pub struct Week {
    /// A day.
    pub day: Option<Date>,
}

/// The client, a page whose script does the rest.
#[derive(Service)]
#[service(GET "/plan", guard = Signed<User>)]
pub struct Plan;

/// Monday of the week of a day, or of this week.
pub(crate) fn monday(day: Option<Date>, now: Timestamp, zone: &TimeZone) -> Date {
    let day = day.unwrap_or_else(|| now.to_zoned(zone.clone()).date());
    // The only day without one is at the beginning of the calendar, 12,000 years ago.
    day.tomorrow().and_then(|next| next.nth_weekday(-1, Weekday::Monday)).unwrap_or(day)
}

/// The courses of the seven days from this one on, on the clock of this zone.
pub(crate) async fn courses(db: &sql::Local, first: Date, zone: &TimeZone) -> Result<Vec<Course>> {
    let at = |day: Date| day.to_zoned(zone.clone()).map(|midnight| midnight.timestamp()).map_err(Error::internal);
    let end = first.checked_add(1.week()).map_err(|_| Error::not_found())?;
    let select = sql!(
        Course,
        "select {columns of Course} from course where starts >= ? and starts < ? order by starts, id limit 500",
        at(first)?,
        at(end)?
    );
    Ok(db.all(select).await?)
}

impl Handle for Week {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let viewer = Viewer::of(cx).await?;
        let (this, monday) = (monday(None, cx.now(), &viewer.zone), monday(self.day, cx.now(), &viewer.zone));
        let courses = courses(cx.db(), monday, &viewer.zone).await?;
        // Some weeks around this one: a crawler would follow links to others for ever.
        let to = |days: i64| {
            let day = monday.checked_add(days.days()).ok()?;
            (-28..=84).contains(&(day - this).get_days()).then(|| Week::link().day(Some(day)))
        };
        let days = (0..7).filter_map(|day: i64| monday.checked_add(day.days()).ok());
        let content = html! {
            div.heading {
                h1 { (t!(cx, week_of, day = viewer.language.date(monday, DateLength::Long))) }
                nav.pager aria-label=(t!(cx, weeks)) {
                    @if let Some(to) = to(-7) { a rel="prev" href=(to) { "← " (t!(cx, previous)) } }
                    a href=(Week::link()) { (t!(cx, today)) }
                    @if let Some(to) = to(7) { a rel="next" href=(to) { (t!(cx, next)) " →" } }
                }
            }
            ol.week { @for day in days { (of_day(&viewer, day, &courses)) } }
        };
        page(cx, t!(cx, week), &content).await
    }
}

fn of_day(viewer: &Viewer, day: Date, courses: &[Course]) -> Html<skep::html::Items> {
    let local = |course: &Course| course.starts.to_zoned(viewer.zone.clone()).datetime();
    let courses = courses.iter().filter(|course| local(course).date() == day);
    piece! {
        li {
            h2 { (viewer.language.date(day, DateLength::Full)) }
            ul {
                @for course in courses {
                    li {
                        span.hour { (viewer.language.date(local(course).time(), DateLength::Short)) }
                        a href=(Show::link(course.id)) { (course.title) }
                        (places(viewer.language, course))
                    }
                }
            }
        }
    }
}

impl Handle for Plan {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
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
}
