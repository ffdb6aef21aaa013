//! All courses to come, with filters.

use jiff::Timestamp;
use skep::form::{Offer, OneOf};
use skep::prelude::*;
use skep::sql::Cursor;
use skep_language::prelude::*;

use crate::course::{Course, Level, Trainers};
use crate::edit::New;
use crate::layout::{Viewer, page, pager, price};
use crate::picture::Picture;
use crate::show::{Show, places};

/// The list, the next course first.
#[derive(Service)]
#[service(GET "/courses", open = "courses are for everybody")]
pub struct List {
    /// Only these.
    pub level: Option<Level>,
    /// Only of this trainer.
    pub trainer: Option<OneOf<Trainers>>,
    /// Behind which course the page begins.
    pub at: Option<Cursor<(Timestamp, i64)>>,
}

impl Handle for List {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (viewer, trainers) = (Viewer::of(cx).await?, Trainers::offered(cx).await?);
        let language = viewer.language;
        let (level, trainer) = (self.level.as_ref(), self.trainer.as_ref().map(|trainer| trainer.0));
        let select = sql!(
            Course,
            "select {columns of Course} from course where starts > ?"
            {if let Some(level) = level: "and level = ?", level}
            {if let Some(trainer) = trainer: "and trainer_id = ?", trainer}
            "order by starts, id"
            {keyset 12: self.at},
            cx.now()
        );
        let courses = cx.db().page(select).await?;
        let filter = List::form().language(cx.language()).value(List::level, &self.level);
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
            (pager(cx, &courses, |at| List::link().level(self.level).trainer(trainer.map(OneOf)).at(Some(at))))
        };
        page(cx, t!(cx, courses), &content).await
    }
}
