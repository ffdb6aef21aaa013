//! Components of WASI 0.3, whose functions run beside each other: the same promises as those of 0.2 have.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use skep_client::wait_until;

use super::Test;
use super::guests;
use super::server::{Answer, Folder, STRICT, Server, refused, run};

pub(crate) const TESTS: &[Test] = &[
    ("third_a_guest_sees_the_request_and_answers", answers),
    ("third_a_body_streams_both_ways", streams),
    ("third_each_request_sees_the_first_value_of_a_static_unless_cached", each_request_sees_the_first_value),
    ("third_start_up_code_runs_once_for_a_snapshot", starts_once),
    ("third_each_failure_is_a_status_and_an_id_and_nothing_else", each_failure),
    ("third_an_endless_loop_leaves_the_thread_to_others", leaves_the_thread),
    ("third_an_answer_that_broke_off_does_not_look_complete", broke_off),
    ("third_what_goes_on_after_its_answer_is_a_part_of_the_request", goes_on),
    ("third_a_guest_reaches_no_server_but_what_it_was_allowed", network),
    ("third_code_is_kept_and_compiled_ahead", kept),
    ("third_and_second_serve_side_by_side_and_in_each_others_place", side_by_side),
];

fn serve(more: &[&str]) -> Server {
    Server::start(&[&[guests::third().to_str().unwrap()], STRICT, more].concat())
}

fn answers() {
    let server = serve(&[]);
    assert_eq!(server.text("/"), "third");
    let text = server.text("/request?a=b");
    assert!(text.starts_with("GET Some(false) x /request?a=b\n"), "{text}");
    let head = server.ask("HEAD", "/", "x", "").unwrap();
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert_eq!(server.get("/nowhere").status, 404);
    assert_ne!(server.text("/random"), server.text("/random"));
    assert_eq!(server.text("/env?HOME"), "Err(NotPresent)");
    server.text("/print");
    server.wait_for("INFO skep::guest: printed to standard output app=third");
    assert_eq!(server.ask("GET", "/", "a b", "").unwrap().status, 400);
}

fn streams() {
    let server = serve(&["--time", "20s"]);
    let body = "bees ".repeat(1 << 20);
    for path in ["/echo", "/pass"] {
        let answer = server.ask("POST", path, "x", &body).unwrap();
        assert_eq!((answer.status, answer.is_whole), (200, true), "{path}");
        assert!(answer.text == body, "{path}: {} bytes of {}", answer.text.len(), body.len());
    }
    let answer = server.get("/stream?5000");
    assert_eq!((answer.status, answer.text.len(), answer.is_whole), (200, 5000 << 10, true));
    server.wait_until_idle(0);
}

fn each_request_sees_the_first_value() {
    for (how, second, whoami) in [("snapshot", 1, "nobody"), ("cold", 1, "nobody"), ("cached", 2, "alice")] {
        for component in [guests::third(), guests::third_with_init()] {
            let server = Server::start(&[&[component.to_str().unwrap(), "--module-cache", how], STRICT].concat());
            let kept = u32::from(how == "cached");
            let ask = |path: &str| {
                server.wait_until_idle(kept);
                server.text(path)
            };
            assert_eq!(ask("/counts"), "static 1 local 1", "{how}");
            assert_eq!(ask("/counts"), format!("static {second} local 1"), "{how}");
            ask("/login?alice");
            assert_eq!(ask("/whoami"), whoami, "{how}");
        }
    }
    cached();
}

fn cached() {
    let server = serve(&["--module-cache", "cached"]);
    for (path, status) in [("/panic", 500), ("/refused", 200), ("/memory", 500), ("/loop", 504), ("/exit", 500)] {
        server.text("/login?alice");
        server.wait_until_idle(1);
        assert_eq!(server.text("/whoami"), "alice");
        server.wait_until_idle(1);
        assert_eq!(server.get(path).status, status, "{path}");
        assert_eq!(server.text("/whoami"), "nobody", "{path} threw the instance away");
    }
    let server = serve(&["--module-cache", "cached", "--reuse-requests", "3", "--probe", "/counts"]);
    let counts = |_| {
        let text = server.text("/counts");
        server.wait_until_idle(u32::from(!text.contains('3')));
        text
    };
    // The probe was the first request of the first instance.
    let counts: String = (0..6).map(counts).filter_map(|text| text.split(' ').nth(1).map(ToOwned::to_owned)).collect();
    assert_eq!(counts, "231231");
}

