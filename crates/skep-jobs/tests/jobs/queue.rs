//! What is enqueued, when, and in which order it runs.

use std::time::Duration;

use skep::test::Client;
use skep_jobs::test::{run_due, run_one};

use crate::application::{app, ask, bare, change, client, notes};

crate::tests![
    a_job_is_undone_with_the_request_that_enqueued_it,
    a_job_without_a_transaction_is_enqueued_at_once,
    a_job_runs_when_it_is_due,
    a_unique_job_is_enqueued_once_in_its_period,
    an_undone_unique_job_leaves_its_key_free,
    a_cancelled_job_never_runs,
    a_job_that_is_cancelled_while_it_runs_has_no_effect,
    jobs_of_a_higher_priority_run_first,
    a_kind_that_is_not_mounted_cannot_be_enqueued,
    jobs_of_another_version_are_left_alone,
    two_kinds_of_one_name_keep_the_application_from_starting,
    a_queue_without_jobs_keeps_the_application_from_starting,
    tables_of_a_newer_version_keep_the_application_from_starting_if_they_say_so,
    jobs_without_a_database_keep_the_application_from_starting,
    numbers_are_never_given_twice,
];

fn a_job_is_undone_with_the_request_that_enqueued_it() {
    let (client, _) = client(app());
    assert_eq!(client.post("/notes/a?fails=true", &[]).status(), 409);
    assert!(run_due(&client).is_empty());
    client.post("/notes/b", &[]);
    assert_eq!(run_due(&client).len(), 1);
    assert_eq!(notes(&client), "b");
    assert_eq!(ask(&client, "select cast(count(*) as text) from skep_job"), "0");
}

fn a_job_without_a_transaction_is_enqueued_at_once() {
    let (client, _) = client(app());
    assert_eq!(client.post("/notes/a?alone=true&fails=true", &[]).status(), 409);
    assert_eq!(run_due(&client).len(), 1);
    assert_eq!(client.post("/notes/b?alone=true&fails=true&unique=b", &[]).status(), 409);
    assert_eq!(run_due(&client).len(), 1);
}

fn a_job_runs_when_it_is_due() {
    let (client, clock) = client(app());
    client.post("/notes/later?after=60", &[]);
    client.post("/notes/now", &[]);
    assert_eq!(run_due(&client).len(), 1);
    clock.advance(Duration::from_millis(59_999));
    assert!(run_due(&client).is_empty());
    clock.advance(Duration::from_millis(1));
    assert_eq!(run_due(&client).len(), 1);
    assert_eq!(notes(&client), "now\nlater");
}

fn a_unique_job_is_enqueued_once_in_its_period() {
    let (client, clock) = client(app());
    let enqueue = |client: &Client| client.post("/notes/a?unique=key", &[]).text().to_owned();
    assert_ne!(enqueue(&client), "none");
    assert_eq!(enqueue(&client), "none");
    assert_eq!(run_due(&client).len(), 1);
    assert_eq!(enqueue(&client), "none");
    assert_ne!(client.post("/notes/a?unique=other", &[]).text(), "none");
    clock.advance(Duration::from_mins(10));
    assert_ne!(enqueue(&client), "none");
}

fn an_undone_unique_job_leaves_its_key_free() {
    let (client, _) = client(app());
    assert_eq!(client.post("/notes/a?unique=key&fails=true", &[]).status(), 409);
    assert_ne!(client.post("/notes/a?unique=key", &[]).text(), "none");
}

fn a_cancelled_job_never_runs() {
    let (client, _) = client(app());
    let id = client.post("/notes/a?after=60", &[]).text().to_owned();
    assert_eq!(client.post(&format!("/cancel/{id}"), &[]).text(), "true");
    assert_eq!(client.post(&format!("/cancel/{id}"), &[]).text(), "false");
    assert_eq!(ask(&client, "select cast(count(*) as text) from skep_job"), "0");
}

fn a_job_that_is_cancelled_while_it_runs_has_no_effect() {
    let (client, _) = client(app());
    client.post("/notes/cancel%20itself", &[]);
    let ran = run_one(&client).unwrap();
    assert!(!ran.is_done());
    assert_eq!(notes(&client), "");
}

fn jobs_of_a_higher_priority_run_first() {
    let (client, clock) = client(app());
    client.post("/notes/low?low=true", &[]);
    clock.advance(Duration::from_secs(1));
    client.post("/notes/first", &[]);
    clock.advance(Duration::from_secs(1));
    client.post("/notes/second", &[]);
    assert_eq!(run_due(&client).len(), 3);
    assert_eq!(notes(&client), "first\nsecond\nlow");
}

fn a_kind_that_is_not_mounted_cannot_be_enqueued() {
    use skep_jobs::prelude::*;
    let (client, _) = client(bare().jobs(skep_jobs::jobs![]));
    let response = client.post("/notes/a", &[]);
    assert_eq!(response.status(), 500);
}

fn jobs_of_another_version_are_left_alone() {
    let (client, _) = client(app());
    client.post("/notes/a", &[]);
    change(&client, "update skep_job set kind = 'newer'");
    assert!(run_due(&client).is_empty());
    assert_eq!(ask(&client, "select state || ' ' || attempt from skep_job"), "0 0");
    change(&client, "update skep_job set kind = 'note'");
    assert_eq!(run_due(&client).len(), 1);
}

fn problem(app: skep::App) -> String {
    let mut setup = skep::Setup::default();
    setup.temporary_database = true;
    app.open(setup).expect_err("it does not start").to_string()
}

fn two_kinds_of_one_name_keep_the_application_from_starting() {
    use skep_jobs::prelude::*;
    let jobs = crate::application::jobs().kind::<crate::application::Note>();
    let problem = problem(bare().jobs(jobs));
    assert!(problem.contains("two jobs have the kind \"note\""), "{problem}");
}

fn a_queue_without_jobs_keeps_the_application_from_starting() {
    use skep_jobs::prelude::*;
    let problem = problem(bare().jobs(crate::application::jobs().queue("mial", 2)));
    assert!(problem.contains("no job has the queue \"mial\""), "{problem}");
}

fn tables_of_a_newer_version_keep_the_application_from_starting_if_they_say_so() {
    use skep_jobs::prelude::*;
    let newer = |change: &'static str| {
        let change = move |site: &skep::Site| {
            site.db().write(|db| db.execute(change))?;
            site.db().write(|db| db.execute("update skep_job_schema set version = 99"))?;
            Ok(())
        };
        bare().on_start(change).jobs(crate::application::jobs())
    };
    let problem = problem(newer("alter table skep_job_schema add column oldest integer not null default 98"));
    assert!(problem.contains("version 99") && problem.contains("start one that knows 98"), "{problem}");
    let mut setup = skep::Setup::default();
    setup.temporary_database = true;
    let like_ours = newer("alter table skep_job_schema add column oldest integer not null default 2");
    assert!(like_ours.open(setup).is_ok());
}

fn jobs_without_a_database_keep_the_application_from_starting() {
    use skep_jobs::prelude::*;
    let problem = problem(skep::App::new().jobs(jobs![]));
    assert!(problem.contains("add App::database"), "{problem}");
}

fn numbers_are_never_given_twice() {
    let (client, _) = client(app());
    let first: i64 = client.post("/notes/a", &[]).text().parse().unwrap();
    assert_eq!(run_due(&client)[0].id, first);
    let second: i64 = client.post("/notes/a", &[]).text().parse().unwrap();
    assert!(second > first, "{second}");
}
