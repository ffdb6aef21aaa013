//! All courses to come, with filters.

use jiff::Timestamp;
use rust_decimal::Decimal;
use skep::form::{Offer, Offered, OneOf};
use skep::html::DOCTYPE;
use skep::prelude::*;
use skep::sql::{Cursor, Row};

use crate::booking::Show;

#[derive(Row)]
pub(crate) struct Course {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) level: Level,
    pub(crate) starts: Timestamp,
    pub(crate) places: i64,
    pub(crate) price: Decimal,
    pub(crate) taken: i64,
}

#[derive(Clone, Copy, Param)]
pub(crate) enum Level {
    #[param(label = "For beginners")]
    Beginner,
    Advanced,
    #[param(label = "For everybody")]
    All,
}

impl Course {
    pub(crate) fn free(&self) -> i64 {
        self.places - self.taken
    }

    pub(crate) fn places_left(&self) -> String {
        match self.free() {
            0 => "Waiting list".to_owned(),
            1 => "One place is left".to_owned(),
            free => format!("{free} places are left"),
        }
    }
}

pub(crate) struct Trainers;

impl Offer for Trainers {
    type Value = i64;

    async fn offered(cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        let trainers = sql!((i64, String), "select id, name from account where role = 'trainer' order by name");
        Ok(cx.db().all(trainers).await?.into_iter().collect())
    }
}

#[derive(Service)]
#[service(GET "/courses")]
pub(crate) struct List {
    level: Option<Level>,
    trainer: Option<OneOf<Trainers>>,
    after: Option<Cursor<(Timestamp, i64)>>,
}

impl Handle for List {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let trainers = Trainers::offered(cx).await?;
        let (level, trainer) = (self.level, self.trainer.as_ref().map(|trainer| trainer.0));
        let select = sql!(
            Course,
            "select {columns of Course} from course where starts > ?"
            {if let Some(level) = level: "and level = ?", level}
            {if let Some(trainer) = trainer: "and trainer_id = ?", trainer}
            "order by starts, id"
            {keyset 12: self.after},
            cx.now()
        );
        let courses = cx.db().page(select).await?;
        let filter = List::form().value(List::level, &self.level).value(List::trainer, &trainer.map(OneOf));
        let next = courses.next;
        let next = next.map(|after| List::link().level(level).trainer(trainer.map(OneOf)).after(Some(after)));
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" {
                head { title { "Courses" } }
                body {
                    h1 { "Courses" }
                    form.filters (filter) {
                        label (List::level) { "Level" }
                        select (List::level);
                        label (List::trainer) { "Trainer" }
                        select (List::trainer.among(&trainers));
                        button { "Filter" }
                    }
                    @if courses.is_empty() { p.empty { "No courses." } }
                    ul.cards {
                        @for course in &courses {
                            li.card {
                                h2 { a href=(Show { id: course.id }) { (course.title) } }
                                p.meta { (course.starts) " · " (course.level.label()) }
                                p.line { strong { (course.price) " €" } " " (course.places_left()) }
                            }
                        }
                    }
                    @if let Some(next) = next { a rel="next" href=(next) { "Later courses" } }
                }
            }
        }))
    }
}