fn starts_once() {
    let component = guests::third_with_init();
    let component = component.to_str().unwrap();
    for (how, table, image) in [("snapshot", "ready value 7", true), ("cold", "ready value 7", false)] {
        let server = Server::start(&[component, "--module-cache", how, "--status", "/-/isolate"]);
        assert_eq!(server.text("/table?7"), table);
        assert_eq!(server.text("/-/isolate").contains("start-up code in its image"), image, "{how}");
    }
    let text = refused(&[component, "--env", "INIT=time"]);
    assert!(text.contains("start-up code asked for the time"), "{text}");
}

fn each_failure() {
    let server = serve(&[]);
    let cases = [
        ("/panic", 500, "wasm trap: wasm `unreachable` instruction executed"),
        ("/unreachable", 500, ", in "),
        ("/overflow", 500, "wasm trap: out of bounds memory access, in "),
        ("/memory", 500, "it asked for more memory than the 32768 KiB it may have"),
        ("/exit", 500, "it called exit("),
        ("/short?9", 500, "did not finish its response"),
        ("/status?101", 500, "it responded with 101, which is no status of a response"),
        ("/error", 500, "returned an error: ErrorCode::InternalError"),
        ("/trap-later?50", 500, "wasm trap"),
        ("/loop", 504, "took longer than 1s"),
        ("/spin", 504, "took longer than 1s"),
        ("/never", 504, "took longer than 1s"),
        ("/sleep?60000", 504, "took longer than 1s"),
    ];
    server.each_fails(&cases, "third");
    server.wait_until_idle(0);
    let server = serve(&["--fuel", "5_000_000"]);
    assert_eq!(server.get("/loop").status, 504);
    server.wait_for("used up its fuel of 5000000 (--fuel)");
    let server = serve(&["--instances", "1", "--time", "5s"]);
    let mut waiting = begin(&server.address, "/sleep?1000");
    waiting.flush().unwrap();
    server.wait_until_busy(1);
    assert_eq!(server.get("/").status, 503);
    assert_eq!(Answer::read(waiting).unwrap().text, "slept");
}

fn begin(address: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    stream
}

fn leaves_the_thread() {
    for path in ["/loop", "/spin"] {
        let server = serve(&["--time", "1h"]);
        let _looping = begin(&server.address, path);
        for _ in 0..20 {
            assert_eq!(server.text("/"), "third", "{path}");
        }
    }
}

fn broke_off() {
    let server = serve(&[]);
    let answer = server.get("/stream-then-trap?2000");
    assert_eq!((answer.status, answer.is_whole), (200, false));
    server.wait_for("a response broke off");
    let answer = server.get("/endless");
    assert_eq!((answer.status, answer.is_whole), (200, false));
    server.wait_for("took longer than 1s");
    // A version that does so when it is probed is not served.
    let text = refused(&[guests::third().to_str().unwrap(), "--probe", "/stream-then-trap?2000"]);
    assert!(text.contains("the response to the probe /stream-then-trap?2000 broke off"), "{text}");
    // What nobody will ever end: said at once, or when the time is up if the answer has begun.
    let answer = server.get("/unfinished");
    assert!(answer.status == 500 || !answer.is_whole, "{} {}", answer.status, answer.text);
    let answer = server.get("/unfinished?400");
    assert_eq!((answer.status, answer.text.as_str(), answer.is_whole), (200, "a part", false));
    // A request whose body does not come: what passes it on ends with its time, too.
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(b"POST /pass HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nConnection: close\r\n\r\npart").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let answer = Answer::read(stream).unwrap();
    assert_eq!((answer.status, answer.is_whole), (200, false));
    server.wait_until_idle(0);
}

