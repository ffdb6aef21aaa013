//! Whole servers: files that are stored by any process are there for all, and a process that is killed leaves nothing
//! that anybody sees. This executable is the application under test, too.
#![cfg(not(target_family = "wasm"))]

#[path = "storage/application.rs"]
mod application;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use libtest_mimic::{Arguments, Trial};
use rustix::process::Signal;
use skep::Setup;
use skep::test::Client;
use skep_drill::{APPLICATION, Server, Subject, descendants, kill, wait_until};

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == APPLICATION) {
        return skep_server::Server::new(application::app)
            .allow_unmounted_services()
            .run_with(std::env::args_os().skip(2));
    }
    let models = ["thread", "prefork", "prefork requests_per_worker=1"].map(|model| {
        Trial::test(format!("files_of_every_process_are_there_for_all: {model}"), move || {
            files_of_every_process_are_there_for_all(model);
            Ok(())
        })
    });
    let killed = Trial::test("an_upload_whose_process_is_killed_is_not_there", || {
        an_upload_whose_process_is_killed_is_not_there();
        Ok(())
    });
    let bounded = Trial::test("an_upload_is_not_in_memory", || {
        an_upload_is_not_in_memory();
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), models.into_iter().chain([killed, bounded]).collect()).exit_code()
}

fn start(settings: &[&str]) -> Server {
    let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    Server::start(&Subject::ours().unwrap(), &arguments).unwrap()
}

const SIZE: usize = 10_000_000;

/// Bytes of which no two megabytes are alike.
fn content() -> Vec<u8> {
    (0..SIZE).map(|at| (at % 251).to_le_bytes()[0] ^ (at >> 16).to_le_bytes()[0]).collect()
}

/// An upload.
fn upload(server: &Server, content: &[u8]) -> TcpStream {
    let front = "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n";
    let body = [front.as_bytes(), content, b"\r\n--limit--\r\n"].concat();
    let head = format!(
        "POST /files HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
         Content-Type: multipart/form-data; boundary=limit\r\nContent-Length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body).unwrap();
    stream
}

/// Head and body of the response.
fn response(mut stream: TcpStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("{bytes:?}"));
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 4..].to_vec())
}

fn get(server: &Server, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    stream.write_all(head.as_bytes()).unwrap();
    response(stream).1
}

/// All files below a folder that hold a part of a file, at least.
fn stored(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => stored(&path),
        path => vec![path.display().to_string()],
    });
    files.filter(|path| !path.contains("/pending/")).collect()
}

fn files_of_every_process_are_there_for_all(model: &str) {
    let settings: Vec<String> =
        model.split(' ').map(|word| if word.contains('=') { word.to_owned() } else { format!("mpm={word}") }).collect();
    let server = start(&settings.iter().map(String::as_str).collect::<Vec<_>>());
    let content = content();
    let (head, id) = response(upload(&server, &content));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}: {}", server.errors());
    // Whatever process answers.
    for _ in 0..4 {
        assert!(get(&server, &format!("/files/{}", String::from_utf8_lossy(&id))) == content);
        let link = get(&server, "/links/1");
        assert!(get(&server, &String::from_utf8_lossy(&link)) == content);
    }
}

fn an_upload_whose_process_is_killed_is_not_there() {
    let server = start(&["mpm=thread"]);
    let data = server.folder.join("data");
    let files = data.join("files");
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!("POST /endless HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: same-origin\r\n", server.address);
    stream.write_all(format!("{head}Content-Length: 0\r\n\r\n").as_bytes()).unwrap();
    let has_begun = || stored(&files).iter().any(|path| fs::metadata(path).is_ok_and(|file| file.len() > 0));
    wait_until(|| format!("nothing is stored: {}", server.errors()), has_begun);
    let workers = descendants(server.pid());
    for worker in &workers {
        kill(*worker, Signal::KILL);
    }
    drop(stream);
    wait_until(
        || server.errors(),
        || TcpStream::connect(&server.address).is_ok() && descendants(server.pid()) != workers,
    );
    let left = stored(&files);
    assert!(left.len() == 1 && is_part(&left[0]), "{left:?}");
    let note = fs::read_dir(files.join("pending")).unwrap().next().unwrap().unwrap().path();
    let (head, id) = response(upload(&server, b"small"));
    assert!(head.starts_with("HTTP/1.1 200") && id == b"1", "{head}");
    // A day later.
    let past = SystemTime::now() - Duration::from_hours(25);
    fs::File::options().write(true).open(&note).unwrap().set_modified(past).unwrap();
    sweep(&data);
    let left = stored(&files);
    assert!(left.len() == 1 && !is_part(&left[0]) && !note.exists(), "{left:?}");
    assert_eq!(get(&server, "/files/1"), b"small");
}

/// It is written, and not whole.
fn is_part(file: impl AsRef<Path>) -> bool {
    file.as_ref().extension().is_some_and(|extension| extension == "part")
}

/// Removes orphans, as one more process of the application.
fn sweep(data: &Path) {
    let mut setup = Setup::default();
    data.clone_into(&mut setup.data);
    let client = Client::with_setup(application::app(), setup);
    client.site().jobs().iter().find(|job| job.name() == "orphaned files").unwrap().run(client.site());
}

/// What a process has had in memory at most, in KiB.
fn high_water(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn an_upload_is_not_in_memory() {
    let server = start(&["mpm=thread"]);
    // What a first upload needs of code and buffers is there then.
    response(upload(&server, &vec![7; 200_000]));
    let worker = descendants(server.pid()).into_iter().max_by_key(|pid| high_water(*pid)).unwrap();
    let before = high_water(worker);
    let (head, _) = response(upload(&server, &content()));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let grown = high_water(worker) - before;
    println!("{grown} KiB for {SIZE} bytes");
    assert!(grown < 4096, "{grown} KiB more for {SIZE} bytes");
}
