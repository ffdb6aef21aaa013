//! Batches: jobs, and one that runs when they have ended.

use std::time::Duration;

use skep::test::Client;
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
    let before = skep::App::new().name("jobs", "0").database(crate::application::MIGRATIONS).on_start(|site| {
        site.db().write(|db| {
            db.execute(
                "create table skep_job (id integer primary key autoincrement, kind text not null, queue text not null,
                 priority integer not null, at integer not null, state integer not null default 0,
                 attempt integer not null default 0, crashes integer not null default 0, runner integer,
                 created integer not null, payload text not null, error text) strict",
            )?;
            db.execute("create table skep_job_schema (version integer not null) strict")?;
            db.execute("insert into skep_job_schema values (1)")?;
            db.execute("insert into skep_job (kind, queue, priority, at, created, payload) values ('note', 'default', 1, 0, 0, '{\"note\":\"old\"}')")
        })?;
        Ok(())
    });
    let folder = tempfile::tempdir().unwrap();
    let setup = || {
        let mut setup = skep::Setup::default();
        folder.path().clone_into(&mut setup.data);
        setup
    };
    drop(Client::with_setup(before, setup()));
    let client = Client::with_setup(app(), setup());
    client.post("/batch/a", &[]);
    assert_eq!(kinds(&run_due(&client)), "note note end");
    assert_eq!(notes(&client), "old\na\nend, 0 dead");
}
