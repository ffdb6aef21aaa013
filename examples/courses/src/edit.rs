//! New courses, and changes of old ones: with the same fields.

use skep::form::{Conflict, Upload, Whole};

use crate::booking::{fill, lock};
use crate::course::{CourseFields, When, controls, when_controls};
use crate::prelude::*;

/// The form for new courses.
#[handler(GET "/courses/new")]
pub async fn New(cx: &mut Cx<'_>, #[guard] staff: Allowed<Staff>) -> Result {
    let trainers = Trainers::offered(cx).await?;
    let form = Create::form(cx).text(Create::weeks, "1");
    let content = html! {
        div.reading {
            h1 { (t!(cx, new_course)) }
            form (form) {
                @fields(Create::course) { (controls(cx, &form.fields(Create::course), &trainers)) }
                @fields(Create::when) { (when_controls(cx, &form.fields(Create::when), &staff.zone)) }
                label (Create::weeks) { (t!(cx, weeks)) }
                input (Create::weeks);
                div.buttons { button { (t!(cx, save)) } }
            }
        }
    };
    page(cx, t!(cx, new_course), &content).await
}

/// Adds a course, once or for several weeks.
#[handler(POST "/courses", page = New::link())]
pub async fn Create(
    cx: &mut Cx<'_>,
    #[guard] staff: Allowed<Staff>,
    #[form] course: CourseFields,
    #[form] when: When,
    #[form] weeks: Whole<1, 12>,
) -> Result {
    let first = Create::when.field(When::starts).in_zone(cx, when.starts, &staff.zone, when.fold)?;
    let (db, mut ids) = (cx.transaction().await?, Vec::new());
    for week in 0..weeks.get() {
        // The same time on the clock, also when the clocks change in between.
        let starts = first.checked_add(week.weeks()).map_err(Error::internal)?.timestamp();
        let insert = sql!(
            i64,
            "insert into course ({columns of CourseFields}, starts) values ({values of CourseFields}, ?) returning id",
            &course,
            starts
        );
        ids.extend(db.one(insert).await?);
    }
    cx.flash(t!(cx, saved));
    Ok(Response::see_other(Show::link(*ids.first().or_404()?)))
}

/// The form for a course that is there.
#[handler(GET "/courses/{id}/edit")]
pub async fn Edit(cx: &mut Cx<'_>, id: i64, #[guard] staff: Allowed<Staff>) -> Result {
    let (trainers, course) = (Trainers::offered(cx).await?, Course::find(cx.db(), id).await?);
    let (fields, when) = stored(cx, &course, &staff.zone).await?;
    let form = Save::form(cx, id).value(Save::version, &Hidden(course.version));
    let form = form.value(Save::course, &fields).value(Save::when, &when);
    let content = html! {
        div.reading {
            h1 { (course.title) }
            form (form) {
                input (Save::version);
                @fields(Save::course) { (controls(cx, &form.fields(Save::course), &trainers)) }
                @fields(Save::when) { (when_controls(cx, &form.fields(Save::when), &staff.zone)) }
                label (Save::picture) { (t!(cx, picture)) }
                input (Save::picture);
                div.buttons { button { (t!(cx, save)) } a href=(Show::link(id)) { (t!(cx, back)) } }
            }
        }
    };
    page(cx, &course.title, &content).await
}

/// Changes a course. A picture that is left out stays.
#[handler(POST "/courses/{id}/edit", page = Edit::link(id))]
pub async fn Save(
    cx: &mut Cx<'_>,
    id: i64,
    #[guard] staff: Allowed<Staff>,
    #[form] version: Hidden<i64>,
    #[form] course: CourseFields,
    #[form] when: When,
    #[form] picture: Option<Upload<Photo>>,
) -> Result {
    let starts = Save::when.field(When::starts).in_zone(cx, when.starts, &staff.zone, when.fold)?.timestamp();
    // Before the course is locked: others need not wait for it.
    let picture = match &picture {
        Some(photo) => {
            Some(cx.store_photo(photo, 960, 640).await?.map_err(|_| Save::picture.refuse(t!(cx, unreadable_picture)))?)
        }
        None => None,
    };
    let now = lock(cx.transaction().await?, id).await?;
    if now.version != version.0 {
        let (fields, stored) = stored(cx, &now, &staff.zone).await?;
        let conflict = Conflict::new(cx, Save::version, &now.version).field(Save::course, &course, &fields);
        return Err(conflict.field(Save::when, &when, &stored).into());
    }
    if now.taken > course.places.get() {
        return Err(Save::course.field(CourseFields::places).refuse(t!(cx, places_are_taken, count = now.taken)));
    }
    if let (Some(old), Some(_)) = (&now.picture, &picture) {
        cx.delete_stored(old).await?;
    }
    let update = sql!(
        "update course set {values of CourseFields}, starts = ?, picture = ?, version = version + 1 where id = ?",
        &course,
        starts,
        picture.as_ref().or(now.picture.as_ref()),
        id
    );
    cx.transaction().await?.execute(update).await?;
    fill(cx, id).await?;
    cx.flash(t!(cx, saved));
    Ok(Response::see_other(Show::link(id)))
}

/// The fields as they are in the database, the time on the clock of this zone.
async fn stored(cx: &Cx<'_>, course: &Course, zone: &TimeZone) -> Result<(CourseFields, When)> {
    let select = sql!(CourseFields, "select {columns of CourseFields} from course where id = ?", course.id);
    let starts = course.starts.to_zoned(zone.clone()).datetime();
    Ok((cx.db().one(select).await?.or_404()?, When { starts, fold: None }))
}

/// The picture of a course.
#[handler(GET "/courses/{id}/picture", open = "courses are for everybody")]
pub async fn Picture(cx: &mut Cx<'_>, id: i64) -> Result {
    cx.send_stored(&Course::find(cx.db(), id).await?.picture.or_404()?).await
}
