//! The same promises on PostgreSQL: `cargo xtask test external`.

use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use skep::cache::Clock;
use skep::test::Client;
use skep::{App, Secret, Setup};
use skep_cluster::Cluster;
use skep_drill::{Subject, folder, kill, wait_for};
use skep_jobs::prelude::*;
use skep_jobs::test::{run_due, run_one};

use crate::application::{app, ask, encoded};
use crate::disasters::{number, start};
use crate::page::Anybody;
use crate::servers::send;

crate::tests![
    on_postgres_a_job_is_undone_with_the_request_that_enqueued_it,
    on_postgres_a_failed_job_is_tried_again_and_is_a_dead_letter_in_the_end,
    on_postgres_a_unique_job_is_enqueued_once_in_its_period,
    on_postgres_no_job_runs_twice_where_many_claim,
    on_postgres_what_ends_oddly_is_noted,
    on_postgres_a_job_of_a_dead_process_runs_again,
    on_postgres_batches_end_once_where_many_run_them,
    on_postgres_what_has_ended_ends_a_batch,
    on_postgres_tables_of_the_version_before_are_brought_up_to_date,
    on_postgres_a_job_starts_with_the_commit,
    on_postgres_jobs_go_on_when_it_was_away,
];

fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

fn client() -> (Client, Clock) {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.database = Some(Secret::new(cluster().address().clone()));
    setup.clock = Clock::manual();
    let clock = setup.clock.clone();
    (Client::with_setup(app(), setup), clock)
}

fn notes(client: &Client) -> String {
    ask(client, "select note from effect order by job")
}

fn on_postgres_a_job_is_undone_with_the_request_that_enqueued_it() {
    let (client, _) = client();
    assert_eq!(client.post("/notes/a?fails=true", &[]).status(), 409);
    assert!(run_due(&client).is_empty());
    client.post("/notes/b", &[]);
    client.post("/notes/c?alone=true", &[]);
    assert_eq!(run_due(&client).len(), 2);
    assert_eq!(notes(&client), "b\nc");
}

fn on_postgres_a_failed_job_is_tried_again_and_is_a_dead_letter_in_the_end() {
    let (client, clock) = client();
    client.post("/notes/fail", &[]);
    for attempt in 1..=12 {
        let ran = run_one(&client).unwrap();
        assert_eq!((ran.attempt, ran.is_dead()), (attempt, attempt == 12));
        assert_eq!(run_one(&client), None);
        clock.advance(Duration::from_hours(8));
    }
    assert_eq!(notes(&client), "");
}

fn on_postgres_a_unique_job_is_enqueued_once_in_its_period() {
    let (client, clock) = client();
    let enqueue = || client.post("/notes/a?unique=key", &[]).text().to_owned();
    assert_ne!(enqueue(), "none");
    assert_eq!(enqueue(), "none");
    clock.advance(Duration::from_mins(10));
    assert_ne!(enqueue(), "none");
}

/// How many jobs four threads have run that claim at the same time.
fn run_by_four(client: &Client) -> usize {
    let threads = [(); 4].map(|()| {
        let client = client.clone();
        thread::spawn(move || run_due(&client).len())
    });
    threads.into_iter().map(|thread| thread.join().unwrap()).sum()
}

fn on_postgres_no_job_runs_twice_where_many_claim() {
    let (client, _) = client();
    client.post("/many/100", &[]);
    assert_eq!(run_by_four(&client), 100);
    assert_eq!(ask(&client, "select count(*) || ' ' || count(distinct job) from effect"), "100 100");
}

fn on_postgres_what_ends_oddly_is_noted() {
    crate::retries::assert_noted(&client().0);
}

/// The last two jobs of a batch end at the same time, again and again.
fn on_postgres_batches_end_once_where_many_run_them() {
    let (client, _) = client();
    for _ in 0..50 {
        client.post("/batch/a,b", &[]);
    }
    let ran = run_by_four(&client);
    // A thread that finds nothing to do may leave the last ends to others, and these to nobody.
    assert_eq!(ran + run_due(&client).len(), 150);
    assert_eq!(ask(&client, "select cast(count(*) as text) from effect where note = 'end, 0 dead'"), "50");
    assert_eq!(ask(&client, "select cast(count(*) as text) from skep_job"), "0");
}

