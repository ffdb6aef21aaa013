//! A database that Litestream replicates while it is written: `cargo xtask test replication`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use skep::offload::Inline;
use skep::sql::{Database, Options, query};

use crate::support::SCHEMA;

const ROWS: u32 = 3000;

/// Where `cargo xtask setup replication` has put it.
fn litestream() -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/skep");
    Command::new(root.join("target/tools/litestream-0.5.18/litestream"))
}

/// Replicates until it is killed.
fn replicate(file: &Path, replica: &str) -> Child {
    let mut command = litestream();
    command.arg("replicate").arg(file).arg(replica).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("Litestream is installed: `cargo xtask setup` does so")
}

fn open(file: &Path) -> Database {
    Database::open(file, &SCHEMA, Options::new(), Arc::new(Inline)).unwrap()
}

/// How many posts a restored copy has, if there is one. It is opened as the application does, migrations compared.
fn restored(folder: &Path, replica: &str, nth: u32) -> Option<i64> {
    let copy: PathBuf = folder.join(format!("copy{nth}.sqlite"));
    let output = litestream().arg("restore").arg("-o").arg(&copy).arg(replica).output().unwrap();
    if !output.status.success() {
        return None;
    }
    let sound = open(&copy).write(|db| db.one::<String>("pragma integrity_check")).unwrap();
    assert_eq!(sound.as_deref(), Some("ok"));
    open(&copy).write(|db| db.one("select count(*) from post")).unwrap()
}

#[test]
#[ignore = "needs Litestream"]
fn litestream_has_each_commit_also_those_that_came_while_it_was_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (file, replica) =
        (folder.path().join("database.sqlite"), format!("file://{}/replica", folder.path().display()));
    let database = open(&file);
    let mut running = replicate(&file, &replica);
    let begun = Instant::now();
    while !folder.path().join("replica").is_dir() {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    for row in 0..ROWS {
        database.write(|db| db.execute(query("insert into post (title) values (?)", row.to_string()))).unwrap();
        if row == ROWS / 3 {
            running.kill().unwrap();
            running.wait().unwrap();
        } else if row == ROWS / 3 * 2 {
            running = replicate(&file, &replica);
        }
    }
    let (begun, mut tries) = (Instant::now(), 0);
    while restored(folder.path(), &replica, tries) != Some(ROWS.into()) {
        assert!(begun.elapsed() < Duration::from_mins(1), "{:?} rows", restored(folder.path(), &replica, tries + 1));
        std::thread::sleep(Duration::from_millis(500));
        tries += 1;
    }
    running.kill().unwrap();
    running.wait().unwrap();
}
