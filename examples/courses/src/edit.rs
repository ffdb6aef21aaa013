//! New courses, and changes of old ones: with the same fields.

use jiff::ToSpan;
use jiff::tz::TimeZone;
use skep::form::{Conflict, Hidden, Offer, Whole};
use skep::prelude::*;
use skep_language::prelude::*;
use skep_people::Allowed;

use crate::account::Staff;
use crate::booking::fill;
use crate::course::{Course, CourseFields, Trainers, When, controls, when_controls};
use crate::layout::page;
use crate::picture;
use crate::show::Show;

/// The form for new courses.
#[derive(Service)]
#[service(GET "/courses/new")]
pub struct New {
    #[guard]
    staff: Allowed<Staff>,
}

/// Adds a course, once or for several weeks.
#[derive(Service)]
#[service(POST "/courses", page = New::link())]
pub struct Create {
    #[guard]
    staff: Allowed<Staff>,
    /// What is said of it.
    #[form]
    pub course: CourseFields,
    /// When the first one begins.
    #[form]
    pub when: When,
    #[form]
    weeks: Whole<1, 12>,
}

/// The form for a course that is there.
#[derive(Service)]
#[service(GET "/courses/{id}/edit")]
pub struct Edit {
    id: i64,
    #[guard]
    staff: Allowed<Staff>,
}

/// Changes a course.
#[derive(Service)]
#[service(POST "/courses/{id}/edit", page = Edit::link(id))]
pub struct Save {
    id: i64,
    #[guard]
    staff: Allowed<Staff>,
    #[form]
    version: Hidden<i64>,
    /// What is said of it.
    #[form]
    pub course: CourseFields,
    /// When it begins.
    #[form]
    pub when: When,
}

impl Handle for New {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let trainers = Trainers::offered(cx).await?;
        let form = Create::form(cx).text(Create::weeks, "1");
        let content = html! {
            div.reading {
                h1 { (t!(cx, new_course)) }
                form (form) {
                    @fields(Create::course) { (controls(cx, &form.fields(Create::course), &trainers)) }
                    @fields(Create::when) { (when_controls(cx, &form.fields(Create::when), &self.staff.zone)) }
                    label (Create::weeks) { (t!(cx, weeks)) }
                    input (Create::weeks);
                    div.buttons { button { (t!(cx, save)) } }
                }
            }
        };
        page(cx, t!(cx, new_course), &content).await
    }
}

impl Handle for Create {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let field = Self::when.field(When::starts);
        let first = field.in_zone(cx, self.when.starts, &self.staff.zone, self.when.fold)?;
        let (db, mut ids) = (cx.transaction().await?, Vec::new());
        for week in 0..self.weeks.get() {
            // The same time on the clock, also when the clocks change in between.
            let starts = first.checked_add(week.weeks()).map_err(Error::internal)?.timestamp();
            let insert = sql!(
                i64,
                "insert into course ({columns of CourseFields}, starts) values ({values of CourseFields}, ?) returning id",
                &self.course,
                starts
            );
            ids.extend(db.one(insert).await?);
        }
        cx.flash(t!(cx, saved));
        Ok(Response::see_other(Show::link(*ids.first().or_404()?)))
    }
}

impl Handle for Edit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let trainers = Trainers::offered(cx).await?;
        let course = Course::find(cx.db(), self.id).await?;
        let (fields, when) = stored(cx, &course, &self.staff.zone).await?;
        let form = Save::form(cx, self.id)
            .value(Save::version, &Hidden(course.version))
            .value(Save::course, &fields)
            .value(Save::when, &when);
        let content = html! {
            div.reading {
                h1 { (course.title) }
                form (form) {
                    input (Save::version);
                    @fields(Save::course) { (controls(cx, &form.fields(Save::course), &trainers)) }
                    @fields(Save::when) { (when_controls(cx, &form.fields(Save::when), &self.staff.zone)) }
                    div.buttons { button { (t!(cx, save)) } a href=(Show::link(self.id)) { (t!(cx, back)) } }
                }
                (picture::form(cx, &course))
            }
        };
        page(cx, &course.title, &content).await
    }
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let field = Self::when.field(When::starts);
        let starts = field.in_zone(cx, self.when.starts, &self.staff.zone, self.when.fold)?.timestamp();
        let update = sql!(
            "update course set {values of CourseFields}, starts = ?, version = version + 1
             where id = ? and version = ? and taken <= ?",
            &self.course,
            starts,
            self.id,
            self.version.0,
            self.course.places
        );
        if cx.transaction().await?.execute(update).await?.rows == 0 {
            let now = Course::find(cx.db(), self.id).await?;
            if now.version == self.version.0 {
                let places = Self::course.field(CourseFields::places);
                return Err(places.refuse(t!(cx, places_are_taken, count = now.taken)));
            }
            let (fields, when) = stored(cx, &now, &self.staff.zone).await?;
            let conflict = Conflict::new(cx, Self::version, &now.version);
            return Err(conflict
                .field(Self::course, &self.course, &fields)
                .field(Self::when, &self.when, &when)
                .into());
        }
        fill(cx, self.id).await?;
        cx.flash(t!(cx, saved));
        Ok(Response::see_other(Show::link(self.id)))
    }
}

/// The fields as they are in the database, the time on the clock of this zone.
async fn stored(cx: &Cx<'_>, course: &Course, zone: &TimeZone) -> Result<(CourseFields, When)> {
    let select = sql!(CourseFields, "select {columns of CourseFields} from course where id = ?", course.id);
    let starts = course.starts.to_zoned(zone.clone()).datetime();
    Ok((cx.db().one(select).await?.or_404()?, When { starts, fold: None }))
}
