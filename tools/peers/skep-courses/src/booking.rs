//! Places: who has one, who waits for one, and who moves up.
//!
//! Who changes the bookings of a course writes its row first, so that all of them happen one after the other.

use skep::guard::Guard;
use skep::html::DOCTYPE;
use skep::prelude::*;
use skep::sql;

use crate::list::Course;

/// The user who is signed in.
pub(crate) struct User(i64);

impl Guard for User {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let account = cx.fields().get("x-account").and_then(|account| account.to_str().ok()?.parse().ok());
        account.map(Self).ok_or_else(|| Error::unauthorized("sign in first"))
    }
}

#[derive(Service)]
#[service(GET "/courses/{id}")]
pub(crate) struct Show {
    pub(crate) id: i64,
}

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let User(user) = User::check(cx).await?;
        let select = sql!(Course, "select {columns of Course} from course where id = ?", self.id);
        let course = cx.db().one(select).await?.or_404()?;
        let waiting = sql!(bool, "select waiting from booking where course_id = ? and account_id = ?", self.id, user);
        let waiting = cx.db().one(waiting).await?;
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" {
                head { title { (course.title) } }
                body {
                    @for message in cx.flashes() { p role="status" { (message) } }
                    h1 { (course.title) }
                    p { (course.places_left()) }
                    @match waiting {
                        Some(waiting) => {
                            p { @if waiting { "You are on the waiting list." } @else { "You have a place." } }
                            form (Cancel::form(cx, course.id)) { button { "Cancel" } }
                        }
                        None => { form (Book::form(cx, course.id)) { button { "Book" } } }
                    }
                }
            }
        }))
    }
}

#[derive(Service)]
#[service(POST "/courses/{id}/booking")]
pub(crate) struct Book {
    id: i64,
    #[guard]
    user: User,
}

#[derive(Service)]
#[service(POST "/courses/{id}/booking/cancel")]
pub(crate) struct Cancel {
    id: i64,
    #[guard]
    user: User,
}

/// Locks a course until the transaction ends.
async fn lock(db: &sql::Transaction, id: i64) -> Result<Course> {
    let lock = sql!(Course, "update course set taken = taken where id = ? returning {columns of Course}", id);
    db.one(lock).await?.or_404()
}

impl Handle for Book {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (db, id, User(user)) = (cx.transaction().await?, self.id, self.user);
        let course = lock(db, id).await?;
        if course.starts <= cx.now() {
            return Err(Error::conflict("this course has begun"));
        }
        let select = sql!(bool, "select waiting from booking where course_id = ? and account_id = ?", id, user);
        let waiting = if let Some(waiting) = db.one(select).await? {
            waiting
        } else {
            let waiting = course.free() == 0;
            let insert =
                sql!("insert into booking (course_id, account_id, waiting) values (?, ?, ?)", id, user, waiting);
            db.execute(insert).await?;
            if !waiting {
                db.execute(sql!("update course set taken = taken + 1 where id = ?", id)).await?;
            }
            waiting
        };
        cx.flash(if waiting { "You are on the waiting list." } else { "You are in." });
        Ok(Response::see_other(Show { id }))
    }
}

impl Handle for Cancel {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (db, id, User(user)) = (cx.transaction().await?, self.id, self.user);
        lock(db, id).await?;
        let delete =
            sql!(bool, "delete from booking where course_id = ? and account_id = ? returning waiting", id, user);
        if db.one(delete).await? == Some(false) {
            db.execute(sql!("update course set taken = taken - 1 where id = ?", id)).await?;
        }
        let free = lock(db, id).await?.free();
        let first = sql!(i64, "select id from booking where course_id = ? and waiting order by id limit ?", id, free);
        for booking in db.all(first).await? {
            db.execute(sql!("update booking set waiting = false where id = ?", booking)).await?;
            db.execute(sql!("update course set taken = taken + 1 where id = ?", id)).await?;
        }
        cx.flash("Your booking is cancelled.");
        Ok(Response::see_other(Show { id }))
    }
}
