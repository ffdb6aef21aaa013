//! One course.

use skep::form::Offer;
use skep::guard::Scope;
use skep::prelude::*;
use skep_language::prelude::*;
use skep_live::prelude::*;
use skep_people::pages::SignInPage;

use crate::Language;
use crate::account::User;
use crate::booking::{Book, Cancel};
use crate::course::{Course, Trainers};
use crate::edit::Edit;
use crate::layout::{Viewer, page, price};
use crate::participants::Participants;
use crate::picture::Picture;

/// The page of a course.
#[derive(Service)]
#[service(GET "/courses/{id}", open = "courses are for everybody")]
pub struct Show {
    id: i64,
}

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (viewer, course) = (Viewer::of(cx).await?, Course::find(cx.db(), self.id).await?);
        let trainers = Trainers::offered(cx).await?;
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
                    (facts(viewer.language, &course, trainers.label(&course.trainer_id).unwrap_or_default()))
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
}

fn facts(language: Language, course: &Course, trainer: &str) -> Html {
    html! {
        dl.facts {
            div { dt { (t!(language, trainer)) } dd { (trainer) } }
            div { dt { (t!(language, level)) } dd { (course.level.label_in(language.tag())) } }
            div { dt { (t!(language, price)) } dd { (price(language, &course.price)) } }
            div { dt { (t!(language, places)) } dd { (places(language, course)) } }
        }
    }
}

/// How many places are free: it follows the database while the page is open.
pub(crate) fn places(language: Language, course: &Course) -> Html<skep::html::Phrasing> {
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
