//! What fails: retries, dead letters, and what others take over.

use std::time::Duration;

use skep_jobs::test::{run_due, run_one};

use crate::application::{ODD, app, ask, change, client, notes};

crate::tests![
    what_a_failed_attempt_wrote_is_undone,
    a_panic_is_a_failed_attempt,
    pauses_grow_with_each_attempt,
    the_last_attempt_that_fails_is_a_dead_letter_with_its_error,
    a_job_knows_its_last_attempt,
    a_job_that_gives_up_is_a_dead_letter_at_once,
    a_snoozed_job_keeps_what_it_wrote_and_its_attempts,
    fields_that_cannot_be_read_are_a_dead_letter_at_once,
    what_ends_oddly_is_noted,
    a_job_of_a_dead_process_runs_again_and_a_second_death_is_the_last,
    an_attempt_that_ends_forgives_a_death_before,
    a_job_that_others_have_taken_over_has_no_effect,
];

fn what_a_failed_attempt_wrote_is_undone() {
    let (client, _) = client(app());
    client.post("/notes/fail", &[]);
    let ran = run_one(&client).unwrap();
    assert!(ran.error.as_deref().is_some_and(|error| error.contains("it fails")), "{ran:?}");
    assert_eq!(notes(&client), "");
}

fn a_panic_is_a_failed_attempt() {
    let (client, _) = client(app());
    client.post("/notes/panic", &[]);
    let ran = run_one(&client).unwrap();
    assert!(!ran.is_dead() && ran.error.as_deref().is_some_and(|error| error.contains("it panics")), "{ran:?}");
    assert_eq!(notes(&client), "");
}

fn pauses_grow_with_each_attempt() {
    let (client, clock) = client(app());
    client.post("/notes/fail", &[]);
    for (attempt, pause) in [(1, 10), (2, 20), (3, 40), (4, 80)] {
        assert_eq!(run_one(&client).unwrap().attempt, attempt);
        clock.advance(Duration::from_millis(pause * 1000 - 1));
        assert_eq!(run_one(&client), None, "attempt {attempt} is followed by a pause");
        // A quarter at most is added at random.
        clock.advance(Duration::from_secs(pause) / 4 + Duration::from_millis(2));
    }
}

fn the_last_attempt_that_fails_is_a_dead_letter_with_its_error() {
    let (client, clock) = client(app());
    client.post("/notes/fail", &[]);
    for attempt in 1..=12 {
        let ran = run_one(&client).unwrap();
        assert_eq!((ran.attempt, ran.is_dead()), (attempt, attempt == 12));
        clock.advance(Duration::from_hours(8));
    }
    assert_eq!(run_one(&client), None);
    let row = ask(&client, "select state || ' ' || attempt || ' ' || error from skep_job");
    assert!(row.starts_with("2 12 ") && row.contains("it fails"), "{row}");
}

fn a_job_knows_its_last_attempt() {
    let (client, clock) = client(app());
    client.post("/notes/last%20attempt%20only", &[]);
    for _ in 1..12 {
        assert!(!run_one(&client).unwrap().is_done());
        clock.advance(Duration::from_hours(8));
    }
    assert!(run_one(&client).unwrap().is_done());
}

fn a_job_that_gives_up_is_a_dead_letter_at_once() {
    let (client, _) = client(app());
    client.post("/notes/give%20up", &[]);
    assert!(run_one(&client).unwrap().is_dead());
    assert_eq!(ask(&client, "select error from skep_job where state = 2"), "it cannot be done");
    assert_eq!(notes(&client), "");
}

fn a_snoozed_job_keeps_what_it_wrote_and_its_attempts() {
    let (client, clock) = client(app());
    client.post("/notes/snooze", &[]);
    for _ in 0..20 {
        assert_eq!(run_one(&client).unwrap().attempt, 1);
        assert_eq!(run_one(&client), None);
        clock.advance(Duration::from_mins(1));
    }
    assert_eq!(notes(&client).lines().count(), 20);
}

