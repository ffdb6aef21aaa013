//! Whole servers: two processes on one database, processes that are killed, and versions that take over, while messages
//! are published.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use skep_drill::{Server, Subject, descendants, folder, kill, wait_until};

crate::tests![
    a_message_reaches_other_processes_with_the_commit,
    nothing_is_lost_or_comes_twice_while_workers_are_killed_and_swapped,
    a_websocket_gets_messages_and_goes_on_where_it_was,
    a_write_of_another_process_is_shown,
    nothing_is_done_while_nothing_is_published,
    who_is_present_by_a_worker_that_is_killed_is_gone_soon,
    nobody_leaves_with_a_swap,
];

const PREFORK: &[&str] = &["--set", "mpm=prefork", "--set", "workers=2", "--set", "concurrency=100"];

/// A supervisor and its workers.
struct Running(Server);

impl Running {
    fn start(arguments: &[&str]) -> Self {
        Self(Server::start_in(&Subject::ours().unwrap(), folder().unwrap(), arguments).unwrap())
    }

    /// What a form is answered; nothing by a worker that was killed.
    fn post(&self, path: &str) -> String {
        post(&self.0.address, path)
    }
}

fn post(address: &str, path: &str) -> String {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let mut answer = String::new();
    let sent = TcpStream::connect(address).and_then(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.write_all(request.as_bytes())?;
        stream.read_to_string(&mut answer)
    });
    drop(sent);
    answer
}

/// A response that goes on, as lines.
fn open(address: &str, path: &str, fields: &str) -> std::io::Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{fields}\r\n")?;
    Ok(BufReader::new(stream))
}

/// A browser, as far as events go: it connects again and names the last one.
struct Subscriber {
    address: String,
    path: String,
    last: Option<i64>,
    /// The numbers in the texts of what it got.
    got: Vec<u32>,
    connections: u32,
}

impl Subscriber {
    fn new(address: &str, path: &str) -> Self {
        Self { address: address.to_owned(), path: path.to_owned(), last: None, got: Vec::new(), connections: 0 }
    }

