//! Courses, for everybody: those of a week, all to come, and each one.

use jiff::civil::{Date, Weekday};
use skep::html::Phrasing;
use skep_people::pages::SignInPage;

use crate::booking::{Book, Cancel, Participants};
use crate::edit::{Edit, New, Picture};
use crate::layout::{pager, price};
use crate::prelude::*;

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

/// The week in which this day is, or today.
#[handler(GET "/", open = "courses are for everybody")]
pub async fn Week(cx: &mut Cx<'_>, day: Option<Date>) -> Result {
    let viewer = Viewer::of(cx).await?;
    let (this, monday) = (monday(None, cx.now(), &viewer.zone), monday(day, cx.now(), &viewer.zone));
    let courses = courses(cx.db(), monday, &viewer.zone).await?;
    // Some weeks around this one: a crawler would follow links to others for ever.
    let to = |days: i64| {
        let day = monday.checked_add(days.days()).ok()?;
        (-28..=84).contains(&(day - this).get_days()).then(|| Week::link().day(Some(day)))
    };
    let local = |course: &Course| course.starts.to_zoned(viewer.zone.clone()).datetime();
    let content = html! {
        div.heading {
            h1 { (t!(cx, week_of, day = viewer.language.date(monday, DateLength::Long))) }
            nav.pager aria-label=(t!(cx, weeks)) {
                @if let Some(to) = to(-7) { a rel="prev" href=(to) { "← " (t!(cx, previous)) } }
                a href=(Week::link()) { (t!(cx, today)) }
                @if let Some(to) = to(7) { a rel="next" href=(to) { (t!(cx, next)) " →" } }
            }
        }
        ol.week {
            @for day in monday.series(1.day()).take(7) {
                li {
                    h2 { (viewer.language.date(day, DateLength::Full)) }
                    ul {
                        @for course in courses.iter().filter(|course| local(course).date() == day) {
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
    };
    page(cx, t!(cx, week), &content).await
}

/// The list, the next course first. It may be that of one level or trainer only.
#[handler(GET "/courses", open = "courses are for everybody")]
pub async fn List(
    cx: &mut Cx<'_>,
    level: Option<Level>,
    trainer: Option<OneOf<Trainers>>,
    at: Option<sql::Cursor<(Timestamp, i64)>>,
) -> Result {
    let (viewer, trainers) = (Viewer::of(cx).await?, Trainers::offered(cx).await?);
    let language = viewer.language;
    let trainer = trainer.map(|trainer| trainer.0);
    let select = sql!(
        Course,
        "select {columns of Course} from course where starts > ?"
        {if let Some(level) = &level: "and level = ?", level}
        {if let Some(trainer) = trainer: "and trainer_id = ?", trainer}
        "order by starts, id"
        {keyset 12: at},
        cx.now()
    );
    let courses = cx.db().page(select).await?;
    let filter = List::form().language(cx.language()).value(List::level, &level);
    let filter = filter.value(List::trainer, &trainer.map(OneOf));
    let content = html! {
        div.heading {
            h1 { (t!(cx, courses)) }
            @if viewer.is_staff() { a.button href=(New::link()) { (t!(cx, new_course)) } }
        }
        form.filters (filter) {
            div { label (List::level) { (t!(cx, level)) } select (List::level); }
            div { label (List::trainer) { (t!(cx, trainer)) } select (List::trainer.among(&trainers)); }
            button { (t!(cx, filter)) }
        }
        @if courses.is_empty() { p.empty { (t!(cx, no_courses)) } }
        ul.cards {
            @for course in &courses {
                li.card {
                    @if course.picture.is_some() { img.picture src=(Picture { id: course.id }) alt=""; }
                    h2 { a href=(Show::link(course.id)) { (course.title) } }
                    p.meta { (viewer.time(course.starts)) " · " (course.level.label_in(language.tag())) }
                    p.line { strong { (price(language, &course.price)) } (places(language, course)) }
                }
            }
        }
        (pager(cx, &courses, |at| List::link().level(level).trainer(trainer.map(OneOf)).at(Some(at))))
    };
    page(cx, t!(cx, courses), &content).await
}

/// The page of a course.
#[handler(GET "/courses/{id}", open = "courses are for everybody")]
pub async fn Show(cx: &mut Cx<'_>, id: i64) -> Result {
    let (viewer, course) = (Viewer::of(cx).await?, Course::find(cx.db(), id).await?);
    let (trainers, language) = (Trainers::offered(cx).await?, viewer.language);
    let booking = booking(cx, &viewer, &course).await?;
    let content = html! {
        article.course {
            @if course.picture.is_some() { img.picture src=(Picture { id: course.id }) alt=""; }
            div {
                h1 { (course.title) }
                p.lead { (viewer.time(course.starts)) " · " (t!(cx, lasts, minutes = course.minutes)) }
                p.text { (course.about) }
            }
            aside.card {
                dl.facts {
                    div { dt { (t!(cx, trainer)) } dd { (trainers.label(&course.trainer_id).unwrap_or_default()) } }
                    div { dt { (t!(cx, level)) } dd { (course.level.label_in(language.tag())) } }
                    div { dt { (t!(cx, price)) } dd { (price(language, &course.price)) } }
                    div { dt { (t!(cx, places)) } dd { (places(language, &course)) } }
                }
                (booking)
                @if viewer.is_staff() {
                    p.tools {
                        a href=(Edit::link(course.id)) { (t!(cx, edit)) }
                        a href=(Participants::link(course.id)) { (t!(cx, participants)) }
                    }
                }
            }
        }
    };
    page(cx, &course.title, &content).await
}

/// How many places are free: it follows the database while the page is open.
pub(crate) fn places(language: Language, course: &Course) -> Html<Phrasing> {
    let text = t!(language, places_free, count = course.free());
    live(&format!("places-{}", course.id), piece! { span.places.none[course.free() == 0] { (text) } })
}

/// What the viewer has of this course, and what they can do about it.
async fn booking(cx: &mut Cx<'_>, viewer: &Viewer, course: &Course) -> Result<Html> {
    if course.starts <= cx.now() {
        return Ok(html! { p.hint { (t!(cx, too_late)) } });
    }
    let Some(user) = &viewer.user else {
        let back = cx.uri().path_and_query().map(ToString::to_string);
        return Ok(html! { p { a.button href=(SignInPage::link().back(back)) { (t!(cx, sign_in_to_book)) } } });
    };
    let mine: Scope<'_, User> = Scope::of(user);
    let select = sql!("select id, waiting from booking where course_id = ? and account_id = ?", course.id, mine);
    let Some(booking) = cx.db().one(select).await? else {
        let book = if course.free() > 0 { t!(cx, book) } else { t!(cx, join_waiting_list) };
        return Ok(html! { form (Book::form(cx, course.id)) { button { (book) } } });
    };
    let before = sql!(
        unscoped "it is their number only";
        i64,
        "select count(*) from booking where course_id = ? and waiting and id <= ?",
        course.id,
        booking.id
    );
    let place = cx.db().one(before).await?.unwrap_or_default();
    Ok(html! {
        p.notice { @if booking.waiting { (t!(cx, waiting_place, place)) } @else { (t!(cx, you_are_in)) } }
        form (Cancel::form(cx, course.id)) { button.quiet { (t!(cx, cancel)) } }
    })
}