fn fields_that_cannot_be_read_are_a_dead_letter_at_once() {
    let (client, _) = client(app());
    client.post("/notes/a", &[]);
    change(&client, "update skep_job set payload = '{\"nte\":\"a\"}'");
    let ran = run_one(&client).unwrap();
    assert!(ran.is_dead() && ran.error.as_deref().is_some_and(|error| error.contains("missing field")), "{ran:?}");
}

fn what_ends_oddly_is_noted() {
    assert_noted(&client(app()).0);
}

/// Errors with zeros and of any length, pauses without an end, panics that are not the future's.
pub(crate) fn assert_noted(client: &skep::test::Client) {
    change(client, ODD);
    assert_eq!(run_due(client).len(), 5);
    let text = "case when length(error) = 10000 then substr(error, 1, 3) else error end";
    let rows = ask(client, &format!("select state || ' ' || {text} from skep_job order by id"));
    let [fail, panic, start, give_up, pause] = rows.lines().collect::<Vec<_>>()[..] else { panic!("{rows}") };
    assert_eq!((fail, panic, give_up), ("0 a\u{fffd}b", "0 pan", "2 a\u{fffd}b"));
    assert!(start.starts_with("0 ") && rows.contains("it does not start"), "{rows}");
    assert!(pause.starts_with("2 ") && rows.contains("it knows no pause"), "{rows}");
}

/// Claims all that is due for a runner whose lease ends in half a minute.
fn claim_as(client: &skep::test::Client, runner: i64) {
    change(client, &format!("update skep_job set state = 1, runner = {runner}, attempt = attempt + 1"));
    let lease = "insert into skep_job_runner (id, until) select ";
    let until = "max(at) + 30000 from skep_job";
    change(client, &format!("{lease}{runner}, {until}"));
}

fn a_job_of_a_dead_process_runs_again_and_a_second_death_is_the_last() {
    let (client, clock) = client(app());
    client.post("/notes/fail", &[]);
    claim_as(&client, 7);
    clock.advance(Duration::from_secs(29));
    assert_eq!(run_one(&client), None);
    clock.advance(Duration::from_secs(2));
    // It is given back, and does not run.
    change(&client, "insert into skep_job_pause (queue) values ('default')");
    assert_eq!(run_one(&client), None);
    change(&client, "delete from skep_job_pause");
    claim_as(&client, 8);
    clock.advance(Duration::from_hours(1));
    assert_eq!(run_one(&client), None);
    let row = ask(&client, "select state || ' ' || error from skep_job");
    assert!(row.starts_with("2 ") && row.contains("process died"), "{row}");
}

fn an_attempt_that_ends_forgives_a_death_before() {
    for note in ["fail", "snooze"] {
        let (client, clock) = client(app());
        client.post(&format!("/notes/{note}"), &[]);
        for runner in 1..=4 {
            claim_as(&client, runner);
            clock.advance(Duration::from_hours(8));
            assert!(!run_one(&client).unwrap().is_dead(), "{note}, death {runner}");
        }
    }
}

fn a_job_that_others_have_taken_over_has_no_effect() {
    use skep_jobs::prelude::*;

    /// In the place of another runner, which is quicker.
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Overtaken;

    impl Job for Overtaken {
        const KIND: &'static str = "note";

        async fn run(self, cx: &mut JobCx<'_>) -> skep::Result<Outcome> {
            cx.db().execute("update skep_job set runner = 1, attempt = attempt + 1").await?;
            let db = cx.transaction().await?;
            db.execute("insert into effect (job, note) values (1, 'too late')").await?;
            Ok(Outcome::Done)
        }
    }
    let (client, _) = client(crate::application::bare().jobs(jobs![Overtaken]));
    change(
        &client,
        "insert into skep_job (kind, queue, priority, at, created, payload) values ('note', 'default', 1, 0, 0, 'null')",
    );
    let ran = run_due(&client);
    assert!(ran.len() == 1 && !ran[0].is_done(), "{ran:?}");
    assert_eq!(notes(&client), "");
    assert_eq!(ask(&client, "select state || ' ' || runner from skep_job"), "1 1");
}
