//! `skep top` in a terminal, with a real server.
//!
//! This executable is both the tests and the server that is watched, which it is when [`APPLICATION`] is its first
//! argument.

use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use pty_process::Size;
use rustix::process::{Pid, Signal, kill_process};
use skep_drill::{APPLICATION, Server, Subject};

const TOP: &str = env!("CARGO_BIN_EXE_skep-top");

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == APPLICATION) {
        return skep_server::Server::new(skep_drill::application).run_with(std::env::args_os().skip(2));
    }
    let tests: [(&str, fn()); 5] = [
        ("workers_are_shown_and_drained", workers_are_shown_and_drained),
        ("a_log_level_is_raised_and_a_swap_confirmed", a_log_level_is_raised_and_a_swap_confirmed),
        ("it_follows_the_size_of_the_terminal", it_follows_the_size_of_the_terminal),
        ("signals_restore_the_terminal", signals_restore_the_terminal),
        ("without_a_server_or_a_terminal_it_says_so", without_a_server_or_a_terminal_it_says_so),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), tests.map(trial).into()).exit_code()
}

/// A terminal in which `skep top` runs.
struct Terminal {
    child: Child,
    pty: Arc<pty_process::blocking::Pty>,
    screen: Arc<Mutex<vt100::Parser>>,
}

fn side(length: u16) -> NonZero<u16> {
    NonZero::new(length).unwrap()
}

impl Terminal {
    fn start(server: &Server, (rows, columns): (u16, u16)) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(rows, columns)).unwrap();
        let command = pty_process::blocking::Command::new(TOP);
        let child = command.current_dir(&server.folder).env("TERM", "xterm-256color").spawn(pts).unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(side(rows), side(columns), 0)));
        let pty = Arc::new(pty);
        let (reader, written) = (Arc::clone(&pty), Arc::clone(&screen));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = (&*reader).read(&mut buffer) {
                written.lock().unwrap().process(&buffer[..count]);
            }
        });
        Self { child, pty, screen }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn is_restored(&self) -> bool {
        let parser = self.screen.lock().unwrap();
        !parser.screen().alternate_screen() && !parser.screen().hide_cursor()
    }

    fn press(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
    }

    /// Waits, but not for ever.
    fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = self.text();
            if is_so(&text) {
                return text;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "waited in vain until {what}:\n{text}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn shows(&self, expected: &str) -> String {
        self.wait_until(&format!("it shows {expected:?}"), |text| text.contains(expected))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server with its data where `skep top` looks for it: beside the settings in its folder.
fn server(arguments: &[&str]) -> Server {
    let server = Server::start(&Subject::ours().unwrap(), arguments).unwrap();
    let (_, text) = server.control("status").unwrap();
    assert!(text.contains("worker 1"), "{text}");
    let settings = format!("data = \"{}\"\n", data(&server));
    std::fs::write(server.folder.join("skep.toml"), settings).unwrap();
    server
}

/// The folder in which the control socket is.
fn data(server: &Server) -> String {
    let entries = std::fs::read_dir(&server.folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders = entries.chain([server.folder.clone()]);
    folders.find(|path| path.join("control").exists()).unwrap().display().to_string()
}

fn workers_are_shown_and_drained() {
    let server = server(&["--mpm", "prefork", "--workers", "2", "--set", "status.listen=127.0.0.1:0"]);
    server.get("/").unwrap();
    let terminal = Terminal::start(&server, (24, 80));
    let text = terminal.shows("1 Workers");
    assert!(text.contains("drill 1.2.3") && text.contains("mpm prefork") && text.contains(" serving"), "{text}");
    assert!(text.contains("q quit") && text.contains(" 1.1") && text.contains(" 1.2"), "{text}");
    terminal.press("\u{1b}[Bd");
    terminal.shows("y/n  Drain process 1.1? It finishes its requests; another one replaces it.");
    terminal.press("n\u{1b}[Ad");
    terminal.shows("y/n  Drain worker 1? It finishes its requests, and a successor takes over.");
    assert_eq!(server.status("number").unwrap(), "1", "nothing happens before the yes");
    terminal.press("y");
    terminal.shows("draining worker 1: worker 2 takes over as soon as it is ready");
    terminal.wait_until("the successor serves", |text| text.contains("\n 2 ") && text.contains(" 2.1"));
    assert_eq!(server.status("replaced").unwrap(), "1");
    terminal.press("2");
    terminal.wait_until("services are shown", |text| text.contains("MEDIAN") && text.contains("Hello"));
}

fn a_log_level_is_raised_and_a_swap_confirmed() {
    let server = server(&["--workers", "1"]);
    let mut terminal = Terminal::start(&server, (24, 80));
    terminal.shows("1 Workers");
    terminal.press("luser anna debug 15m");
    terminal.shows(" log user anna debug 15m");
    terminal.press("\r");
    terminal.shows("log level raised for user anna: DEBUG for 15m");
    let (_, status) = server.control("status").unwrap();
    assert!(status.contains("log level raised: user anna: DEBUG for "), "{status}");
    terminal.press("lloud\r");
    terminal.shows("unknown log level \"loud\"");
    terminal.press("s");
    terminal.shows("y/n  Swap: start the version on disk, and serve with it?");
    terminal.press("y");
    terminal.shows("swapped: version ");
    assert_eq!(server.status("swaps").unwrap(), "1");
    terminal.press("3");
    terminal.shows("requests are counted if the setting status.listen is there");
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    terminal.wait_until("the terminal is as before", |_| terminal.is_restored());
}

fn it_follows_the_size_of_the_terminal() {
    let server = server(&["--workers", "1"]);
    let terminal = Terminal::start(&server, (24, 80));
    terminal.shows("q quit");
    for (rows, columns) in [(10, 50), (40, 120)] {
        terminal.screen.lock().unwrap().screen_mut().set_size(side(rows), side(columns));
        terminal.pty.resize(Size::new(rows, columns)).unwrap();
        let is_last = |text: &str| {
            text.lines().count() == usize::from(rows)
                && text.lines().last().is_some_and(|line| line.starts_with(" q quit"))
        };
        terminal.wait_until("the keys are in the last line", is_last);
    }
}

fn signals_restore_the_terminal() {
    let server = server(&["--workers", "1"]);
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut terminal = Terminal::start(&server, (24, 80));
        terminal.shows("q quit");
        assert!(!terminal.is_restored());
        kill_process(Pid::from_child(&terminal.child), signal).unwrap();
        assert_eq!(terminal.child.wait().unwrap().code(), Some(code), "{signal:?}");
        terminal.wait_until("the terminal is as before", |_| terminal.is_restored());
    }
}

fn without_a_server_or_a_terminal_it_says_so() {
    let mut server = server(&["--workers", "1"]);
    let output = Command::new(TOP).current_dir(&server.folder).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("must be a terminal"), "{text}");
    let output = Command::new(TOP).args(["--lisen"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "there is no such flag");
    let watching = Terminal::start(&server, (24, 80));
    watching.shows("q quit");
    server.signal(Signal::TERM);
    server.wait().unwrap();
    watching.shows("NO REPLY: no server listens on ");
    let mut terminal = Terminal::start(&server, (24, 80));
    assert_eq!(terminal.child.wait().unwrap().code(), Some(1));
    let text = terminal.wait_until("it says so", |text| text.contains("skep top: no server listens on "));
    assert!(text.contains("with the same settings for `data` and `control`?"), "{text}");
}
