//! The page of all jobs: [`JobsApp::jobs_page`](crate::JobsApp::jobs_page).
//!
//! Who may see it, a guard before its prefix decides. What changes something is a form, which is accepted from this
//! page only.

use skep::html::Html;
use skep::mount::{Mount, Mounted, ResponseFuture};
use skep::sql::query;
use skep::{Error, HeaderMap, Method, Response, Result, StatusCode, Work, header, html, sql};

use crate::act::Act;
use crate::counts::{BatchRow, batches, count, queues};
use crate::jobs::Jobs;
use crate::schema::{DEAD, RUNNING, WAITING};

/// Jobs of a state that are shown, and batches.
const MOST: i64 = 100;

pub(crate) struct Page {
    prefix: String,
}

struct Row {
    id: i64,
    kind: String,
    queue: String,
    at: i64,
    attempt: i64,
    error: Option<String>,
    payload: String,
}

type Cells = (i64, String, String, i64, i64, Option<String>, String);

impl Page {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.trim_end_matches('/').to_owned() }
    }
}

impl Mount for Page {
    fn answer(&self, request: Mounted) -> ResponseFuture {
        let prefix = self.prefix.clone();
        Box::pin(async move {
            if request.parts.uri.path().trim_end_matches('/') != prefix {
                return Err(Error::not_found());
            }
            match request.parts.method {
                Method::GET | Method::HEAD => show(&request, &prefix).await,
                Method::POST => change(request, &prefix).await,
                _ => Err(Error::new(StatusCode::METHOD_NOT_ALLOWED)),
            }
        })
    }

    fn name(&self) -> String {
        "jobs".to_owned()
    }
}

/// What it does with the application, which each server names.
fn work(request: &Mounted) -> Result<&Work> {
    request.work.as_ref().ok_or_else(|| Error::internal("a page of jobs without an application"))
}

/// Does what a button says, and shows the page again.
async fn change(mut request: Mounted, prefix: &str) -> Result {
    if !is_own(&request.parts.headers) {
        return Err(Error::forbidden("This form was not sent by its own page."));
    }
    let body = std::mem::take(&mut request.body)
        .collect(1024)
        .await
        .map_err(|_| Error::bad_request("the form cannot be read"))?;
    let (work, form) = (work(&request)?, String::from_utf8_lossy(&body));
    // Names of queues are plain but for a slash.
    let (act, of) = form.split_once('=').map(|(act, of)| (act, of.replace("%2F", "/"))).unwrap_or_default();
    let (db, jobs) = (work.db(), work.state::<Jobs>());
    let act = Act::parse(act, &of, jobs).map_err(Error::bad_request)?;
    db.execute(act.statement(jobs.now())).await?;
    if let Some(notify) = jobs.store().notify() {
        db.one(notify).await?;
    }
    jobs.wake.wake();
    Ok(Response::empty(StatusCode::SEE_OTHER).with_header(header::LOCATION, prefix.parse()?))
}

/// Browsers say where a form comes from; those that are not asked over TLS name its origin only.
fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match text("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => {
            let origin = text("origin").and_then(|origin| origin.split_once("://"));
            origin.is_some_and(|(_, place)| Some(place) == text("host"))
        }
    }
}

async fn show(request: &Mounted, prefix: &str) -> Result {
    let work = work(request)?;
    let (db, jobs) = (work.db(), work.state::<Jobs>());
    let paused: Vec<String> = db.all("select queue from skep_job_pause").await?;
    let counts = queues(db.all(count()).await?, jobs.now());
    let batches = db.all(batches(MOST)).await?;
    let (dead, running, waiting) = (rows(db, DEAD).await?, rows(db, RUNNING).await?, rows(db, WAITING).await?);
    let now = jobs.now();
    let queues = jobs.queues().into_iter().map(|(queue, slots)| {
        let figures = counts.get(queue).cloned().unwrap_or_default();
        (queue, slots, figures, paused.iter().any(|paused| paused == queue))
    });
    let content = html! {
        h1 { "Jobs" }
        h2 { "Queues" }
        table {
            tr { th { "Queue" } th { "Slots" } th { "Waiting" } th { "Running" } th { "Dead" } th { "Late" } th { "Actions" } }
            @for (queue, slots, figures, is_paused) in queues {
                tr {
                    td { (queue) } td { (slots) } td { (figures.waiting) } td { (figures.running) } td { (figures.dead) }
                    td { (figures.late) " s" }
                    td { (button(prefix, if is_paused { "resume" } else { "pause" }, queue)) }
                }
            }
        }
        (list("Dead letters", &dead, prefix, now, &["retry", "cancel"]))
        (list("Running", &running, prefix, now, &["cancel"]))
        (list("Waiting", &waiting, prefix, now, &["retry", "cancel"]))
        (list_batches(&batches, prefix))
    };
    let page = html! {
        (skep::html::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { "Jobs" }
                link rel="icon" href="data:,";
            }
            body { main { (content) } }
        }
    };
    Ok(Response::html(page).with_header(header::CACHE_CONTROL, header::HeaderValue::from_static("private, no-store")))
}

async fn rows(db: &sql::Local, state: i64) -> Result<Vec<Row>> {
    let text =
        "select id, kind, queue, at, attempt, error, payload from skep_job where state = ? order by at, id limit ?";
    let cells: Vec<Cells> = db.all(query(text, (state, MOST))).await?;
    let row = |(id, kind, queue, at, attempt, error, payload)| Row { id, kind, queue, at, attempt, error, payload };
    Ok(cells.into_iter().map(row).collect())
}

fn list(heading: &str, rows: &[Row], prefix: &str, now: i64, acts: &[&'static str]) -> Html {
    html! {
        h2 { (heading) }
        @if rows.is_empty() { p { "None." } } @else {
            table {
                tr { th { "Job" } th { "Kind" } th { "Queue" } th { "Due" } th { "Attempts" } th { "Fields" } th { "Error" } th { "Actions" } }
                @for row in rows {
                    tr {
                        td { (row.id) } td { (row.kind) } td { (row.queue) } td { (due(row.at, now)) } td { (row.attempt) }
                        td { code { (shortened(&row.payload)) } }
                        td { (row.error.as_deref().unwrap_or_default()) }
                        td { @for act in acts { (button(prefix, act, &row.id.to_string())) } }
                    }
                }
            }
        }
    }
}

/// By the jobs at their ends.
fn list_batches(batches: &[BatchRow], prefix: &str) -> Html {
    html! {
        h2 { "Batches" }
        @if batches.is_empty() { p { "None." } } @else {
            table {
                tr { th { "Last job" } th { "Kind" } th { "Waits for" } th { "Dead" } th { "Actions" } }
                @for (id, kind, left, dead) in batches {
                    tr {
                        td { (id) } td { (kind) } td { (left) } td { (dead) }
                        td { (button(prefix, "cancel", &id.to_string())) }
                    }
                }
            }
        }
    }
}

fn button(prefix: &str, act: &'static str, of: &str) -> Html {
    html! {
        form method="post" action=(prefix) {
            button name=(act) value=(of) { (act) }
        }
    }
}

/// Mail and the like is long, and not for everybody who looks after jobs.
fn shortened(payload: &str) -> String {
    let start: String = payload.chars().take(80).collect();
    if start.len() < payload.len() { format!("{start} …") } else { start }
}

fn due(at: i64, now: i64) -> String {
    let seconds = (at - now) / 1000;
    if seconds <= 0 { format!("{} s ago", -seconds) } else { format!("in {seconds} s") }
}
