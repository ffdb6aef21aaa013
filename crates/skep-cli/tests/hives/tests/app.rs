//! Statements that PostgreSQL checked, on PostgreSQL: `cargo xtask test external`.

use std::sync::{Arc, OnceLock};

use skep::offload::Inline;
use skep::sql::{Checked, Database, Dialect, Local, Options, PageNumber};
use skep::test::Client;
use skep::{Method, Secret, Setup, sql};
use skep_cli_hives::{
    Hive, MIGRATIONS, Order, add, add_all, add_apiary, app, frames, hives, lists, moments, named, names, remove,
    summary, visit, visited, visits,
};
use skep_cluster::Cluster;
use tokio::runtime::LocalOptions;

/// It ends with the process.
fn shared() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

fn with<F: Future<Output = skep::sql::Result<()>>>(test: impl FnOnce(Local) -> F) {
    let (address, offload) = (shared().address(), Arc::new(Inline));
    let database = Database::temporary_postgres(&address, &MIGRATIONS, Options::new(), offload).unwrap();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(async { test(database.local()).await }).unwrap();
}

fn hive(name: &str, frames: i64, note: Option<&str>) -> Hive {
    Hive { name: name.to_owned(), frames, note: note.map(str::to_owned) }
}

async fn two(db: &Local) -> skep::sql::Result<(i64, i64)> {
    let one = add(db, &hive("Linden", 10, None)).await?.unwrap();
    let other = add(db, &hive("Ash \"2\", {b\\c}", 12, Some("strong"))).await?.unwrap();
    Ok((one, other))
}

