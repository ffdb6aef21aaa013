//! A subscriber of the program's own, beside the log or instead of it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::{Debug, Write as _};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use rustix::process::Signal;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use super::Test;
use super::logs::get;
use super::server::{Server, command, folder};

pub(crate) const TESTS: &[Test] = &[
    ("a_subscriber_of_the_program_stands_beside_the_log", a_subscriber_stands_beside_the_log),
    ("a_subscriber_that_main_installs_replaces_the_log", a_subscriber_that_main_installs),
];

/// The file that the subscriber writes.
const BESIDE: &str = "SUBSCRIBER_BESIDE";
const INSTEAD: &str = "SUBSCRIBER_INSTEAD";

/// The server of the application, with the subscriber that the environment asks for.
pub(crate) fn server(app: fn() -> skep::App) -> skep_server::Server {
    let server = skep_server::Server::new(app);
    if let Some(path) = std::env::var_os(INSTEAD) {
        let file = open(&path);
        let layer = Exporter(Box::new(move |line| (&file).write_all(line.as_bytes()).unwrap()));
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
    }
    match std::env::var_os(BESIDE) {
        Some(path) => server.subscriber(move || exporter(&path)),
        None => server,
    }
}

/// As exporters are: a thread sends, and a guard has it send the rest.
fn exporter(path: &OsStr) -> (impl Subscriber + Send + Sync + use<>, Guard) {
    let (file, (sender, receiver)) = (open(path), mpsc::channel::<String>());
    let thread = thread::spawn(move || {
        for line in receiver {
            (&file).write_all(line.as_bytes()).unwrap();
            if line.ends_with(END) {
                break;
            }
        }
    });
    let guard = Guard(sender.clone(), Some(thread));
    let layer = Exporter(Box::new(move |line| drop(sender.send(line))));
    (tracing_subscriber::registry().with(layer), guard)
}

fn open(path: &OsStr) -> File {
    File::options().append(true).create(true).open(path).unwrap()
}

/// The last line of a process.
const END: &str = " end\n";

struct Guard(Sender<String>, Option<JoinHandle<()>>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(format!("{}{END}", std::process::id()));
        let _ = self.1.take().map(JoinHandle::join);
    }
}

/// Writes lines of the application and spans of requests: the process, what it is, and the span around it.
struct Exporter(Box<dyn Fn(String) + Send + Sync>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Exporter {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        let text = text_of(|visitor| attributes.record(visitor));
        (self.0)(format!("{} span {}{text}\n", std::process::id(), attributes.metadata().name()));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() != "logs.careful" {
            return;
        }
        let text = text_of(|visitor| event.record(visitor));
        let span = context.event_span(event).map_or("none", |span| span.name());
        (self.0)(format!("{} {} in {span}:{text}\n", std::process::id(), metadata.level()));
    }
}

fn text_of(record: impl FnOnce(&mut dyn Visit)) -> String {
    let mut text = String::new();
    record(&mut |field: &Field, value: &dyn Debug| write!(text, " {field}={value:?}").unwrap());
    text
}

fn start(variable: &str, arguments: &[&str]) -> (Server, PathBuf) {
    let folder = folder();
    let path = folder.join("exported");
    let mut command = command(&folder, &[arguments, &["--listen", "127.0.0.1:0"]].concat());
    command.env(variable, &path);
    (Server::start_command(command, folder), path)
}

const LINE: &str = "DEBUG in request: message=beginning failing=true";

fn a_subscriber_stands_beside_the_log() {
    let models: [&[&str]; 4] = [
        &["--mpm", "thread"],
        &["--mpm", "prefork", "--workers", "2"],
        &["--mpm", "prefork", "--set", "requests_per_worker=1"],
        &["--set", "supervise=false"],
    ];
    for model in models {
        let (mut server, path) = start(BESIDE, model);
        for _ in 0..3 {
            assert!(get(&server, "/log/true", "").starts_with("HTTP/1.1 500"));
        }
        server.signal(Signal::TERM);
        assert_eq!(server.wait().code(), Some(0), "{model:?}: {}", server.errors());
        let exported = fs::read_to_string(&path).unwrap();
        let processes = |what: &str| -> BTreeSet<String> {
            let lines = exported.lines().filter(|line| line.contains(what));
            lines.filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
        };
        assert_eq!(exported.matches(LINE).count(), 3, "{model:?}: {exported}");
        assert_eq!(exported.matches(" span request id=").count(), 3, "{model:?}: {exported}");
        let (serving, ended) = (processes(LINE), processes(END.trim_end()));
        assert!(serving.is_subset(&ended), "{model:?}: a guard was not dropped: {exported}");
        assert!(!serving.contains(&server.pid().to_string()) || model.contains(&"supervise=false"));
        // The log has its own levels, and the access log its lines.
        let errors = server.errors();
        assert_eq!(errors.matches("ERROR skep::request").count(), 3, "{model:?}: {errors}");
        assert!(!errors.contains("beginning"), "{model:?}: {errors}");
        assert_eq!(server.output().matches("GET /log/true 500").count(), 3, "{model:?}: {}", server.output());
    }
}

fn a_subscriber_that_main_installs() {
    for (model, access) in [("thread", "true"), ("prefork", "false")] {
        let setting = format!("log.access={access}");
        let (mut server, path) = start(INSTEAD, &["--mpm", model, "--set", &setting]);
        assert!(get(&server, "/log/true", "").starts_with("HTTP/1.1 500"));
        server.control("stop");
        assert_eq!(server.wait().code(), Some(0));
        let exported = fs::read_to_string(&path).unwrap();
        assert_eq!(exported.matches(LINE).count(), 1, "{model}: {exported}");
        assert!(!server.errors().contains("skep::request"), "{model}: {}", server.errors());
        assert_eq!(server.output().contains("GET /log/true 500"), access == "true", "{model}: {}", server.output());
    }
}
