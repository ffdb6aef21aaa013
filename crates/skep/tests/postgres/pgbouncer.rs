//! PgBouncer between us and the server, in its session mode.

use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use skep::offload::Inline;
use skep::sql::{Database, Options, query};
use skep_cluster::{as_server, give};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::{MIGRATIONS, on_runtime, shared};

/// Ends with the test.
struct PgBouncer {
    process: Child,
    folder: TempDir,
}

impl PgBouncer {
    fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("skep-pgbouncer").tempdir().unwrap();
        let settings = folder.path().join("pgbouncer.ini");
        let users = folder.path().join("users.txt");
        std::fs::write(&users, "\"skep\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host={}\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {}\nauth_type = trust\nauth_file = {}\npool_mode = session\n",
            shared().folder().display(),
            folder.path().display(),
            users.display(),
        );
        std::fs::write(&settings, text).unwrap();
        [folder.path(), &settings, &users].into_iter().for_each(give);
        let mut command = as_server("pgbouncer");
        command.arg(&settings).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("PgBouncer is installed: `cargo xtask setup` does so");
        let start = Instant::now();
        while !folder.path().join(".s.PGSQL.6432").exists() {
            assert!(start.elapsed() < Duration::from_secs(10), "PgBouncer does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { process, folder }
    }

    fn address(&self) -> String {
        format!("postgres://skep@/postgres?host={}&port=6432&pgbouncer=true", self.folder.path().display())
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn statements_and_transactions_go_through_it() {
    let bouncer = PgBouncer::start();
    let options = Options::new().statement_timeout(Duration::from_secs(1));
    let database = Database::temporary_postgres(&bouncer.address(), &MIGRATIONS, options, Arc::new(Inline)).unwrap();
    on_runtime(async {
        let db = database.local();
        for key in 0..10 {
            db.execute(query("insert into pair values (?, ?)", (key, format!("value of {key}")))).await.unwrap();
        }
        let transaction = db.transaction().await.unwrap();
        assert_eq!(transaction.execute("delete from pair where key > 4").await.unwrap().rows, 5);
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(10));
        transaction.commit().await.unwrap();
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(5));

        // A read of a client that has left is not cancelled: version 1.18 would end itself at that. It takes as long as
        // a statement may.
        assert!(timeout(Duration::from_millis(200), db.one::<i64>("select 1 from pg_sleep(60)")).await.is_err());
        let asleep =
            "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
        let start = Instant::now();
        while db.one::<i64>(asleep).await.unwrap() != Some(0) {
            assert!(start.elapsed() < Duration::from_secs(10), "it goes on");
            sleep(Duration::from_millis(20)).await;
        }
    });
}
