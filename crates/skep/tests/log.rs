//! `derive(Log)`: what an application's own subscriber sees of categories, and of requests as spans.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use skep::log::{Category, Log};
use skep::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A subscriber of the program's: it notes events up to a level, and spans.
#[derive(Clone)]
struct Notes {
    level: Level,
    /// The category `raised` has all levels.
    is_raised: Arc<AtomicBool>,
    lines: Arc<Mutex<Vec<String>>>,
}

struct Text(String);

impl Visit for Text {
    fn record_u64(&mut self, field: &Field, value: u64) {
        let _ = write!(self.0, " {}={value}u64", field.name());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Notes {
    fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    /// What is noted of some work.
    fn of(level: Level, work: impl FnOnce()) -> Vec<String> {
        let notes = Self { level, is_raised: Arc::default(), lines: Arc::default() };
        tracing::subscriber::with_default(notes.clone(), work);
        let lines = notes.lines.lock().unwrap();
        lines.clone()
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_raised = metadata.target() == "raised" && self.is_raised.load(Ordering::Relaxed);
        is_raised || *metadata.level() <= self.level
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(format!("span {}", span.metadata().name()));
        span.record(&mut text);
        self.note(text.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut text = Text("span".into());
        values.record(&mut text);
        self.note(text.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut text);
        self.note(text.0);
    }

    fn enter(&self, _: &Id) {
        self.note("enter".into());
    }

    fn exit(&self, _: &Id) {
        self.note("exit".into());
    }
}

#[derive(Log)]
struct Search;

#[derive(Log)]
#[log(category = "blog.mail")]
struct Mail<T>(T);

static PLAIN: Category = Category::new("plain");

#[test]
fn a_type_logs_in_its_category_with_typed_fields() {
    let lines = Notes::of(Level::INFO, || {
        Search.log().info("searched").field("hits", 3_u32).field("word", "bee").field("none", None::<u32>);
        Mail(1).log().warn(format_args!("slow: {}", 1)).display("seconds", &1.5).debug("list", &[1, 2]);
        PLAIN.error("plain").lazy("owned", || "made".to_owned());
    });
    assert_eq!(
        lines,
        [
            "INFO log::Search message=searched hits=3u64 word=\"bee\"",
            "WARN blog.mail message=slow: 1 seconds=1.5 list=[1, 2]",
            "ERROR plain message=plain owned=\"made\"",
        ]
    );
}

#[test]
fn a_suppressed_line_evaluates_nothing() {
    let lines = Notes::of(Level::INFO, || {
        Search.log().debug("searched").lazy("hits", || -> u32 { panic!("evaluated") });
        assert!(!Search::category().is_enabled(Level::DEBUG) && Search::category().is_enabled(Level::WARN));
    });
    assert_eq!(lines, [""; 0]);
}

#[test]
fn a_level_that_is_changed_counts_from_the_next_line_and_for_no_other_category() {
    static RAISED: Category = Category::new("raised");
    static OTHER: Category = Category::new("other");
    let notes = Notes { level: Level::INFO, is_raised: Arc::default(), lines: Arc::default() };
    tracing::subscriber::with_default(notes.clone(), || {
        for is_raised in [false, true, false, true] {
            notes.is_raised.store(is_raised, Ordering::Relaxed);
            tracing::callsite::rebuild_interest_cache();
            RAISED.debug("a").field("n", 1);
            OTHER.debug("b").field("n", 1);
            assert_eq!([&RAISED, &OTHER].map(|category| category.is_enabled(Level::DEBUG)), [is_raised, false]);
        }
    });
    assert_eq!(*notes.lines.lock().unwrap(), ["DEBUG raised message=a n=1"; 2]);
}

#[test]
fn other_fields_are_another_callsite_of_the_category() {
    let lines = Notes::of(Level::INFO, || {
        for round in 0..2_u32 {
            Search.log().info("a").field("x", round);
            Search.log().info("a").field("y", round);
            Search.log().info("a");
        }
        let many = (0..20_u32).fold(Search.log().info("many"), |line, number| line.field("n", number));
        drop(many);
    });
    let expected = ["x=0u64", "y=0u64", "message=a", "x=1u64", "y=1u64", "message=a"];
    assert!(lines.iter().zip(expected).all(|(line, end)| line.ends_with(end)), "{lines:?}");
    assert_eq!(lines[6].matches(" n=").count(), 16, "{lines:?}");
}

#[derive(Service)]
#[service(GET "/hello")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.set_user("ann");
        PLAIN.info("within");
        Ok(Response::text("hello"))
    }
}

#[test]
fn a_subscriber_of_the_program_sees_each_request_as_a_span() {
    let lines = Notes::of(Level::INFO, || {
        assert_eq!(skep::test::Client::new(App::new().serve(services![Hello])).get("/hello").status(), 200);
    });
    assert!(
        lines[0].starts_with("span request id=") && lines[0].ends_with(" method=\"GET\" path=\"/hello\""),
        "{lines:?}"
    );
    assert_eq!(lines[1..], ["enter", "span user=\"ann\"", "INFO plain message=within", "exit"]);
}
