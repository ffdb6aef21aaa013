//! The page of all jobs.

use skep::Method;
use skep::guard::Guard;
use skep::prelude::*;
use skep::test::{Client, TestResponse};
use skep_jobs::prelude::*;
use skep_jobs::test::{run_due, run_one};

use crate::application::{app, client, notes};

crate::tests![
    the_page_is_behind_its_guard,
    a_dead_letter_is_shown_with_its_error_and_can_be_retried,
    a_job_can_be_cancelled_on_the_page,
    a_paused_queue_runs_nothing_until_it_is_resumed,
    a_form_of_another_site_changes_nothing,
];

pub(crate) struct Anybody;

impl Guard for Anybody {
    async fn check(_cx: &mut Cx<'_>) -> Result<Self> {
        Ok(Self)
    }
}

struct Nobody;

impl Guard for Nobody {
    async fn check(_cx: &mut Cx<'_>) -> Result<Self> {
        Err(Error::forbidden("closed"))
    }
}

fn open() -> Client {
    client(app().jobs_page::<Anybody>("/-/jobs")).0
}

fn press(client: &Client, act: &str, of: &str) -> TestResponse {
    let response = client.post("/-/jobs", &[(act, of)]);
    assert_eq!(response.status(), 200, "{act} {of}");
    response
}

fn the_page_is_behind_its_guard() {
    let (client, _) = client(app().jobs_page::<Nobody>("/-/jobs"));
    assert_eq!(client.get("/-/jobs").status(), 403);
    assert_eq!(client.post("/-/jobs", &[("pause", "default")]).status(), 403);
    assert_eq!(open().get("/-/jobs").status(), 200);
    assert_eq!(open().get("/-/jobs/else").status(), 404);
}

fn a_dead_letter_is_shown_with_its_error_and_can_be_retried() {
    let client = open();
    let id = client.post("/notes/give%20up", &[]).text().to_owned();
    assert!(run_one(&client).unwrap().is_dead());
    let page = client.get("/-/jobs");
    assert!(
        page.text().contains("it cannot be done") && page.text().contains("{&quot;note&quot;:&quot;give up&quot;}")
            || page.text().contains("give up"),
        "{}",
        page.text()
    );
    assert!(press(&client, "retry", &id).text().contains("Waiting"));
    assert!(run_one(&client).unwrap().is_dead());
}

fn a_job_can_be_cancelled_on_the_page() {
    let client = open();
    let id = client.post("/notes/a?after=60", &[]).text().to_owned();
    assert!(client.get("/-/jobs").text().contains("note"));
    assert!(!press(&client, "cancel", &id).text().contains(">note<"));
    assert_eq!(client.post(&format!("/cancel/{id}"), &[]).text(), "false");
}

fn a_paused_queue_runs_nothing_until_it_is_resumed() {
    let client = open();
    press(&client, "pause", "default");
    client.post("/notes/a", &[]);
    assert!(run_due(&client).is_empty());
    assert!(client.get("/-/jobs").text().contains("resume"));
    press(&client, "resume", "default");
    assert_eq!(run_due(&client).len(), 1);
    assert_eq!(notes(&client), "a");
}

fn a_form_of_another_site_changes_nothing() {
    let client = open().without_fetch_metadata();
    for site in ["cross-site", "same-site", "none"] {
        let request = client.request(Method::POST, "/-/jobs").header("sec-fetch-site", site);
        assert_eq!(request.form(&[("pause", "default")]).send().status(), 403, "{site}");
    }
    // Also without a word about where it comes from.
    assert_eq!(client.post("/-/jobs", &[("pause", "default")]).status(), 403);
    let from = |origin| {
        let request = client.request(Method::POST, "/-/jobs").header("origin", origin);
        request.form(&[("pause", "default")]).send().status()
    };
    assert_eq!(from("http://elsewhere"), 403);
    assert_eq!(from("http://localhost"), 200);
}