fn on_postgres_what_has_ended_ends_a_batch() {
    let (client, _) = client();
    client.post("/batch/give%20up,a", &[]);
    client.post("/batch/none", &[]);
    assert_eq!(client.post("/batch/a?fails=true", &[]).status(), 409);
    let left = "select cast(id as text) from skep_job where payload like '%\"b\"%'";
    client.post("/batch/b", &[]);
    client.post(&format!("/cancel/{}", ask(&client, left)), &[]);
    let ran = run_due(&client);
    assert_eq!(ran.iter().filter(|ran| ran.kind == "end").count(), 3, "{ran:?}");
    assert_eq!(
        ask(&client, "select note from effect where note like 'end%' order by note"),
        "end, 0 dead\nend, 0 dead\nend, 1 dead"
    );
}

fn on_postgres_tables_of_the_version_before_are_brought_up_to_date() {
    let (cluster, folder) = (Cluster::start(), tempfile::tempdir().unwrap());
    crate::batches::assert_brought_up_to_date(|| {
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        setup.database = Some(Secret::new(cluster.address()));
        setup
    });
}

fn with_page() -> App {
    app().jobs_page::<Anybody>("/-/jobs")
}

fn on_postgres_a_job_of_a_dead_process_runs_again() {
    let (client, clock) = client();
    client.post("/notes/a", &[]);
    crate::application::change(&client, "update skep_job set state = 1, runner = 7, attempt = 1");
    crate::application::change(
        &client,
        "insert into skep_job_runner (id, until) select 7, max(at) + 30000 from skep_job",
    );
    assert_eq!(run_one(&client), None);
    clock.advance(Duration::from_secs(31));
    assert_eq!(run_one(&client).unwrap().attempt, 2);
    assert_eq!(notes(&client), "a");
}

/// By the runner of a server in this process, which PostgreSQL notifies: it would look in a minute only.
fn on_postgres_a_job_starts_with_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start();
    let arguments = ["--listen", "127.0.0.1:0", "--set", "log.access=false", "--set", "supervise=false", "--data"];
    let arguments = arguments.map(ToOwned::to_owned).into_iter();
    let database = ["--set".to_owned(), format!("database={}", cluster.address())];
    let data = [folder.path().display().to_string()];
    let server =
        skep_server::Server::new(with_page).allow_unmounted_services().arguments(arguments.chain(data).chain(database));
    let running = server.start().unwrap();
    let mut setup = Setup::default();
    setup.data = folder.path().join("other");
    setup.database = Some(Secret::new(cluster.address().clone()));
    // Another process, but for its place.
    let client = Client::with_setup(with_page(), setup);
    for number in 1..=4 {
        // The last one by the button of the page, and of another process too.
        let is_paused = number == 4;
        if is_paused {
            client.post("/-/jobs", &[("pause", "default")]);
        }
        client.post("/notes/a", &[]);
        if is_paused {
            // Nothing may happen meanwhile.
            thread::sleep(Duration::from_millis(300));
            assert_eq!(ask(&client, "select cast(count(*) as text) from effect"), "3");
            client.post("/-/jobs", &[("resume", "default")]);
        }
        let is_done = || ask(&client, "select cast(count(*) as text) from effect") == number.to_string();
        wait_for(Duration::from_secs(10), || "the runner was not notified".to_owned(), is_done);
    }
    running.stop();
}

/// While it is away, a worker is killed, too. What the job at work has failed is tried again.
fn on_postgres_jobs_go_on_when_it_was_away() {
    let (mut cluster, subject) = (Cluster::start(), Subject::ours().unwrap());
    let settings = ["--set".to_owned(), format!("database={}", cluster.address())];
    let server = start(&subject, folder().unwrap(), &settings, None);
    let count = |what: &str| number(&server.address, &format!("count(*) from {what}"));
    for kills in [false, true] {
        send(&server.address, "/ordered/20");
        cluster.stop();
        if kills {
            server.family().into_iter().for_each(|pid| kill(pid, Signal::KILL));
            wait_for(
                Duration::from_secs(20),
                || server.errors(),
                || server.errors().contains("a worker did not start"),
            );
        }
        cluster.start_again();
        let due =
            || send(&server.address, &format!("/change?sql={}", encoded("update skep_job set at = 0 where state = 0")));
        let is_done = || {
            // They need not wait for ten seconds.
            due();
            send(&server.address, "/notes/look");
            let ends = count("effect where note like 'end%'");
            ends.is_some() && ends == count("asked")
        };
        wait_for(Duration::from_secs(30), || format!("jobs are left: {}", server.errors()), is_done);
    }
    let many = "effect where note = 'many'";
    assert_eq!(count(many), number(&server.address, "sum(jobs) from asked"));
    assert_eq!(number(&server.address, "count(distinct job) from effect where note = 'many'"), count(many));
}
