//! Who listens hears what is said, and is notified of what nobody can tell it any more.

use std::time::{Duration, Instant};

use skep::sql::{Local, Notification, Notifications, Options, query};
use skep_cluster::Cluster;
use tokio::time::{sleep, timeout};

use crate::{on_runtime, shared, with};

async fn say(db: &Local, channel: &str, what: &str) {
    db.execute(query("select pg_notify(?, ?)", (channel, what))).await.unwrap();
}

async fn hears(listening: &mut Notifications) -> Notification {
    timeout(Duration::from_secs(20), listening.next()).await.expect("something is said")
}

async fn is_silent(listening: &mut Notifications) -> bool {
    timeout(Duration::from_millis(100), listening.next()).await.is_err()
}

fn said(what: &str) -> Notification {
    Notification::Said(what.to_owned())
}

/// Backends of this database whose last statement was about listening.
async fn ears(db: &Local) -> Option<i64> {
    let ears = "select count(*) from pg_stat_activity where datname = current_database() and query ~ '^(un)?listen '";
    db.one(query(ears, ())).await.unwrap()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn all_who_listen_on_a_channel_hear_what_is_said_there() {
    with(shared(), Options::new(), async |db| {
        let [mut one, mut another] = [db.listen("news").await.unwrap(), db.listen("news").await.unwrap()];
        let mut odd = db.listen("Tom's \"news\"").await.unwrap();
        assert_eq!(ears(&db).await, Some(1), "they share a connection");
        say(&db, "news", "it rains").await;
        say(&db, "Tom's \"news\"", "").await;
        assert_eq!([hears(&mut one).await, hears(&mut another).await], [said("it rains"), said("it rains")]);
        assert_eq!(hears(&mut odd).await, said(""));

        // What is said in a transaction is heard when it is committed.
        let transaction = db.transaction().await.unwrap();
        transaction.execute("select pg_notify('news', 'it snows')").await.unwrap();
        assert!(is_silent(&mut one).await);
        transaction.commit().await.unwrap();
        assert_eq!(hears(&mut one).await, said("it snows"));

        drop((one, another));
        say(&db, "news", "nobody hears this").await;
        let mut late = db.listen("news").await.unwrap();
        assert!(is_silent(&mut late).await, "it is from before");
        say(&db, "news", "it hails").await;
        assert_eq!(hears(&mut late).await, said("it hails"));

        drop((late, odd));
        let start = Instant::now();
        while ears(&db).await != Some(0) {
            assert!(start.elapsed() < Duration::from_secs(10), "nobody listens, and the connection stays");
            sleep(Duration::from_millis(10)).await;
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn who_is_slow_is_notified_that_it_has_missed_something() {
    with(shared(), Options::new().notifications(3), async |db| {
        let [mut fast, mut slow] = [db.listen("steps").await.unwrap(), db.listen("steps").await.unwrap()];
        for step in ["1", "2", "3", "4"] {
            say(&db, "steps", step).await;
            assert_eq!(hears(&mut fast).await, said(step));
        }
        say(&db, "steps", "5").await;
        assert_eq!(hears(&mut fast).await, said("5"));
        assert_eq!([hears(&mut slow).await, hears(&mut slow).await], [Notification::Missed, said("5")]);
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_lost_connection_is_opened_again_and_everybody_is_notified() {
    let mut cluster = Cluster::start();
    let database = crate::database(&cluster, Options::new());
    on_runtime(async {
        let db = database.local();
        let [mut news, mut weather] = [db.listen("news").await.unwrap(), db.listen("weather").await.unwrap()];
        let end = "select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and query ~ '^(un)?listen '";
        db.all::<bool>(end).await.unwrap();
        assert_eq!([hears(&mut news).await, hears(&mut weather).await], [Notification::Missed, Notification::Missed]);
        say(&db, "weather", "it rains").await;
        assert_eq!(hears(&mut weather).await, said("it rains"));

        cluster.stop();
        let error = db.listen("prices").await.err().map(skep::Error::from);
        assert_eq!(error.map(|error| error.status().as_u16()), Some(503));
        assert!(is_silent(&mut news).await);
        cluster.start_again();
        assert_eq!([hears(&mut news).await, hears(&mut weather).await], [Notification::Missed, Notification::Missed]);
        // Statements have connections of their own, which may be found later than this one.
        let mut late = None;
        while late.is_none() {
            sleep(Duration::from_millis(50)).await;
            late = db.listen("late").await.ok();
        }
        while db.execute("select pg_notify('late', 'it snows')").await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(hears(&mut late.unwrap()).await, said("it snows"));
        assert!(is_silent(&mut news).await);
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_name_that_postgresql_would_shorten_is_refused() {
    with(shared(), Options::new(), async |db| {
        for name in ["", "a\0b", &"x".repeat(64)] {
            let error = db.listen(name).await.expect_err("it is no name").to_string();
            assert!(error.contains("1 to 63 bytes"), "{error}");
        }
        assert!(db.listen(&"x".repeat(63)).await.is_ok());
    });
}
