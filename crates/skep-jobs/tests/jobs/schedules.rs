//! Jobs by cron patterns: clocks that are put forward and back, runs that were missed, and schedules that are wrong.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep::cache::Clock;
use skep::prelude::*;
use skep::sql::query;
use skep::test::Client;
use skep_jobs::prelude::*;
use skep_jobs::test::run_due;
use skep_jobs::{Jobs, Missed};

use crate::application::{ask, bare, change, client};

crate::tests![
    a_schedule_begins_with_its_next_moment,
    a_run_in_the_gap_of_march_is_once_and_at_its_end,
    a_run_in_the_hour_that_october_repeats_is_once,
    of_missed_runs_the_last_one_is_made_up_for,
    missed_runs_may_be_skipped,
    missed_runs_may_each_be_made_up_for,
    a_run_is_not_lost_after_a_clock_that_was_days_ahead,
    of_two_processes_one_enqueues,
    a_pattern_or_zone_that_is_none_keeps_the_application_from_starting,
];

/// Notes the moment of its schedule, in seconds.
#[derive(Serialize, Deserialize)]
struct Nightly;

impl Job for Nightly {
    const KIND: &'static str = "nightly";

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        let due = cx.due().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let db = cx.transaction().await?;
        db.execute(query("insert into effect (job, note) values (?, ?)", (cx.id(), due.to_string()))).await?;
        Ok(Outcome::Done)
    }
}

fn nightly(missed: Missed) -> Jobs {
    jobs![Nightly].cron_missed("30 2 * * *", "Europe/Berlin", missed, Nightly)
}

/// A client at this moment, in seconds since 1970, when the schedules begin.
fn client_at(seconds: u64, jobs: Jobs) -> (Client, Clock) {
    let (client, clock) = client(bare().jobs(jobs));
    go(&clock, seconds);
    assert!(run_due(&client).is_empty());
    (client, clock)
}

fn go(clock: &Clock, seconds: u64) {
    clock.advance(Duration::from_millis(seconds * 1000 - clock.now().millis()));
}

/// The moments of runs so far.
fn moments(client: &Client) -> String {
    run_due(client);
    ask(client, "select coalesce(group_concat(note, ' '), '') from (select note from effect order by rowid)")
}

/// 26 March 2027, 12:00 UTC.
const MARCH: u64 = 1_806_062_400;

/// 30 October 2027, 00:00 UTC.
const OCTOBER: u64 = 1_824_854_400;

const DAY: u64 = 86_400;

fn a_schedule_begins_with_its_next_moment() {
    let (client, clock) = client_at(MARCH, nightly(Missed::RunOnce));
    // 27 March, 02:30 in Berlin.
    let first = MARCH + 13 * 3600 + 1800;
    go(&clock, first - 1);
    assert_eq!(moments(&client), "");
    go(&clock, first);
    assert_eq!(moments(&client), first.to_string());
    assert_eq!(moments(&client), first.to_string());
}

fn a_run_is_not_lost_after_a_clock_that_was_days_ahead() {
    for missed in [Missed::RunOnce, Missed::RunEach, Missed::Skip] {
        let (client, clock) = client_at(MARCH, nightly(missed));
        change(&client, &format!("update skep_job_schedule set last = {}", (MARCH + 9 * DAY) * 1000));
        let first = MARCH + 13 * 3600 + 1800;
        go(&clock, first);
        assert_eq!(moments(&client), first.to_string());
        assert_eq!(moments(&client), first.to_string());
    }
}

/// On 28 March 2027 there is no time between 02:00 and 03:00 in Berlin: 03:00 there is 01:00 UTC.
fn a_run_in_the_gap_of_march_is_once_and_at_its_end() {
    let (client, clock) = client_at(MARCH + DAY, nightly(Missed::RunOnce));
    let gap = MARCH + DAY + 13 * 3600;
    go(&clock, gap - 1);
    assert_eq!(moments(&client), "");
    go(&clock, gap);
    assert_eq!(moments(&client), gap.to_string());
    // The next one is at 02:30 of the next day, in summer time.
    let next = gap + DAY - 1800;
    go(&clock, next - 1);
    assert_eq!(moments(&client), gap.to_string());
    go(&clock, next);
    assert_eq!(moments(&client), format!("{gap} {next}"));
}

/// On 31 October 2027 there are two times 02:30 in Berlin: at 00:30 and at 01:30 UTC.
fn a_run_in_the_hour_that_october_repeats_is_once() {
    let (client, clock) = client_at(OCTOBER + DAY / 2, nightly(Missed::RunOnce));
    let first = OCTOBER + DAY + 1800;
    go(&clock, first);
    assert_eq!(moments(&client), first.to_string());
    go(&clock, first + 3600);
    assert_eq!(moments(&client), first.to_string());
    let next = first + DAY + 3600;
    go(&clock, next - 1);
    assert_eq!(moments(&client), first.to_string());
    go(&clock, next);
    assert_eq!(moments(&client), format!("{first} {next}"));
}

/// 02:30 in summer, on the third, fourth and fifth day after 26 March.
fn missed(policy: Missed, late: u64) -> (String, [u64; 3]) {
    let (client, clock) = client_at(MARCH + 2 * DAY, nightly(policy));
    let first = MARCH + 2 * DAY + 12 * 3600 + 1800;
    let all = [first, first + DAY, first + 2 * DAY];
    go(&clock, all[2] + late);
    (moments(&client), all)
}

fn of_missed_runs_the_last_one_is_made_up_for() {
    let (ran, all) = missed(Missed::RunOnce, 3600);
    assert_eq!(ran, all[2].to_string());
}

fn missed_runs_may_be_skipped() {
    assert_eq!(missed(Missed::Skip, 3600).0, "");
    let (ran, all) = missed(Missed::Skip, 30);
    assert_eq!(ran, all[2].to_string());
}

fn missed_runs_may_each_be_made_up_for() {
    let (ran, all) = missed(Missed::RunEach, 3600);
    assert_eq!(ran, all.map(|at| at.to_string()).join(" "));
}

/// Both look at the same time: the database says who enqueues.
fn of_two_processes_one_enqueues() {
    let (client, clock) = client_at(MARCH, nightly(Missed::RunOnce));
    go(&clock, MARCH + DAY);
    let (one, other) = (client.clone(), client.clone());
    let threads = [one, other].map(|client| std::thread::spawn(move || run_due(&client).len()));
    let ran: usize = threads.map(|thread| thread.join().unwrap()).into_iter().sum();
    assert_eq!(ran, 1);
}

fn a_pattern_or_zone_that_is_none_keeps_the_application_from_starting() {
    let problem = |jobs: Jobs| {
        let mut setup = skep::Setup::default();
        setup.temporary_database = true;
        bare().jobs(jobs).open(setup).expect_err("it does not start").to_string()
    };
    let text = problem(jobs![Nightly].cron("30 25 * * *", "Europe/Berlin", Nightly));
    assert!(text.contains("Jobs::cron(\"30 25 * * *\", \"Europe/Berlin\", ..)"), "{text}");
    let text = problem(jobs![Nightly].cron("30 2 * * *", "Europe/Bärlin", Nightly));
    assert!(text.contains("Bärlin"), "{text}");
    let text = problem(jobs![].cron("30 2 * * *", "Europe/Berlin", Nightly));
    assert!(text.contains("is not among jobs![...]"), "{text}");
}
