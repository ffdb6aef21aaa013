//! Places: who has one, who waits for one, and who moves up.
//!
//! Who changes the bookings of a course locks its row first, so that all of them happen one after the other, on
//! SQLite as on PostgreSQL.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use skep::guard::Scope;
use skep::prelude::*;
use skep::sql::{self, Row};
use skep_jobs::prelude::*;
use skep_language::prelude::*;
use skep_people::Signed;

use crate::account::User;
use crate::course::Course;
use crate::layout::{Viewer, page};
use crate::mails;
use crate::show::Show;

/// What has become of a booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BookingState {
    /// There is a place.
    Booked,
    /// It is on the waiting list.
    Waiting,
}

impl BookingState {
    pub(crate) fn of(waiting: bool) -> Self {
        if waiting { Self::Waiting } else { Self::Booked }
    }
}

/// Locks a course until the transaction ends. An update that changes nothing does, in either database.
async fn lock(db: &sql::Transaction, id: i64) -> Result<Course> {
    let lock = sql!(Course, "update course set taken = taken where id = ? returning {columns of Course}", id);
    db.one(lock).await?.or_404()
}

/// Books a place, or one on the waiting list. Who has one already keeps it.
pub(crate) async fn book(cx: &mut Cx<'_>, mine: Scope<'_, User>, user: &User, id: i64) -> Result<BookingState> {
    let db = cx.transaction().await?;
    let course = lock(db, id).await?;
    if course.starts <= cx.now() {
        return Err(Error::conflict(t!(cx, too_late)));
    }
    let select = sql!(bool, "select waiting from booking where course_id = ? and account_id = ?", id, mine);
    if let Some(waiting) = db.one(select).await? {
        return Ok(BookingState::of(waiting));
    }
    let waiting = course.free() == 0;
    let insert = sql!("insert into booking (course_id, account_id, waiting) values (?, ?, ?)", id, mine, waiting);
    db.execute(insert).await?;
    if !waiting {
        db.execute(sql!("update course set taken = taken + 1 where id = ?", id)).await?;
    }
    let state = BookingState::of(waiting);
    cx.deliver_later(mails::booked(user, &course, state, &cx.origin())).await?;
    Ok(state)
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
        User,
        "select {columns of User as a} from account a where id in
            (select account_id from booking where course_id = ? and waiting order by id limit ?) order by id",
        id,
        course.free()
    );
    for reader in db.all(first).await? {
        let update = sql!(
            unscoped "the first who waits is somebody else";
            "update booking set waiting = false where course_id = ? and account_id = ?",
            id,
            reader.id
        );
        db.execute(update).await?;
        db.execute(sql!("update course set taken = taken + 1 where id = ?", id)).await?;
        cx.deliver_later(mails::booked(&reader, &course, BookingState::Booked, &cx.origin())).await?;
    }
    Ok(())
}

/// Books a place.
#[derive(Service)]
#[service(POST "/courses/{id}/booking")]
pub struct Book {
    id: i64,
    #[guard]
    user: Signed<User>,
}

/// Gives it back.
#[derive(Service)]
#[service(POST "/courses/{id}/booking/cancel")]
pub struct Cancel {
    id: i64,
    #[guard]
    user: Signed<User>,
}

/// The bookings of the user.
#[derive(Service)]
#[service(GET "/bookings")]
pub struct Mine {
    #[guard]
    user: Signed<User>,
}

impl Handle for Book {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let text = match book(cx, Scope::of(&self.user), &self.user, self.id).await? {
            BookingState::Booked => t!(cx, you_are_in),
            BookingState::Waiting => t!(cx, you_wait),
        };
        cx.flash(text);
        Ok(Response::see_other(Show::link(self.id)))
    }
}

impl Handle for Cancel {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cancel(cx, Scope::of(&self.user), self.id).await?;
        cx.flash(t!(cx, cancelled));
        Ok(Response::see_other(Show::link(self.id)))
    }
}

#[derive(Row)]
struct Line {
    id: i64,
    title: String,
    starts: Timestamp,
    waiting: bool,
}

impl Handle for Mine {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (mine, now): (Scope<'_, User>, Timestamp) = (Scope::of(&self.user), cx.now());
        let viewer = Viewer::of(cx).await?;
        let select = sql!(
            Line,
            "select c.id, c.title, c.starts, b.waiting from booking b join course c on c.id = b.course_id
             where b.account_id = ? and c.starts > ? order by c.starts, c.id limit 100",
            mine,
            now
        );
        let bookings = cx.db().all(select).await?;
        let content = html! {
            h1 { (t!(cx, my_bookings)) }
            @if bookings.is_empty() { p.empty { (t!(cx, nothing_booked)) } }
            ul.rows {
                @for booking in &bookings {
                    li {
                        a href=(Show::link(booking.id)) { (booking.title) }
                        span.meta { (viewer.time(booking.starts)) }
                        @if booking.waiting { span.badge { (t!(cx, waiting)) } }
                    }
                }
            }
        };
        page(cx, t!(cx, my_bookings), &content).await
    }
}