fn goes_on() {
    let server = serve(&["--module-cache", "cached"]);
    let mut stream = begin(&server.address, "/after?500");
    let answer = Answer::read(stream.try_clone().unwrap()).unwrap();
    assert_eq!(answer.text, "first");
    let _ = stream.flush();
    server.wait_for("went on");
    server.wait_until_idle(1);
    assert_eq!(server.text("/counts"), "static 1001 local 1");
    assert_eq!(server.text("/after?60000"), "first");
    server.wait_for("took longer than 1s");
    server.wait_until_idle(0);
    // The end of the server waits for what is at work.
    let mut ending = serve(&[]);
    let sleeping = begin(&ending.address, "/sleep?600");
    ending.wait_until_busy(1);
    assert!(ending.end());
    assert_eq!(Answer::read(sleeping).unwrap().text, "slept");
    assert_eq!(server.text("/told"), "told");
    server.wait_for("the answer was sent: Ok(())");
}

fn network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            use std::io::Read;
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 203 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nthere");
        }
    });
    let server = serve(&[]);
    assert!(server.text(&format!("/fetch?{address}")).contains("HttpRequestDenied"));
    server.wait_for("--allow-out would allow it");
    let server = serve(&["--allow-out", &address]);
    assert_eq!(server.text(&format!("/fetch?{address}")), "status 203");
    let passed = server.get(&format!("/proxy?{address}"));
    assert_eq!((passed.status, passed.text.as_str(), passed.is_whole), (203, "there", true));
    assert!(server.text("/fetch?127.0.0.1:1").contains("HttpRequestDenied"));
}

fn kept() {
    let folder = Folder::new();
    let (cache, out) = (folder.0.join("cache"), folder.0.join("third.cwasm"));
    let component = guests::third_with_init();
    let component = component.to_str().unwrap();
    for _ in 0..2 {
        let server = Server::start(&[component, "--compile-cache", cache.to_str().unwrap()]);
        assert_eq!(server.text("/table?7"), "ready value 7");
        // What start-up code is run with, and the image.
        assert_eq!(fs::read_dir(&cache).unwrap().filter(is_code).count(), 2);
    }
    let (well, text) = run("compile", &[component, "-o", out.to_str().unwrap()]);
    assert!(well && text.contains("start-up code in its image"), "{text}");
    let server = Server::start(&[out.to_str().unwrap()]);
    assert_eq!(server.text("/table?7"), "ready value 7");
}

fn is_code(file: &std::io::Result<fs::DirEntry>) -> bool {
    file.as_ref().is_ok_and(|file| file.path().extension().is_some_and(|ending| ending == "cwasm"))
}

fn side_by_side() {
    let folder = Folder::new();
    let app = folder.write("app.wasm", fs::read(guests::plain()).unwrap());
    let table = |name: &str, file: &Path, instances: u32| {
        let prefix = if name == "app" { "" } else { name };
        format!("[component.{name}]\nfile = '{}'\nprefix = '/{prefix}'\ninstances = {instances}\n", file.display())
    };
    let all = [table("new", &guests::third(), 4000), table("app", &app, 4000), table("more", &guests::plain(), 2000)]
        .concat();
    let settings = folder.write("skep.toml", all);
    let server = Server::start(&["--config", settings.to_str().unwrap()]);
    assert_eq!((server.text("/"), server.get("/new").status), ("one".into(), 404));
    assert!(!server.log().contains("is not served"), "{}", server.log());
    let text = refused(&[guests::third().to_str().unwrap(), "--instances", "4001"]);
    assert!(text.contains("WASI 0.3, for which a process has room for 4000 instances"), "{text}");
    for (component, text) in [(guests::third(), "third"), (guests::second(), "two")] {
        let part = folder.write("part", fs::read(component).unwrap());
        fs::rename(part, &app).unwrap();
        wait_until(|| format!("never {text}: {}", server.log()), || server.text("/") == text);
    }
}
