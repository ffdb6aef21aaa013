//! Courses, and the fields that new and edit share.

use jiff::civil;
use skep::form::{Fold, Form, MultilineText, Offered, Text, Whole};
use skep::html::{Controls, Flow};

use crate::prelude::*;

/// A course.
#[derive(Debug, Row)]
pub struct Course {
    /// The key of its row.
    pub id: i64,
    /// What it is called.
    pub title: String,
    pub(crate) about: String,
    pub(crate) level: Level,
    pub(crate) trainer_id: i64,
    pub(crate) starts: Timestamp,
    pub(crate) minutes: i64,
    pub(crate) places: i64,
    pub(crate) price: Decimal,
    pub(crate) picture: Option<FileRecord>,
    pub(crate) version: i64,
    /// Bookings that do not wait.
    pub taken: i64,
}

/// For whom a course is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Who has never done it.
    #[param(label = t!(level_beginner))]
    Beginner,
    /// Who knows some of it.
    #[param(label = t!(level_advanced))]
    Advanced,
    /// Everybody.
    #[param(label = t!(level_all))]
    All,
}

impl Course {
    /// The course with this number, or a 404.
    pub async fn find(db: &sql::Local, id: i64) -> Result<Self> {
        db.one(sql!(Self, "select {columns of Course} from course where id = ?", id)).await?.or_404()
    }

    pub(crate) fn free(&self) -> i64 {
        (self.places - self.taken).max(0)
    }
}

/// What is said of a course.
#[derive(Group, Row)]
pub struct CourseFields {
    /// What it is called.
    pub title: Text<1, 80>,
    pub(crate) about: MultilineText<1, 2_000>,
    pub(crate) level: Level,
    pub(crate) trainer_id: OneOf<Trainers>,
    pub(crate) minutes: Whole<15, 600>,
    /// How many may come.
    pub places: Whole<1, 100>,
    pub(crate) price: skep::form::Decimal<2, 0, 100_000>,
}

/// When a course begins, on the clock of who says so.
#[derive(Group)]
pub struct When {
    /// Day and time.
    pub starts: civil::DateTime,
    /// Which of the two, where the clocks go back.
    pub fold: Option<Fold>,
}

/// Who gives courses.
#[derive(Debug)]
pub struct Trainers;

impl Offer for Trainers {
    type Value = i64;

    async fn offered(cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        let trainers = sql!(
            (i64, String),
            "select id, name from account
             where role <> 'member' or id in (select trainer_id from course) order by name, id"
        );
        Ok(cx.db().all(trainers).await?.into_iter().collect())
    }
}

/// The controls of a course, for new and edit.
pub(crate) fn controls(
    cx: &Cx<'_>,
    form: &Form<CourseFields>,
    trainers: &Offered<Trainers>,
) -> Html<Flow, Controls<CourseFields>> {
    piece! {
        @form (form) {
            label (CourseFields::title) { (t!(cx, title)) }
            input (CourseFields::title);
            label (CourseFields::about) { (t!(cx, about)) }
            textarea (CourseFields::about) rows="6";
            div.pair {
                div {
                    label (CourseFields::trainer_id) { (t!(cx, trainer)) }
                    select (CourseFields::trainer_id.among(trainers));
                }
                div { label (CourseFields::level) { (t!(cx, level)) } select (CourseFields::level); }
                div { label (CourseFields::minutes) { (t!(cx, minutes)) } input (CourseFields::minutes) step="15"; }
                div { label (CourseFields::places) { (t!(cx, places)) } input (CourseFields::places); }
                div { label (CourseFields::price) { (t!(cx, price)) " (" (CURRENCY) ")" } input (CourseFields::price); }
            }
        }
    }
}

/// The controls of its beginning. Which of two times is meant is asked in the one hour of the year that comes twice.
pub(crate) fn when_controls(cx: &Cx<'_>, form: &Form<When>, zone: &TimeZone) -> Html<Flow, Controls<When>> {
    piece! {
        @form (form) {
            label (When::starts) { (t!(cx, starts)) }
            input (When::starts);
            @if form.comes_twice(When::starts, zone) {
                label (When::fold) { (t!(cx, which_time)) }
                select (When::fold);
            }
        }
    }
}
