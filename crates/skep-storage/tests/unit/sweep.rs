//! Sweeps of several machines, over many files, of which some cannot be removed.

use std::fs;
use std::path::PathBuf;

use skep::App;
use skep::sql::{Migrations, query};
use skep::test::Client;

use super::*;
use crate::app::StorageApp;
use crate::cx::StorageCx;
use crate::new_file::NewFile;
use crate::record::FileRecord;

fn client() -> Client {
    Client::new(App::new().database(Migrations::new(&[])).storage())
}

/// A file whose transaction is committed.
fn stored(client: &Client) -> FileRecord {
    client.with_cx(async |cx| cx.store_file(NewFile::new("a.txt", "text/plain", "a")).await).unwrap()
}

fn path(client: &Client, path: &str) -> PathBuf {
    client.site().data().join("files").join(path)
}

/// The notes as a sweep finds them when they are older than any transaction.
fn old_notes(client: &Client) -> Vec<(Key, SystemTime)> {
    let notes = notes(client);
    notes.into_iter().map(|(key, since)| (key, since - ORPHANED - Duration::from_mins(1))).collect()
}

fn notes(client: &Client) -> Vec<(Key, SystemTime)> {
    let Files::Folder(folder) = &Storage::of(client.site()).place else { panic!("files are in a folder") };
    folder.notes().unwrap()
}

#[test]
fn a_sweep_that_another_one_overtakes_removes_no_committed_file() {
    let client = client();
    let file = stored(&client);
    let listed = old_notes(&client);
    assert_eq!(listed.len(), 1);
    remove_orphans(client.site()).unwrap();
    // The other one has removed note and row since.
    assert!(!path(&client, &file.key.note()).exists());
    block_on(settle_all(client.site(), listed)).unwrap();
    assert!(path(&client, &file.key.path()).exists());
}

#[test]
fn a_key_that_cannot_be_removed_stops_no_sweep() {
    let client = client();
    let files: Vec<_> = (0..3).map(|_| stored(&client)).collect();
    let mut keys: Vec<_> = files.iter().map(|file| file.key.clone()).collect();
    keys.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    // The first one is a folder, which is no file to be removed.
    let bad = path(&client, &keys[0].path());
    fs::remove_file(&bad).unwrap();
    fs::create_dir(&bad).unwrap();
    for file in files {
        client.with_cx(async move |cx| cx.delete_stored(&file).await).unwrap();
    }
    assert!(remove_deleted(client.site()).is_err());
    let there: Vec<_> = keys.iter().map(|key| path(&client, &key.path()).exists()).collect();
    assert_eq!(there, [true, false, false]);
    fs::remove_dir(&bad).unwrap();
    remove_deleted(client.site()).unwrap();
    assert_eq!(client.site().db().write(|db| db.all(schema::removed_after(""))).unwrap(), Vec::<String>::new());
}

#[test]
fn more_files_than_are_read_at_once_are_removed_by_one_sweep() {
    let client = client();
    let insert = "insert into skep_file (key, removed) with recursive n (i) as
         (select 1 union all select i + 1 from n where i < ?) select printf('%032x', i), 1 from n";
    let many = i64::from(schema::AT_ONCE) + 5;
    client.site().db().write(|db| db.execute(query(insert, many).own())).unwrap();
    remove_deleted(client.site()).unwrap();
    assert_eq!(client.site().db().write(|db| db.all(schema::removed_after(""))).unwrap(), Vec::<String>::new());
}
