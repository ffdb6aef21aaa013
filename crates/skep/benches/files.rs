//! What one answer costs, from the path to the header and the body: system calls included, sending left out.
//! The floor of a hit is one `fstatat`, measured beside it. One thread, warm file system.
//! Run: `cargo bench -p skep --bench files`. Whole-server numbers: `skep bench`.

use std::time::Duration;

use divan::Bencher;
use skep::files::Files;
use skep::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tempfile::TempDir;

fn main() {
    divan::main();
}

/// A directory with `hello.txt` (13 bytes) and `large.bin` (1 MiB), old enough to be held.
fn tree() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("hello.txt"), "Hello, world!").unwrap();
    std::fs::write(temp.path().join("large.bin"), vec![7; 1 << 20]).unwrap();
    std::fs::write(temp.path().join("dot.png"), vec![7; 13]).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    temp
}

fn browser() -> HeaderMap {
    let fields: [(HeaderName, &'static str); 4] = [
        (header::HOST, "localhost:8800"),
        (header::ACCEPT, "*/*"),
        (header::ACCEPT_ENCODING, "gzip, deflate, br, zstd"),
        (header::USER_AGENT, "bench"),
    ];
    fields.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect()
}

fn answers(b: Bencher<'_, '_>, files: &Files, name: &str, headers: &HeaderMap, status: u16) {
    let full = format!("/static/{name}");
    b.bench_local(|| {
        let answer = files.answer(&Method::GET, name, &full, headers).unwrap();
        assert_eq!(answer.status(), status);
        answer
    });
}

#[divan::bench(sample_size = 200)]
fn floor_one_fstatat(b: Bencher<'_, '_>) {
    let temp = tree();
    let dir = std::fs::File::open(temp.path()).unwrap();
    b.bench_local(|| rustix::fs::statat(&dir, c"hello.txt", rustix::fs::AtFlags::empty()).unwrap());
}

/// From memory; a text file, so siblings could come to be, and the clock is read.
#[divan::bench(sample_size = 200)]
fn hit_13_bytes(b: Bencher<'_, '_>) {
    let temp = tree();
    answers(b, &Files::dir(temp.path()), "hello.txt", &browser(), 200);
}

/// From memory; of a type that has no siblings.
#[divan::bench(sample_size = 200)]
fn hit_13_bytes_of_an_image(b: Bencher<'_, '_>) {
    let temp = tree();
    answers(b, &Files::dir(temp.path()), "dot.png", &browser(), 200);
}

/// All threads ask for the same file.
#[divan::bench(sample_size = 200, threads = [2])]
fn hit_13_bytes_by_two_threads(b: Bencher<'_, '_>) {
    let temp = tree();
    let (files, headers) = (Files::dir(temp.path()), browser());
    b.bench(|| files.answer(&Method::GET, "hello.txt", "/static/hello.txt", &headers).unwrap());
}

/// Opened for each request, three siblings looked for, nothing cached.
#[divan::bench(sample_size = 200)]
fn miss_13_bytes(b: Bencher<'_, '_>) {
    let temp = tree();
    answers(b, &Files::dir(temp.path()).held(0), "hello.txt", &browser(), 200);
}

/// Opened for each request, no sibling looked for, nothing cached.
#[divan::bench(sample_size = 200)]
fn miss_13_bytes_without_siblings(b: Bencher<'_, '_>) {
    let temp = tree();
    answers(b, &Files::dir(temp.path()).held(0).precompressed(false), "hello.txt", &browser(), 200);
}

#[divan::bench(sample_size = 200)]
fn not_modified(b: Bencher<'_, '_>) {
    let temp = tree();
    let (files, mut headers) = (Files::dir(temp.path()), browser());
    let answer = files.answer(&Method::GET, "hello.txt", "/static/hello.txt", &headers).unwrap();
    headers.insert(header::IF_NONE_MATCH, answer.headers()[header::ETAG].clone());
    answers(b, &files, "hello.txt", &headers, 304);
}

/// Too large to hold: the open file is the answer.
#[divan::bench(sample_size = 200)]
fn open_1_mib(b: Bencher<'_, '_>) {
    let temp = tree();
    answers(b, &Files::dir(temp.path()), "large.bin", &browser(), 200);
}

#[divan::bench(sample_size = 200)]
fn range_of_1_mib(b: Bencher<'_, '_>) {
    let temp = tree();
    let mut headers = browser();
    headers.insert(header::RANGE, HeaderValue::from_static("bytes=1000-1999"));
    answers(b, &Files::dir(temp.path()), "large.bin", &headers, 206);
}

#[divan::bench(sample_size = 200)]
fn not_found(b: Bencher<'_, '_>) {
    let temp = tree();
    let (files, headers) = (Files::dir(temp.path()), browser());
    b.bench_local(|| files.answer(&Method::GET, "none.txt", "/static/none.txt", &headers).unwrap_err());
}
