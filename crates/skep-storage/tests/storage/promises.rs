//! What holds wherever files are. Each promise is given a client of its own application, and the folder where the bytes
//! are in the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream;
use skep::sql::query;
use skep::test::{Client, TestResponse};
use skep::{Body, Method};
use skep_storage::prelude::*;

use crate::application::record;

pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and the rest of a picture";

/// A promise by its name.
type Promise = (&'static str, fn(&Client, &Path));

pub(crate) const ALL: &[Promise] = &[
    ("a_file_is_served_as_what_it_is", a_file_is_served_as_what_it_is),
    ("plain_text_is_shown_in_every_encoding", plain_text_is_shown_in_every_encoding),
    ("ranges_and_conditions_are_kept", ranges_and_conditions_are_kept),
    ("a_file_of_an_undone_transaction_goes_away", a_file_of_an_undone_transaction_goes_away),
    ("a_file_of_a_committed_transaction_stays", a_file_of_a_committed_transaction_stays),
    ("a_file_is_deleted_with_its_transaction", a_file_is_deleted_with_its_transaction),
    ("a_link_is_followed_by_who_has_it", a_link_is_followed_by_who_has_it),
    ("a_copy_is_a_file_of_its_own", a_copy_is_a_file_of_its_own),
    ("large_files_go_through_piece_by_piece", large_files_go_through_piece_by_piece),
    ("an_empty_file_is_one", an_empty_file_is_one),
    ("several_files_hold_up_no_writer", several_files_hold_up_no_writer),
];

pub(crate) fn add(client: &Client, path: &str, (name, kind, bytes): (&str, &str, &[u8])) -> TestResponse {
    client.request(Method::POST, path).files(&[], &[("file", name, kind, bytes)]).send()
}

/// The number of a stored file.
fn added(client: &Client, file: (&str, &str, &[u8])) -> i64 {
    add(client, "/files", file).text().parse().expect("a number")
}

pub(crate) fn run_job(client: &Client, name: &str) {
    client.site().jobs().iter().find(|job| job.name() == name).expect("there is such a job").run(client.site());
}

/// All files below a folder with this ending of their path, the newest last.
fn stored(folder: &Path, wanted: impl Fn(&str) -> bool + Copy) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(stored(&path, wanted));
        } else if wanted(&path.to_string_lossy()) {
            found.push(path);
        }
    }
    found
}

/// Files, without their notes.
fn files(folder: &Path) -> Vec<PathBuf> {
    stored(folder, |path| !path.contains("/pending/"))
}

pub(crate) fn notes(folder: &Path) -> Vec<PathBuf> {
    stored(folder, |path| path.contains("/pending/"))
}

/// Makes a note older than any transaction.
pub(crate) fn age(note: &Path) {
    let past = SystemTime::now() - Duration::from_hours(25);
    fs::File::options().write(true).open(note).unwrap().set_modified(past).unwrap();
}

