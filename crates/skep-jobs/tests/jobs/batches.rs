//! Batches: jobs, and one that runs when they have ended.

use std::time::Duration;

use skep::sql::Dialect;
use skep::test::Client;
use skep::{App, Result, Setup, Site};
use skep_jobs::prelude::*;
use skep_jobs::test::{Ran, run_due, run_one};

use crate::application::{app, ask, change, client, notes};
use crate::page::Anybody;

crate::tests![
    the_job_at_the_end_runs_once_when_all_have_ended,
    a_batch_is_undone_with_the_request_that_enqueued_it,
    a_batch_without_jobs_ends_at_once,
    a_batch_whose_key_is_taken_is_not_enqueued,
    a_batch_waits_for_what_is_tried_again,
    a_dead_letter_has_ended_and_is_counted,
    a_dead_letter_that_is_retried_brings_no_second_end,
    a_dead_letter_that_is_retried_before_the_end_is_waited_for,
    a_cancelled_job_has_ended,
    a_cancelled_end_lets_the_others_run,
    a_job_that_kills_its_process_twice_has_ended,
    batches_are_on_the_page,
    tables_of_the_version_before_are_brought_up_to_date,
];

fn kinds(ran: &[Ran]) -> String {
    ran.iter().map(|ran| &*ran.kind).collect::<Vec<_>>().join(" ")
}

fn number_of(client: &Client, note: &str) -> String {
    ask(client, &format!("select cast(id as text) from skep_job where payload like '%{note}%'"))
}

fn the_job_at_the_end_runs_once_when_all_have_ended() {
    let (client, _) = client(app());
    client.post("/batch/a,b,c", &[]);
    assert_eq!(kinds(&run_due(&client)), "note note note end");
    assert_eq!(notes(&client), "a\nb\nc\nend, 0 dead");
    // Without a transaction of the request, too.
    client.post("/batch/d?alone=true", &[]);
    assert_eq!(kinds(&run_due(&client)), "note end");
    assert_eq!(ask(&client, "select cast(count(*) as text) from skep_job"), "0");
}

fn a_batch_is_undone_with_the_request_that_enqueued_it() {
    let (client, _) = client(app());
    assert_eq!(client.post("/batch/a,b?fails=true", &[]).status(), 409);
    assert!(run_due(&client).is_empty());
    assert_eq!(ask(&client, "select cast(count(*) as text) from skep_job"), "0");
}

fn a_batch_without_jobs_ends_at_once() {
    let (client, _) = client(app());
    client.post("/batch/none", &[]);
    assert_eq!(kinds(&run_due(&client)), "end");
}

fn a_batch_whose_key_is_taken_is_not_enqueued() {
    let (client, clock) = client(app());
    client.post("/batch/a?unique=key", &[]);
    assert_eq!(client.post("/batch/b?unique=key", &[]).text(), "none");
    assert_eq!(kinds(&run_due(&client)), "note end");
    clock.advance(Duration::from_mins(10));
    assert_ne!(client.post("/batch/b?unique=key", &[]).text(), "none");
}

fn a_batch_waits_for_what_is_tried_again() {
    let (client, clock) = client(app());
    client.post("/batch/a,fail", &[]);
    for _ in 1..12 {
        assert!(!kinds(&run_due(&client)).contains("end"));
        clock.advance(Duration::from_hours(8));
    }
    assert_eq!(kinds(&run_due(&client)), "note end");
    assert_eq!(notes(&client), "a\nend, 1 dead");
}

fn a_dead_letter_has_ended_and_is_counted() {
    let (client, _) = client(app());
    client.post("/batch/give%20up,a,give%20up", &[]);
    assert_eq!(kinds(&run_due(&client)), "note note note end");
    assert_eq!(notes(&client), "a\nend, 2 dead");
}

fn a_dead_letter_that_is_retried_brings_no_second_end() {
    let (client, _) = client(app());
    client.post("/batch/give%20up", &[]);
    assert_eq!(kinds(&run_due(&client)), "note end");
    change(&client, "update skep_job set state = 0, payload = '{\"note\":\"a\"}'");
    assert_eq!(kinds(&run_due(&client)), "note");
    assert_eq!(notes(&client), "end, 1 dead\na");
}

fn a_dead_letter_that_is_retried_before_the_end_is_waited_for() {
    let (client, clock) = client(app());
    client.post("/batch/give%20up,snooze", &[]);
    assert_eq!(kinds(&run_due(&client)), "note note");
    change(&client, "update skep_job set state = 0, at = at + 120000 where state = 2");
    change(&client, "update skep_job set payload = '{\"note\":\"a\"}' where kind = 'note' and attempt = 0");
    clock.advance(Duration::from_mins(1));
    assert_eq!(kinds(&run_due(&client)), "note");
    clock.advance(Duration::from_mins(1));
    assert_eq!(kinds(&run_due(&client)), "note end");
    assert!(notes(&client).ends_with("end, 1 dead"), "{}", notes(&client));
}

