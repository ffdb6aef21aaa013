//! Who comes to a course: to print, and for a spreadsheet.

use std::fmt::Write as _;

use skep::Body;
use skep::header::{CONTENT_DISPOSITION, HeaderValue};
use skep::prelude::*;
use skep::sql::{Query, Row};
use skep_language::prelude::*;
use skep_people::Allowed;

use crate::account::Staff;
use crate::course::Course;
use crate::layout::{Viewer, page};

/// The list, which can be printed.
#[derive(Service)]
#[service(GET "/courses/{id}/participants", guard = Allowed<Staff>)]
pub struct Participants {
    id: i64,
}

/// The list as CSV (RFC 4180).
#[derive(Service)]
#[service(GET "/courses/{id}/participants.csv", guard = Allowed<Staff>)]
pub struct Export {
    id: i64,
}

#[derive(Row)]
struct Participant {
    name: String,
    email: String,
    waiting: bool,
}

fn of(course: i64) -> Query<'static, Participant> {
    sql!(
        unscoped "trainers see who comes";
        Participant,
        "select a.name, a.email, b.waiting from booking b join account a on a.id = b.account_id
         where b.course_id = ? order by b.id limit 1000",
        course
    )
}

impl Handle for Participants {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (viewer, course) = (Viewer::of(cx).await?, Course::find(cx.db(), self.id).await?);
        let participants = cx.db().all(of(self.id)).await?;
        let content = html! {
            h1 { (course.title) }
            p.lead { (viewer.time(course.starts)) }
            @if participants.is_empty() {
                p.empty { (t!(cx, no_participants)) }
            } @else {
                div.wide {
                    table {
                        thead { tr { th { (t!(cx, name)) } th { (t!(cx, email)) } th { (t!(cx, came)) } } }
                        tbody {
                            @for one in &participants {
                                tr {
                                    td { (one.name) }
                                    td { (one.email) }
                                    td { @if one.waiting { (t!(cx, waiting)) } @else { span.box aria-hidden="true" {} } }
                                }
                            }
                        }
                    }
                }
            }
            p.tools { a href=(Export::link(self.id)) { (t!(cx, spreadsheet)) } }
        };
        page(cx, &course.title, &content).await
    }
}

impl Handle for Export {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Course::find(cx.db(), self.id).await?;
        let rows = cx.db().stream(of(self.id)).await?;
        let body = Body::from_rows(rows, "name,email,waiting\r\n", |out, one: Participant| {
            let _ = write!(out, "{},{},{}\r\n", cell(&one.name), cell(&one.email), one.waiting);
        });
        let name = HeaderValue::from_static("attachment; filename=\"participants.csv\"");
        Ok(Response::with_content_type("text/csv; charset=utf-8", body).with_header(CONTENT_DISPOSITION, name))
    }
}

/// A text in quotes. What a spreadsheet would take for a formula gets an apostrophe (OWASP, "CSV Injection").
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}
