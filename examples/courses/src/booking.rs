//! Places: who has one, who waits for one, who moves up, and who comes.
//!
//! Who changes the bookings of a course locks its row first, so that all of them happen one after the other, on
//! SQLite as on PostgreSQL.

use crate::mails::{Occasion, mail};
use crate::prelude::*;

/// A place in a course, or one on its waiting list.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Booking {
    pub(crate) waiting: bool,
}

/// Locks a course until the transaction ends. An update that changes nothing does, in either database.
pub(crate) async fn lock(db: &sql::Transaction, id: i64) -> Result<Course> {
    let lock = sql!(Course, "update course set taken = taken where id = ? returning {columns of Course}", id);
    db.one(lock).await?.or_404()
}

/// Books a place, or one on the waiting list. Who has one already keeps it.
pub(crate) async fn book(cx: &mut Cx<'_>, mine: Scope<'_, User>, user: &User, id: i64) -> Result<Booking> {
    let db = cx.transaction().await?;
    let course = lock(db, id).await?;
    if course.starts <= cx.now() {
        return Err(Error::conflict(t!(cx, too_late)));
    }
    let select = sql!(bool, "select waiting from booking where course_id = ? and account_id = ?", id, mine);
    if let Some(waiting) = db.one(select).await? {
        return Ok(Booking { waiting });
    }
    db.execute(sql!("insert into booking (course_id, account_id, waiting) values (?, ?, true)", id, mine)).await?;
    if course.free() > 0 {
        fill(cx, id).await?;
    } else {
        cx.deliver_later(mail(user, &course, Occasion::Waiting, &cx.origin())).await?;
    }
    Ok(Booking { waiting: course.free() == 0 })
}

/// Gives a place back, and who waits moves up.
pub(crate) async fn cancel(cx: &mut Cx<'_>, mine: Scope<'_, User>, id: i64) -> Result<()> {
    let db = cx.transaction().await?;
    lock(db, id).await?;
    let delete = sql!(bool, "delete from booking where course_id = ? and account_id = ? returning waiting", id, mine);
    if db.one(delete).await? == Some(false) {
        db.execute(sql!("update course set taken = taken - 1 where id = ?", id)).await?;
    }
    fill(cx, id).await
}

/// Gives the free places of a course to those who wait, and tells them.
pub(crate) async fn fill(cx: &mut Cx<'_>, id: i64) -> Result<()> {
    let db = cx.transaction().await?;
    let course = lock(db, id).await?;
    let first = sql!(
        unscoped "the first who waits is somebody else";
        i64,
        "update booking set waiting = false where id in
            (select id from booking where course_id = ? and waiting order by id limit ?) returning account_id",
        id,
        course.free()
    );
    for account in db.all(first).await? {
        db.execute(sql!("update course set taken = taken + 1 where id = ?", id)).await?;
        let reader = User::with_id(cx.db(), account).await?.or_404()?;
        cx.deliver_later(mail(&reader, &course, Occasion::Booked, &cx.origin())).await?;
    }
    Ok(())
}

/// Books a place.
#[handler(POST "/courses/{id}/booking")]
pub async fn Book(cx: &mut Cx<'_>, id: i64, #[guard] user: Signed<User>) -> Result {
    let booking = book(cx, Scope::of(&user), &user, id).await?;
    cx.flash(if booking.waiting { t!(cx, you_wait) } else { t!(cx, you_are_in) });
    Ok(Response::see_other(Show::link(id)))
}

/// Gives it back.
#[handler(POST "/courses/{id}/booking/cancel")]
pub async fn Cancel(cx: &mut Cx<'_>, id: i64, #[guard] user: Signed<User>) -> Result {
    cancel(cx, Scope::of(&user), id).await?;
    cx.flash(t!(cx, cancelled));
    Ok(Response::see_other(Show::link(id)))
}

/// The bookings of the user.
#[handler(GET "/bookings")]
pub async fn Mine(cx: &mut Cx<'_>, #[guard] user: Signed<User>) -> Result {
    let viewer = Viewer::of(cx).await?;
    let mine: Scope<'_, User> = Scope::of(&user);
    let select = sql!(
        (i64, String, Timestamp, bool),
        "select c.id, c.title, c.starts, b.waiting from booking b join course c on c.id = b.course_id
         where b.account_id = ? and c.starts > ? order by c.starts, c.id limit 100",
        mine,
        cx.now()
    );
    let bookings = cx.db().all(select).await?;
    let content = html! {
        h1 { (t!(cx, my_bookings)) }
        @if bookings.is_empty() { p.empty { (t!(cx, nothing_booked)) } }
        ul.rows {
            @for (id, title, starts, waiting) in bookings {
                li {
                    a href=(Show::link(id)) { (title) }
                    span.meta { (viewer.time(starts)) }
                    @if waiting { span.badge { (t!(cx, waiting)) } }
                }
            }
        }
    };
    page(cx, t!(cx, my_bookings), &content).await
}

/// Name, address, and whether they wait.
fn participants(course: i64) -> sql::Query<'static, (String, String, bool)> {
    sql!(
        unscoped "trainers see who comes";
        (String, String, bool),
        "select a.name, a.email, b.waiting from booking b join account a on a.id = b.account_id
         where b.course_id = ? order by b.id limit 1000",
        course
    )
}

/// Who comes to a course, to print.
#[handler(GET "/courses/{id}/participants", guard = Allowed<Staff>)]
pub async fn Participants(cx: &mut Cx<'_>, id: i64) -> Result {
    let (viewer, course) = (Viewer::of(cx).await?, Course::find(cx.db(), id).await?);
    let participants = cx.db().all(participants(id)).await?;
    let content = html! {
        h1 { (course.title) }
        p.lead { (viewer.time(course.starts)) }
        @if participants.is_empty() { p.empty { (t!(cx, no_participants)) } }
        div.wide {
            table {
                thead { tr { th { (t!(cx, name)) } th { (t!(cx, email)) } th { (t!(cx, came)) } } }
                tbody {
                    @for (name, email, waiting) in participants {
                        tr {
                            td { (name) }
                            td { (email) }
                            td { @if waiting { (t!(cx, waiting)) } @else { span.box aria-hidden="true" {} } }
                        }
                    }
                }
            }
        }
        p.tools { a href=(Export::link(id)) { (t!(cx, spreadsheet)) } }
    };
    page(cx, &course.title, &content).await
}

/// The same for a spreadsheet.
#[handler(GET "/courses/{id}/participants.csv", guard = Allowed<Staff>)]
pub async fn Export(cx: &mut Cx<'_>, id: i64) -> Result {
    Course::find(cx.db(), id).await?;
    let rows = cx.db().stream(participants(id)).await?;
    let cells = |(name, email, waiting): (String, String, bool)| [name, email, waiting.to_string()];
    Ok(Response::csv("participants.csv", rows, ["name", "email", "waiting"], cells))
}