fn a_cancelled_job_has_ended() {
    let (client, _) = client(app());
    client.post("/batch/a,b", &[]);
    assert_eq!(run_one(&client).unwrap().kind, "note");
    let left = number_of(&client, "b");
    assert_eq!(client.post(&format!("/cancel/{left}"), &[]).text(), "true");
    assert_eq!(kinds(&run_due(&client)), "end");
}

fn a_cancelled_end_lets_the_others_run() {
    let (client, _) = client(app());
    let end = client.post("/batch/a,b", &[]).text().to_owned();
    assert_eq!(client.post(&format!("/cancel/{end}"), &[]).text(), "true");
    assert_eq!(kinds(&run_due(&client)), "note note");
}

fn a_job_that_kills_its_process_twice_has_ended() {
    let (client, clock) = client(app());
    client.post("/batch/a", &[]);
    change(&client, "update skep_job set state = 1, runner = 7, attempt = 2, crashes = 1 where state = 0");
    change(&client, "insert into skep_job_runner (id, until) select 7, max(at) + 30000 from skep_job");
    assert!(run_due(&client).is_empty());
    clock.advance(Duration::from_secs(31));
    assert_eq!(kinds(&run_due(&client)), "end");
    assert_eq!(notes(&client), "end, 1 dead");
}

fn batches_are_on_the_page() {
    let (client, _) = client(app().jobs_page::<Anybody>("/-/jobs"));
    let end = client.post("/batch/a,give%20up,b", &[]).text().to_owned();
    assert!(run_one(&client).unwrap().is_done() && run_one(&client).unwrap().is_dead());
    let page = client.get("/-/jobs").text().to_owned();
    assert!(page.contains(&format!("<td>{end}</td><td>end</td><td>1</td><td>1</td>")), "{page}");
    // Nobody has it run before the others.
    client.post("/-/jobs", &[("retry", &*end)]);
    assert_eq!(run_one(&client).unwrap().kind, "note");
    assert_eq!(kinds(&run_due(&client)), "end");
    assert!(client.get("/-/jobs").text().contains("<h2>Batches</h2><p>None.</p>"));
}

/// As a program before batches has left them.
fn tables_of_the_version_before_are_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let setup = || {
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        setup
    };
    assert_brought_up_to_date(setup);
}

/// With a job that waits, one of a process that died, and a dead letter.
pub(crate) fn assert_brought_up_to_date(setup: impl Fn() -> Setup) {
    let before = App::new().name("jobs", "0").database(crate::application::MIGRATIONS).on_start(make_first_version);
    drop(Client::with_setup(before, setup()));
    let client = Client::with_setup(app(), setup());
    client.post("/batch/a", &[]);
    assert_eq!(kinds(&run_due(&client)), "note note note end");
    assert_eq!(ask(&client, "select note from effect order by job"), "old\ndied\nend, 0 dead\na");
    assert_eq!(ask(&client, "select payload from skep_job where state = 2"), r#"{"note":"dead"}"#);
    // They are there once, and another start changes nothing.
    drop(client);
    let client = Client::with_setup(app(), setup());
    assert_eq!(ask(&client, "select cast(version as text) from skep_job_schema"), "2");
}

fn make_first_version(site: &Site) -> Result<()> {
    let (id, number, strict) = match site.db().dialect() {
        Dialect::Sqlite => ("integer primary key autoincrement", "integer", "strict"),
        Dialect::Postgres => ("bigint generated by default as identity primary key", "bigint", ""),
    };
    let jobs = format!(
        "create table skep_job (id {id}, kind text not null, queue text not null, priority {number} not null,
         at {number} not null, state {number} not null default 0, attempt {number} not null default 0,
         crashes {number} not null default 0, runner {number}, created {number} not null, payload text not null,
         error text) {strict}"
    );
    let runners = format!("create table skep_job_runner (id {number} primary key, until {number} not null) {strict}");
    let version = format!("create table skep_job_schema (version {number} not null) {strict}");
    let rows = "insert into skep_job (kind, queue, priority, at, created, state, attempt, runner, payload) values
        ('note', 'default', 1, 0, 0, 0, 0, null, '{\"note\":\"old\"}'),
        ('note', 'default', 1, 0, 0, 1, 1, 7, '{\"note\":\"died\"}'),
        ('note', 'default', 1, 0, 0, 2, 12, null, '{\"note\":\"dead\"}')";
    let (runner, first) = ("insert into skep_job_runner values (7, 1)", "insert into skep_job_schema values (1)");
    site.db().write(|db| {
        for statement in [&*jobs, &runners, &version, rows, runner, first] {
            db.execute(statement)?;
        }
        Ok(())
    })?;
    Ok(())
}