fn a_file_is_served_as_what_it_is(client: &Client, _: &Path) {
    // What the browser says is wrong, and its name tries to leave.
    let id = added(client, ("../../Grüße\u{202e}.png", "text/html", PNG));
    let answer = client.get(&format!("/files/{id}"));
    assert_eq!((answer.status().as_u16(), &**answer.body()), (200, PNG));
    assert_eq!(answer.header("content-type"), Some("image/png"));
    let disposition = "inline; filename=\"Gr__e.png\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.png";
    assert_eq!(answer.header("content-disposition"), Some(disposition));

    let page = &b"<!doctype html><script>alert(1)</script>"[..];
    for (name, kind, bytes, expected) in [
        ("page.txt", "text/plain", page, "text/html"),
        ("drawing.svg", "image/svg+xml", b"<svg onload='alert(1)'/>", "image/svg+xml"),
        ("table.csv", "text/csv; charset=utf-8", b"a,b\r\n", "text/csv"),
        ("fake.png", "image/png", b"not a picture", "application/octet-stream"),
        ("odd", "no media type", b"odd", "application/octet-stream"),
    ] {
        let answer = client.get(&format!("/files/{}", added(client, (name, kind, bytes))));
        assert_eq!(answer.header("content-type"), Some(expected), "{name}");
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(answer.header("content-disposition"), Some(&*disposition));
        assert!(answer.header("content-security-policy").unwrap().ends_with("sandbox"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

fn plain_text_is_shown_in_every_encoding(client: &Client, _: &Path) {
    let store = async |cx: &mut skep::Cx<'_>| cx.store_file(NewFile::new("a", "text/plain; charset=utf-8", "a")).await;
    assert!(client.with_cx(store).unwrap().is_shown());
}

fn ranges_and_conditions_are_kept(client: &Client, _: &Path) {
    let path = format!("/files/{}", added(client, ("digits.txt", "text/plain", b"0123456789")));
    let whole = client.get(&path);
    let (tag, date) = (whole.header("etag").unwrap(), whole.header("last-modified").unwrap());
    assert_eq!((whole.header("content-length"), whole.header("accept-ranges")), (Some("10"), Some("bytes")));
    let ask = |fields: &[(&str, &str)]| {
        let request =
            fields.iter().fold(client.request(Method::GET, &path), |all, (name, value)| all.header(name, value));
        let answer = request.send();
        (answer.status().as_u16(), answer.text().to_owned())
    };
    assert_eq!(ask(&[("range", "bytes=2-4")]), (206, "234".into()));
    assert_eq!(ask(&[("range", "bytes=-3"), ("if-range", tag)]), (206, "789".into()));
    assert_eq!(ask(&[("range", "bytes=2-4"), ("if-range", "\"other\"")]), (200, "0123456789".into()));
    assert_eq!(ask(&[("range", "bytes=10-")]).0, 416);
    assert_eq!(ask(&[("if-none-match", tag)]), (304, String::new()));
    assert_eq!(ask(&[("if-modified-since", date)]), (304, String::new()));
    assert_eq!(ask(&[("if-match", "\"other\"")]).0, 412);
    // Several ranges are all of it, which is allowed.
    let long = format!("/files/{}", added(client, ("long.txt", "text/plain", &[b'a'; 1000])));
    let several = client.request(Method::GET, &long).header("range", "bytes=0-0,500-500").send();
    assert_eq!((several.status().as_u16(), several.text().len()), (200, 1000));
    let head = client.request(Method::HEAD, &path).send();
    assert_eq!((head.status().as_u16(), head.header("content-length"), head.text()), (200, Some("10"), ""));
}

fn a_file_of_an_undone_transaction_goes_away(client: &Client, folder: &Path) {
    assert_eq!(add(client, "/files?fails=true", ("a.png", "image/png", PNG)).status(), 409);
    assert_eq!((files(folder).len(), notes(folder).len()), (1, 1));
    // A transaction may be open still.
    run_job(client, "orphaned files");
    assert_eq!((files(folder).len(), notes(folder).len()), (1, 1));
    age(&notes(folder)[0]);
    run_job(client, "orphaned files");
    assert_eq!((files(folder).len(), notes(folder).len()), (0, 0));
}

fn a_file_of_a_committed_transaction_stays(client: &Client, folder: &Path) {
    let id = added(client, ("a.png", "image/png", PNG));
    age(&notes(folder)[0]);
    // The second time there is no row any more, and no note either.
    for _ in 0..2 {
        run_job(client, "orphaned files");
        assert_eq!((files(folder).len(), notes(folder).len()), (1, 0));
    }
    assert_eq!(client.get(&format!("/files/{id}")).body(), PNG);
}

fn a_file_is_deleted_with_its_transaction(client: &Client, folder: &Path) {
    let id = added(client, ("a.png", "image/png", PNG));
    let empty = added(client, ("empty.txt", "text/plain", b""));
    let link = client.get(&format!("/links/{id}")).text().to_owned();
    let empty_link = client.get(&format!("/links/{empty}")).text().to_owned();
    assert_eq!(client.post(&format!("/files/{id}/delete?fails=true"), &[]).status(), 409);
    run_job(client, "deleted files");
    assert_eq!((files(folder).len(), client.get(&link).status().as_u16()), (2, 200));
    let tag = client.get(&link).header("etag").unwrap().to_owned();
    let conditional = || client.request(Method::GET, &link).header("if-none-match", &tag).send().status().as_u16();
    let head = || client.request(Method::HEAD, &link).send().status().as_u16();
    assert_eq!((conditional(), head(), client.get(&empty_link).status().as_u16()), (304, 200, 200));

    // Also after its note is gone.
    run_job(client, "orphaned files");
    assert_eq!(client.post(&format!("/files/{id}/delete"), &[]).status(), 200);
    assert_eq!(client.post(&format!("/files/{empty}/delete"), &[]).status(), 200);
    assert_eq!(client.get(&link).status(), 404);
    run_job(client, "deleted files");
    assert_eq!((files(folder).len(), notes(folder).len()), (0, 0));
    // Also where nothing of the file is sent, when its row is gone.
    assert_eq!((conditional(), head(), client.get(&empty_link).status().as_u16()), (404, 404, 404));
    assert_eq!(client.get(&format!("/files/{id}")).status(), 404);
}

fn a_link_is_followed_by_who_has_it(client: &Client, _: &Path) {
    let id = added(client, ("Grüße 1.png", "image/png", PNG));
    let link = client.get(&format!("/links/{id}")).text().to_owned();
    let answer = client.get(&link);
    assert_eq!((answer.status().as_u16(), &**answer.body()), (200, PNG));
    let cache = answer.header("cache-control").unwrap();
    assert!(matches!(cache, "private, max-age=3600, immutable" | "private, max-age=3599, immutable"), "{cache}");
    assert_eq!(client.request(Method::GET, &link).header("range", "bytes=1-3").send().body(), &b"PNG"[..]);
    let (front, token) = link.split_at("/-/files/".len());
    let changed = if token.starts_with('A') { "B" } else { "A" };
    assert_eq!(client.get(&format!("{front}{changed}{}", &token[1..])).status(), 404);
}

fn a_copy_is_a_file_of_its_own(client: &Client, folder: &Path) {
    let id = added(client, ("a.png", "image/png", PNG));
    let (file, copy) = client
        .with_cx(async move |cx| {
            let file = record(cx, id).await?;
            let copy = cx.storage().copy(&file).await?.register(cx.transaction().await?).await?;
            cx.delete_stored(&file).await?;
            Ok((file, copy))
        })
        .unwrap();
    assert_eq!((file.sha256(), file.name(), file.size()), (copy.sha256(), copy.name(), copy.size()));
    assert_ne!(file.key(), copy.key());
    run_job(client, "deleted files");
    assert_eq!(files(folder).len(), 1);
    let there = async move |cx: &mut skep::Cx<'_>| Ok((cx.storage().has(&file).await?, cx.storage().has(&copy).await?));
    assert_eq!(client.with_cx(there).unwrap(), (false, true));
}

/// Counts the bytes that are in memory.
struct Piece(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.1.fetch_sub(self.0.len(), Ordering::SeqCst);
    }
}

fn large_files_go_through_piece_by_piece(client: &Client, _: &Path) {
    const SIZE: usize = 64 << 10;
    let (held, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, seen) = (Arc::clone(&held), Arc::clone(&most));
    let pieces = stream::iter((0..160_u8).map(move |number| {
        let now = counted.fetch_add(SIZE, Ordering::SeqCst) + SIZE;
        seen.fetch_max(now, Ordering::SeqCst);
        Ok::<_, std::io::Error>(Bytes::from_owner(Piece(vec![number; SIZE], Arc::clone(&counted))))
    }));
    let store = async move |cx: &mut skep::Cx<'_>| {
        let file =
            cx.store_file(NewFile::new("large.bin", "application/octet-stream", Body::from_stream(pieces))).await?;
        let bytes = cx.storage().read(&file).await?.collect(20 << 20).await.unwrap();
        Ok((file.size(), bytes))
    };
    let (size, bytes) = client.with_cx(store).unwrap();
    assert_eq!((size, bytes.len()), (160 << 16, 160 << 16));
    assert!(bytes.chunks(SIZE).zip(0..).all(|(piece, number)| piece.iter().all(|&byte| byte == number)));
    assert_eq!(held.load(Ordering::SeqCst), 0);
    let most = most.load(Ordering::SeqCst);
    assert!(most <= 6 << 20, "{most} bytes were in memory at once");
}

fn an_empty_file_is_one(client: &Client, _: &Path) {
    let answer = client.get(&format!("/files/{}", added(client, ("empty.txt", "text/plain", b""))));
    assert_eq!((answer.status().as_u16(), answer.header("content-length"), answer.text()), (200, Some("0"), ""));
}

/// The second file is read when the first one is stored. Another writer of the database is not kept waiting then.
fn several_files_hold_up_no_writer(client: &Client, _: &Path) {
    let site = Arc::clone(client.site());
    let second = stream::once(async move {
        let table = query::<()>("create table other (id integer primary key)", ()).own();
        site.db().write(|db| db.execute(table)).map(|_| Bytes::from_static(b"second"))
    });
    let store = async move |cx: &mut skep::Cx<'_>| {
        let second = NewFile::new("b.txt", "text/plain", Body::from_stream(Box::pin(second)));
        cx.store_files([NewFile::new("a.txt", "text/plain", "first"), second]).await
    };
    let files = client.with_cx(store).unwrap();
    assert_eq!(files.iter().map(FileRecord::name).collect::<Vec<_>>(), ["a.txt", "b.txt"]);
}