    /// Takes events until `is_over`, over as many connections as it takes.
    fn take(&mut self, ready: &AtomicU32, is_over: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_over(self) {
            self.expect_in_time(begun);
            let fields = self.last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
            if let Ok(events) = open(&self.address, &self.path, &fields) {
                self.connections += 1;
                self.read(events, begun, ready, &is_over);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn expect_in_time(&self, begun: Instant) {
        let (count, last) = (self.got.len(), self.got.last());
        assert!(begun.elapsed() < Duration::from_mins(1), "it got {count} messages, the last is {last:?}");
    }

    fn read(
        &mut self,
        mut events: BufReader<TcpStream>,
        begun: Instant,
        ready: &AtomicU32,
        is_over: impl Fn(&Self) -> bool,
    ) {
        // An id counts with the end of its event only.
        let (mut line, mut id, mut text) = (String::new(), None::<i64>, None::<u32>);
        while !is_over(self) {
            match events.read_line(&mut line) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    self.expect_in_time(begun);
                    continue;
                }
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let read = std::mem::take(&mut line);
            let read = read.trim_end();
            assert_ne!(read, "event: reload");
            if let Some(number) = read.strip_prefix("id: ") {
                id = number.parse().ok();
            } else if let Some(data) = read.strip_prefix("data: {\"text\":\"") {
                text = data.trim_end_matches("\"}").parse().ok();
            } else if read.is_empty() && id.is_some() {
                if self.last.is_none() {
                    ready.fetch_add(1, Ordering::SeqCst);
                }
                self.last = id.take();
                self.got.extend(text.take());
            }
        }
    }
}

/// Subscribers on threads of their own, each of which ends with this many messages; they have begun to hear.
fn subscribe(address: &str, count: u32, messages: usize) -> Vec<JoinHandle<Subscriber>> {
    let ready = Arc::new(AtomicU32::new(0));
    let start = |_| {
        let (mut subscriber, ready) = (Subscriber::new(address, "/rooms/a/events"), Arc::clone(&ready));
        thread::spawn(move || {
            subscriber.take(&ready, |subscriber| subscriber.got.len() >= messages);
            subscriber
        })
    };
    let all = (0..count).map(start).collect();
    wait_until(|| "not all are subscribed".to_owned(), || ready.load(Ordering::SeqCst) >= count);
    all
}

/// Nobody would look for a minute.
fn a_message_reaches_other_processes_with_the_commit() {
    let server = Running::start(PREFORK);
    // Enough for each worker to have some.
    let subscribers = subscribe(&server.0.address, 12, 20);
    let begun = Instant::now();
    for number in 1..=20 {
        assert!(server.post(&format!("/rooms/a/notes/{number}")).ends_with("written"));
    }
    for subscriber in subscribers {
        assert_eq!(subscriber.join().unwrap().got, (1..=20).collect::<Vec<_>>());
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Each message is in a transaction, of which the sender may not learn that it was committed: so it counts what is
/// there in the end.
fn nothing_is_lost_or_comes_twice_while_workers_are_killed_and_swapped() {
    let mut server = Running::start(PREFORK);
    let address = server.0.address.clone();
    let is_over = Arc::new(AtomicBool::new(false));
    let ready = Arc::new(AtomicU32::new(0));
    let subscribers: Vec<_> = (0..8)
        .map(|_| {
            let (mut subscriber, ready) = (Subscriber::new(&address, "/rooms/a/events"), Arc::clone(&ready));
            // The last message has a number of its own.
            thread::spawn(move || {
                subscriber.take(&ready, |subscriber| subscriber.got.last() == Some(&u32::MAX));
                subscriber
            })
        })
        .collect();
    wait_until(|| "not all are subscribed".to_owned(), || ready.load(Ordering::SeqCst) >= 8);
    let publisher = {
        let (address, is_over) = (address.clone(), Arc::clone(&is_over));
        thread::spawn(move || {
            let mut next = 1;
            while !is_over.load(Ordering::SeqCst) {
                post(&address, &format!("/rooms/a/many/{next}/10"));
                next += 10;
            }
        })
    };
    for _ in 0..3 {
        // Load between one disaster and the next; when they come is a matter of chance on purpose.
        thread::sleep(Duration::from_millis(400));
        for worker in descendants(server.0.pid()) {
            kill(worker, Signal::KILL);
        }
        // Once there is somebody to take over from.
        while !server.post("/rooms/b/notes/1").ends_with("written") {
            assert!(server.0.is_alive(), "{}", server.0.errors());
        }
        server.0.signal(Signal::HUP);
        thread::sleep(Duration::from_millis(800));
    }
    is_over.store(true, Ordering::SeqCst);
    publisher.join().unwrap();
    while !server.post(&format!("/rooms/a/notes/{}", u32::MAX)).ends_with("written") {
        assert!(server.0.is_alive(), "{}", server.0.errors());
    }
    let all: Vec<Subscriber> = subscribers.into_iter().map(|subscriber| subscriber.join().unwrap()).collect();
    let expected = &all[0].got;
    assert!(expected.len() > 100, "{} messages", expected.len());
    assert!(expected.windows(2).all(|pair| pair[0] < pair[1]), "in order, and none twice: {expected:?}");
    assert!(all.iter().all(|subscriber| subscriber.got == *expected), "each got the same");
    assert!(all.iter().all(|subscriber| subscriber.connections > 3), "each lost its connection with its worker");
    // What is in the table is what they got.
    let count = Subscriber::new(&address, "/rooms/a/events?after=0");
    let mut again = Subscriber { last: Some(0), ..count };
    again.take(&ready, |subscriber| subscriber.got.last() == Some(&u32::MAX));
    assert_eq!(again.got, *expected);
}

/// Frames of a server are not masked.
fn frame(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = [0; 2];
    let begun = Instant::now();
    while let Err(error) = stream.read_exact(&mut head) {
        let is_late = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        if !is_late || begun.elapsed() > Duration::from_secs(20) {
            return None;
        }
    }
    let mut text = vec![0; usize::from(head[1] & 0x7f)];
    stream.read_exact(&mut text).ok()?;
    (head[0] == 0x81).then(|| String::from_utf8(text).unwrap())
}

fn socket(address: &str, path: &str) -> BufReader<TcpStream> {
    let fields = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let mut stream = open(address, path, fields).unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.contains("101"), "{line}");
    while line.trim_end() != "" {
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    stream
}

fn a_websocket_gets_messages_and_goes_on_where_it_was() {
    let server = Running::start(&[]);
    let mut first = socket(&server.0.address, "/rooms/a/socket");
    // It names it, should nothing be published until it comes back.
    assert_eq!(frame(&mut first).unwrap(), "{\"number\":0}");
    for number in 1..=3 {
        server.post(&format!("/rooms/a/notes/{number}"));
        let expected = format!("{{\"number\":{number},\"message\":{{\"text\":\"{number}\"}}}}");
        assert_eq!(frame(&mut first).unwrap(), expected);
    }
    server.0.signal(Signal::HUP);
    assert_eq!(frame(&mut first), None, "the old version closes it");
    server.post("/rooms/a/notes/4");
    let mut second = socket(&server.0.address, "/rooms/a/socket?after=3");
    assert_eq!(frame(&mut second).unwrap(), "{\"number\":3}");
    assert_eq!(frame(&mut second).unwrap(), "{\"number\":4,\"message\":{\"text\":\"4\"}}");
}

/// Waits for a line with this text.
fn expect(viewer: &mut BufReader<TcpStream>, expected: &str) {
    let (mut line, begun) = (String::new(), Instant::now());
    while !line.contains(expected) {
        assert!(begun.elapsed() < Duration::from_secs(20), "it was not told {expected:?}");
        // What has come of a line stays if the rest is late.
        if line.ends_with('\n') {
            line.clear();
        }
        _ = viewer.read_line(&mut line);
    }
}

/// Reads a whole line.
fn expect_line(events: &mut BufReader<TcpStream>, line: &mut String) {
    let begun = Instant::now();
    while !line.ends_with('\n') {
        assert!(begun.elapsed() < Duration::from_secs(20), "there was no line after {line:?}");
        _ = events.read_line(line);
    }
}

/// Also if a process has a fragment in its own memory that another one has changed: before the first one follows the
/// page, while some do, and for who asks for it only then.
fn a_write_of_another_process_is_shown() {
    let server = Running::start(PREFORK);
    let address = &server.0.address;
    let shows = |expected: &str| {
        let mut page = open(address, "/rooms/a", "Connection: close\r\n").unwrap();
        expect(&mut page, expected);
    };
    (0..12).for_each(|_| shows("<ul></ul>"));
    assert!(server.post("/rooms/a/notes/0").ends_with("written"));
    let own = |_| open(address, "/own", "Skep-Live: own:0\r\nFrom: ada\r\n").unwrap();
    let room = |_| open(address, "/rooms/a", "Skep-Live: notes:0\r\n").unwrap();
    let (mut owners, mut rooms): (Vec<_>, Vec<_>) = ((0..12).map(own).collect(), (0..12).map(room).collect());
    let mut notes = String::from("<ul><li>0</li>");
    for count in 1..=4 {
        for viewer in &mut owners {
            expect(viewer, &format!("sees {count}<"));
        }
        for viewer in &mut rooms {
            expect(viewer, &format!("\"{notes}</ul>\""));
        }
        assert!(server.post(&format!("/rooms/a/notes/{count}")).ends_with("written"));
        notes.extend(["<li>", &count.to_string(), "</li>"]);
    }
    for viewer in &mut rooms {
        expect(viewer, &format!("\"{notes}</ul>\""));
    }
    (0..12).for_each(|_| shows(&notes));
}

fn nothing_is_done_while_nothing_is_published() {
    let server = Running::start(&[]);
    let ready = AtomicU32::new(0);
    let mut subscriber = Subscriber::new(&server.0.address, "/rooms/a/events");
    server.post("/rooms/a/notes/1");
    subscriber.last = Some(0);
    subscriber.take(&ready, |subscriber| subscriber.got.len() == 1);
    let events = open(&server.0.address, "/rooms/a/events", "").unwrap();
    // What follows a message is done, and then nothing may happen.
    thread::sleep(Duration::from_millis(300));
    let used = || descendants(server.0.pid()).into_iter().map(skep_drill::cpu_time).sum::<Duration>();
    let before = used();
    thread::sleep(Duration::from_secs(2));
    let spent = used().saturating_sub(before);
    assert!(spent < Duration::from_millis(60), "{spent:?} in two idle seconds");
    drop(events);
}

/// Viewers of both workers see all, also who holds a WebSocket; of a worker that is killed, nobody is left when its
/// lease ends.
fn who_is_present_by_a_worker_that_is_killed_is_gone_soon() {
    let server = Running::start(PREFORK);
    let address = &server.0.address;
    let mut door = socket(address, "/rooms/a/door?id=99&name=Door");
    assert_eq!(frame(&mut door).unwrap(), "{\"number\":0}");
    assert!(frame(&mut door).unwrap().contains("{\"here\":{\"id\":\"99\""));
    let view = |id: usize| {
        let path = format!("/rooms/a/people?id={id}&name=Viewer{id}");
        open(address, &path, "Skep-Live: people:0\r\n").unwrap()
    };
    let mut viewers: Vec<_> = (10..22).map(view).collect();
    let shown = || {
        let mut page = open(address, "/rooms/a/people", "Connection: close\r\n").unwrap();
        let mut text = String::new();
        while page.read_line(&mut text).is_ok_and(|read| read > 0) {}
        text
    };
    let is_there = |page: &str, id: usize| page.contains(&format!("Viewer{id}"));
    wait_until(shown, || (10..22).all(|id| is_there(&shown(), id)));
    for (id, viewer) in (10..22).zip(&mut viewers) {
        // All see the last one.
        expect(viewer, if id == 21 { "Viewer20" } else { "Viewer21" });
    }
    let mut workers = descendants(server.0.pid());
    let mut left = Vec::new();
    while left.iter().all(|(_, is_open)| *is_open) {
        // The youngest first: others are its parents.
        kill(workers.pop().expect("one of them has a connection"), Signal::KILL);
        left = (10..22).zip(viewers.iter_mut().map(is_open)).collect();
    }
    let is_right = || {
        let page = shown();
        !page.is_empty() && left.iter().all(|(id, is_open)| is_there(&page, *id) == *is_open)
    };
    wait_until(|| format!("{left:?} and {}", shown()), is_right);
}

/// Who connects to the next version has not left, also in messages; who does not is gone soon.
fn nobody_leaves_with_a_swap() {
    let server = Running::start(&[]);
    let address = &server.0.address;
    let view = |name: &str, id: u32| {
        open(address, &format!("/rooms/a/people?id={id}&name={name}"), "Skep-Live: people:0\r\n").unwrap()
    };
    let mut ann = view("Ann", 1);
    expect(&mut ann, "Ann");
    let mut bob = view("Bob", 2);
    for viewer in [&mut ann, &mut bob] {
        expect(viewer, "Bob");
    }
    server.0.signal(Signal::HUP);
    wait_until(|| "the old version does not end".to_owned(), || !is_open(&mut ann) && !is_open(&mut bob));
    let mut ann = view("Ann", 1);
    expect(&mut ann, "Ann, Bob");
    expect(&mut ann, "<p>Ann</p>");
    let mut changes = open(address, "/rooms/a/arrivals?id=1&name=Ann&after=0", "").unwrap();
    let mut texts = Vec::new();
    while texts.len() < 3 {
        let mut line = String::new();
        expect_line(&mut changes, &mut line);
        texts.extend(line.trim_end().strip_prefix("data: ").map(str::to_owned));
    }
    let here = |id: u32, name: &str| format!("{{\"here\":{{\"id\":\"{id}\",\"who\":{{\"name\":\"{name}\"}}}}}}");
    assert_eq!(texts, [here(1, "Ann"), here(2, "Bob"), "{\"gone\":{\"id\":\"2\"}}".to_owned()]);
}

/// After half a second without a byte, it is.
fn is_open(viewer: &mut BufReader<TcpStream>) -> bool {
    loop {
        match viewer.fill_buf() {
            Ok([]) => return false,
            Ok(bytes) => {
                let length = bytes.len();
                viewer.consume(length);
            }
            Err(error) => return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}
