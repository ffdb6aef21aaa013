//! An application on PostgreSQL, native and as a component: `cargo xtask test external`.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use skep::Secret;
use skep_cluster::Cluster;

use super::guest::{Kept, component};
use super::site::{Said, Site, defaults};
use crate::application::Application;
use crate::data::ServerSettings;
use crate::options::Options;
use crate::settings::Cache;
use crate::table::Table;

/// It ends with the process.
fn shared() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

/// A new database in this cluster.
fn database(cluster: &Cluster) -> Secret<String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("hives_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut command = skep_cluster::as_server("createdb");
    let made = command.arg("-h").arg(cluster.folder()).args(["-U", "skep", &name]).status().unwrap();
    assert!(made.success(), "{name}");
    Secret::new(cluster.address_of(&name))
}

fn on(database: Option<Secret<String>>, kept: Kept, limits: Options) -> Site {
    // Compiled in a seventh of the time.
    let limits = Options { baseline: true, database, ..limits };
    Site::component_with(tempfile::tempdir().unwrap(), &component("skep-cli-hives"), kept, limits)
}

fn hives() -> Site {
    on(Some(database(shared())), Kept::Snapshot, defaults())
}

fn ask(site: &Site, text: &str) -> String {
    let mut form = String::from("text=");
    text.bytes().for_each(|byte| write!(form, "%{byte:02X}").unwrap());
    site.post("/ask", &form).text()
}