#[test]
#[ignore = "needs PostgreSQL"]
fn conditional_parts_choose_the_statement() {
    with(async |db| {
        two(&db).await?;
        let names = |hives: Vec<Hive>| hives.into_iter().map(|hive| hive.name).collect::<Vec<_>>();
        assert_eq!(hives(&db, 10, true, Order::Name).await?, [hive("Ash \"2\", {b\\c}", 12, Some("strong"))]);
        assert_eq!(names(hives(&db, 10, false, Order::Frames).await?), ["Ash \"2\", {b\\c}", "Linden"]);
        assert_eq!(names(hives(&db, 11, false, Order::Name).await?), ["Ash \"2\", {b\\c}"]);
        Ok(())
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn moments_and_days_are_those_of_jiff() {
    with(async |db| {
        let (linden, _) = two(&db).await?;
        visit(&db, linden, None, true).await?;
        let all = moments(&db, jiff::Timestamp::UNIX_EPOCH).await?;
        assert_eq!(all[0].1, Some(jiff::civil::date(2026, 4, 1)));
        assert_eq!(moments(&db, all[0].0).await?, [], "to the microsecond");
        Ok(())
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_list_is_an_array_whatever_is_in_its_texts() {
    with(async |db| {
        two(&db).await?;
        let odd = "Ash \"2\", {b\\c}";
        assert_eq!(named(&db, &[odd, "NULL"], false).await?, [odd]);
        assert_eq!(named(&db, &[odd], true).await?, ["Linden"]);
        assert_eq!(named(&db, &[], false).await?, [""; 0]);
        assert_eq!(named(&db, &[], true).await?, ["Linden", odd]);
        Ok(())
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn arrays_are_parameters_and_columns() {
    with(async |db| {
        assert!(lists(&db).await.unwrap_err().to_string().contains("found NULL"));
        assert_eq!(add_all(&db, &["Lime", "Birch"], vec![Some(4), None]).await?.len(), 2);
        assert_eq!(lists(&db).await?, Some((vec!["Birch".to_owned(), "Lime".to_owned()], Some(vec![None, None]))));
        assert_eq!(hives(&db, 10, false, Order::Name).await?.len(), 1);
        Ok(())
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn pages_have_each_row_once_forwards_and_backwards() {
    with(async |db| {
        let (linden, ash) = two(&db).await?;
        for nth in 0..8 {
            visit(&db, if nth % 2 == 0 { linden } else { ash }, None, nth % 4 == 0).await?;
        }
        let (mut seen, mut page) = (Vec::new(), visits(&db, None, None).await?);
        assert!(page.previous.is_none());
        loop {
            seen.extend(page.iter().map(|visit| visit.id));
            let Some(next) = page.next.clone() else { break };
            page = visits(&db, Some(next), None).await?;
        }
        assert_eq!(seen, [8, 7, 6, 5, 4, 3, 2, 1]);
        let mut back = Vec::new();
        while let Some(previous) = page.previous.clone() {
            page = visits(&db, Some(previous), None).await?;
            back.splice(0..0, page.iter().map(|visit| visit.id));
        }
        assert_eq!(back, seen[..6]);
        let healthy = visits(&db, None, Some(true)).await?;
        assert_eq!((healthy.len(), healthy.next), (2, None));
        let first = names(&db, PageNumber::FIRST).await?;
        assert_eq!((first.len(), first.previous, first.next), (2, None, None));
        Ok(())
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn types_and_nulls_are_those_that_come() {
    with(async |db| {
        let (linden, _) = two(&db).await?;
        for (weight, healthy) in [(Some(31.5), true), (None, false)] {
            assert_eq!(visit(&db, linden, weight, healthy).await?.rows, 1);
        }
        assert_eq!(frames(&db).await?, Some((Some("22".to_owned()), Some(11.0), Some(22))));
        let lines = summary(&db).await?;
        assert_eq!(lines[0], "Linden 2 of 2 Some(31.5) Some(false) - 2026-04-01 Some(1)");
        assert_eq!(lines[1], "Ash \"2\", {b\\c} 0 of 2 None None strong 2026-04-01 Some(1)");
        assert_eq!(visited(&db).await?, [("Ash \"2\", {b\\c}".to_owned(), 0), ("Linden".to_owned(), 2)]);
        assert_eq!(add_apiary(&db, "meadow").await?.rows, 1);
        assert_eq!(remove(&db, "Linden").await?, 1);
        Ok(())
    });
}

fn tables(checked: &Checked) -> (Vec<&str>, Vec<&str>) {
    let names = |pairs: &[(&'static str, &str)]| pairs.iter().map(|(table, _)| *table).collect();
    (names(checked.reads()), names(checked.writes()))
}

/// Needs no server: this is known since the test was compiled.
#[test]
fn what_is_read_and_written_is_known_through_views_keys_and_triggers() {
    let name = "Linden";
    let read = sql!((String, i64), "select name, visits from visited order by name");
    assert_eq!(tables(read.checked().unwrap()), (vec!["hive", "visit"], vec![]));
    let delete = sql!("delete from hive where name = ?", name);
    assert_eq!(tables(delete.checked().unwrap()).1, ["hive", "visit"]);
    let update = sql!("update hive set note = null where name = ?", name);
    assert_eq!(tables(update.checked().unwrap()).1, ["hive"]);
    let active = sql!("delete from apiary");
    assert_eq!(tables(active.checked().unwrap()).1, ["*"]);
    let sequence = sql!(i64, "select nextval('hive_id_seq') as \"next!\"");
    assert!(!sequence.checked().unwrap().reads_only());
    assert_eq!(read.checked().unwrap().dialect(), Dialect::Postgres);
    assert!(read.checked().unwrap().reads_only());
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_write_invalidates_pages_that_read_its_tables_and_those_of_which_nothing_is_known() {
    let client = Client::with_setup(app(), setup());
    let post = |path: &str| assert_eq!(client.post(path, &[]).status(), 200);
    let get = |path: &str| client.get(path).text().to_owned();
    post("/hives/Ash");
    let (hives, visits) = (get("/hives"), get("/visits"));
    assert_eq!((get("/hives"), get("/visits")), (hives.clone(), visits.clone()));
    post("/visits");
    assert_eq!(get("/hives"), hives, "a table that it does not read");
    let again = get("/visits");
    assert_ne!(again, visits, "what it reads is not known");
    post("/hives/Linden");
    let new = get("/hives");
    assert_ne!(new, hives);
    assert_ne!(get("/visits"), again);
    post("/move");
    assert_ne!(get("/hives"), new, "what a trigger writes is not known");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_keeper_has_their_own_honey_only() {
    let client = Client::with_setup(app(), setup());
    let request = |method, path: &str, keeper: &str| client.request(method, path).header("x-keeper", keeper);
    let get = |path: &str, keeper: &str| request(Method::GET, path, keeper).send().text().to_owned();
    let post = |path: &str, keeper: &str| {
        request(Method::POST, path, keeper).form(&[("grams", "500")]).send().text().to_owned()
    };
    for (jar, keeper) in [("heather", "1"), ("heather", "1"), ("linden", "2"), ("heather", "2")] {
        assert_eq!(post(&format!("/honey/{jar}"), keeper), "filled");
    }
    assert_eq!(
        (get("/honey", "1"), get("/honey", "2")),
        ("heather 1000".to_owned(), "heather 500\nlinden 500".to_owned())
    );
    assert_eq!(
        (post("/honey/linden/eat", "1"), post("/honey/heather/eat", "1")),
        ("0 eaten".to_owned(), "1 eaten".to_owned())
    );
    assert_eq!((get("/honey", "1"), get("/honey/total", "1")), (String::new(), "Some(1000)".to_owned()));
    assert_eq!(client.get("/honey").status(), 401);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_cursor_that_is_no_value_of_the_columns_is_the_clients_error() {
    let client = Client::with_setup(app(), setup());
    assert_eq!(client.post("/hives/Ash", &[]).status(), 200);
    for _ in 0..2 {
        assert_eq!(client.post("/visits", &[]).status(), 200);
    }
    let last = client.get("/latest");
    assert!(last.url().starts_with("/latest?at=after%7E2"), "{}", last.url());
    assert_eq!(last.text(), "1 is the last one");
    for wrong in ["after~no-date~1", "before~2026-13-01~1", "after~~1", "after~%00~1", "after~2026-01-01~x"] {
        let response = client.get(&format!("/latest?at={wrong}"));
        assert_eq!(response.status(), 400, "{wrong}: {:?}", response.cause());
        assert!(response.text().contains("a place in the list, as its links"), "{}", response.text());
    }
    // What else is wrong is the client's fault, too, and none of the cursor's.
    for wrong in ["no-date", "2026-02-30", "a%00b", "0000-00-00", "999999999-01-01"] {
        for at in ["", "&at=after~2026-01-01~1"] {
            let response = client.get(&format!("/latest?since={wrong}{at}"));
            assert_eq!(response.status(), 400, "{wrong}{at}: {:?}", response.cause());
            assert!(!response.text().contains("a place in the list"), "{}", response.text());
        }
    }
}

#[test]
fn an_application_for_postgres_does_not_open_sqlite() {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    let refused = app().open(setup).map(drop).unwrap_err().to_string();
    assert!(refused.contains("was checked for PostgreSQL: set `database`"), "{refused}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_check_finds_nothing_wrong_with_it() {
    let mut setup = Setup::default();
    setup.database = Some(Secret::new(shared().address()));
    app().check(&setup).unwrap();
}

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.database = Some(Secret::new(shared().address()));
    setup.temporary_database = true;
    setup
}