/// What `crates/skep-cli/tests/hives/tests/app.rs` asks of the native application, which has no place in this
/// executable: statements of others in it were checked for SQLite.
#[test]
#[ignore = "needs PostgreSQL"]
fn statements_rows_and_failures_are_those_of_a_native_application() {
    for kept in [Kept::Snapshot, Kept::Cached] {
        let site = on(Some(database(shared())), kept, defaults());
        let post = |path: &str| site.post(path, "").status;
        assert_eq!((post("/hives/Ash"), post("/hives/Ash")), (200, 500), "the name is there already");
        assert_eq!((post("/visits"), post("/visits"), post("/move")), (200, 200, 200));
        let latest = |query: &str| site.get(&format!("/latest{query}")).status;
        assert_eq!((latest(""), latest("?at=after~2000-01-01~1")), (303, 200));
        for wrong in ["after~no-date~1", "before~2026-13-01~1", "after~~1", "after~%00~1", "after~2026-01-01~x"] {
            assert_eq!(latest(&format!("?at={wrong}")), 400, "{wrong}");
        }
        for wrong in ["no-date", "2026-02-30", "a%00b", "0000-00-00", "999999999-01-01"] {
            let wrong = format!("?since={wrong}");
            assert_eq!((latest(&wrong), latest(&format!("{wrong}&at=after~2026-01-01~1"))), (400, 400), "{wrong}");
        }
        for (jar, keeper, said) in [("heather", "1", "filled"), ("heather", "1", "filled"), ("linden", "2", "filled")] {
            let fields = [("content-type", "application/x-www-form-urlencoded"), ("x-keeper", keeper)];
            assert_eq!(site.ask("POST", &format!("/honey/{jar}"), "grams=500", &fields).text(), said);
        }
        let honey = |keeper: &str| site.ask("GET", "/honey", "", &[("x-keeper", keeper)]).text();
        assert_eq!((honey("1"), honey("2")), ("heather 1000".to_owned(), "linden 500".to_owned()));
        assert_eq!(site.get("/honey").status, 401);
        for (text, said) in [
            ("select name from hive", r#"[Text("Ash")]"#),
            ("select 12.50::numeric union all select 'NaN'::numeric", r#"[Decimal("12.50"), Decimal("NaN")]"#),
            ("select '\\x00ff'::bytea", "[Blob([0, 255])]"),
            ("select null::text", "[Null]"),
            ("select 1.5::float8", "[Real(1.5)]"),
            ("select '{1,null}'::int[]", "[Array([Integer(1), Null])]"),
            (
                "select '10.0.0.1'::inet",
                "column `inet`: a value of type `inet` has to be written as `cast(... as text)`",
            ),
            ("select nothing", "column \"nothing\" does not exist; in: select nothing (busy false, unique false)"),
            ("select 1; select 2", "cannot insert multiple commands into a prepared statement"),
            ("insert into hive (name, frames) values ('Ash', 1)", "(busy false, unique true)"),
        ] {
            let heard = ask(&site, text);
            assert!(heard.contains(said), "{text}: {heard}");
        }
        assert_eq!(post("/hives/Birch,Lime"), 200);
        let names = ask(&site, "select array_agg(name order by name) from hive");
        assert_eq!(names, r#"[Array([Text("Ash"), Text("Birch"), Text("Lime")])]"#);
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_transaction_is_done_or_undone() {
    let site = hives();
    for name in ["Ash", "Linden"] {
        assert_eq!(site.post(&format!("/hives/{name}"), "").status, 200);
    }
    assert_eq!(site.post("/merge/Ash/Nowhere", "").status, 404);
    let frames = "select name || frames || coalesce(note, '') from hive order by 1";
    assert_eq!(ask(&site, frames), r#"[Text("Ash8"), Text("Linden8")]"#);
    assert_eq!(site.post("/merge/Ash/Linden", "").text(), r#"true Some("4.0000000000000000")"#);
    assert_eq!(ask(&site, frames), r#"[Text("Linden16")]"#);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_page_changes_with_what_it_shows() {
    let site = hives();
    let count = |said: Said| said.text().split(',').next().unwrap_or_default().to_owned();
    assert_eq!(count(site.get("/hives")), "Some(0) hives");
    for (hives, name) in ["Ash", "Linden"].iter().enumerate() {
        assert_eq!(count(site.get("/hives")), format!("Some({hives}) hives"));
        assert_eq!(site.post(&format!("/hives/{name}"), "").status, 200);
    }
    assert_eq!(count(site.get("/hives")), "Some(2) hives");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn nothing_is_left_on_a_connection() {
    let site = hives();
    for (text, reason) in [
        ("set app.user = 'ann'", "`set` is not for statements of a component"),
        ("select set_config('app.user', 'ann', false)", "has the form"),
        ("do $$ begin perform set_config('app.user', 'ann', false); end $$", "`do` is not for"),
        ("create temporary table t (a int)", "`create` is not for"),
        ("select 1 into local temp t", "belongs into a migration"),
        ("update pg_settings set setting = '1' where name = 'statement_timeout'", "reaches other requests"),
        ("select pg_advisory_lock(1)", "reaches other requests"),
        ("select lastval()", "returning"),
        ("begin", "`begin` is not for"),
    ] {
        let said = ask(&site, text);
        assert!(said.contains(reason), "{text}: {said}");
    }
    assert_eq!(ask(&site, "select set_config('app.user', 'ann', true)"), r#"[Text("ann")]"#);
    let left = ask(&site, "select coalesce(current_setting('app.user', true), '')");
    assert_eq!(left, r#"[Text("")]"#);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn rows_without_end_and_statements_without_end_cost_their_own_request() {
    let site = on(
        Some(database(shared())),
        Kept::Snapshot,
        Options { time: Duration::from_secs(2), error_page_time: Duration::from_secs(5), ..defaults() },
    );
    let rows = ask(&site, "select repeat('x', 1000000) from generate_series(1, 40)");
    assert!(rows.contains("more than 32 MiB"), "{}", &rows[..rows.len().min(300)]);
    let begun = Instant::now();
    assert_eq!(site.post("/ask", "text=select+pg_sleep(60)").status, 504);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(site.post("/hives/Ash", "").status, 200);
    // Each has a thread's only connections for writes, until it is cancelled.
    for _ in 0..4 {
        assert_eq!(site.post("/ask", "text=update+hive+set+note+=+'a'+where+pg_sleep(60)+is+null").status, 504);
    }
    let begun = Instant::now();
    assert_eq!(site.post("/hives/Linden", "").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_that_is_gone_is_found_again() {
    let mut cluster = Cluster::start();
    let site = on(Some(database(&cluster)), Kept::Snapshot, defaults());
    assert_eq!(site.post("/hives/Ash", "").status, 200);
    cluster.stop();
    assert_eq!(site.post("/hives/Linden", "").status, 503);
    cluster.start_again();
    let is_found = || site.post("/hives/Linden", "").status == 200;
    skep_client::wait_until(|| "the database is not found again".to_owned(), is_found);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_check_starts_on_a_database_of_its_own_and_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        name: "hives".into(),
        file: component("skep-cli-hives"),
        instances: 10,
        baseline: true,
        probe: "/hives".into(),
        ..defaults()
    };
    let table = Table::new(vec![Arc::new(Application::new(options))], None).unwrap_or_else(|error| panic!("{error}"));
    let table = Arc::new(table);
    let cluster = Cluster::start();
    let address = database(&cluster);
    let server = ServerSettings::for_check(folder.path().to_owned(), Vec::new(), Some(address));
    crate::serve::start(&table, &Cache::None, &server).unwrap_or_else(|error| panic!("{error}"));
    assert!(table.applications[0].current().is_some());
    drop((table, server));
    let mut psql = skep_cluster::as_server("psql");
    psql.arg("-h").arg(cluster.folder()).args(["-U", "skep", "-d", "postgres", "-qtAc"]);
    let left = psql.arg("select datname from pg_database where not datistemplate order by 1").output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&left.stdout).lines().filter(|name| !name.starts_with("hives_")).collect::<Vec<_>>(),
        ["postgres"]
    );
}

#[test]
#[should_panic(expected = "has migrations for PostgreSQL only; its host needs the setting `database`")]
fn without_an_address_it_does_not_start() {
    on(None, Kept::Snapshot, defaults());
}
