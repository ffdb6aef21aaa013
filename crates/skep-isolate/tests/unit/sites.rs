//! Applications of Skep, driven native and as components: they give the same answers.

#[path = "sites/blog.rs"]
mod blog;
#[path = "sites/forms.rs"]
mod forms;
#[path = "sites/guest.rs"]
mod guest;
#[path = "sites/hives.rs"]
mod hives;
#[path = "sites/site.rs"]
mod site;

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::options::Options;
use guest::{Kept, component};
use site::{Said, Site, defaults};

/// Everything that must not differ between the two, but for what `get` and `post` note themselves.
fn same(native: &Said, component: &Said, what: &str) {
    assert_eq!(native.status, component.status, "{what}: {native:?}\n{component:?}");
    // Nonces differ in each response.
    let plain = |text: &str| {
        let mut parts = text.split("nonce");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| all + part.get(25..).unwrap_or_default())
    };
    // A native debug build reads assets from their folder, and a component has none.
    let immutable = if cfg!(debug_assertions) { "public, max-age=31536000, immutable" } else { "no other" };
    let fields = |said: &Said| plain(&format!("{:?}", said.fields)).replace(immutable, "no-cache");
    assert_eq!(fields(native), fields(component), "{what}");
    assert_eq!(plain(&native.text()), plain(&component.text()), "{what}");
}

fn both(kept: Kept) -> (Site, Site) {
    (Site::native(skep_isolate_app::app()), Site::component(&component("skep-isolate-app"), kept))
}

#[test]
fn statements_rows_and_failures_are_the_same() {
    let (native, component) = both(Kept::Snapshot);
    for path in ["/notes", "/errors", "/notes", "/words/word7", "/words/none", "/nowhere", "/part", "/part"] {
        same(&native.get(path), &component.get(path), path);
    }
    for path in ["/notes/a/keep", "/notes/b/refuse", "/notes/a/keep"] {
        same(&native.post(path, ""), &component.post(path, ""), path);
        same(&native.get("/notes"), &component.get("/notes"), path);
    }
    assert_eq!(component.get("/notes").text().lines().count(), 4, "{}", component.get("/notes").text());
}

#[test]
fn a_request_is_what_it_was() {
    let (native, component) = both(Kept::Snapshot);
    same(&native.get("/"), &component.get("/"), "who asks");
    assert!(component.get("/").text().contains("192.0.2.7:4321"), "{}", component.get("/").text());
    let long = "x".repeat(300_000);
    same(&native.post("/echo", &long), &component.post("/echo", &long), "a body in pieces");
    let longer = "x".repeat(1_000_001);
    same(&native.post("/echo", &longer), &component.post("/echo", &longer), "a body that is too long");
    assert_eq!(component.post("/echo", &longer).status, 413);
    same(&native.get("/count/50"), &component.get("/count/50"), "an answer in pieces");
}

#[test]
fn a_panic_shows_the_applications_own_page() {
    let (native, component) = both(Kept::Snapshot);
    same(&native.get("/panic"), &component.get("/panic"), "a page");
    assert!(component.get("/panic").text().contains("Sorry: "), "{}", component.get("/panic").text());
    let json = [("accept", "application/json")];
    let problem = component.ask("GET", "/panic", "", &json);
    same(&native.ask("GET", "/panic", "", &json), &problem, "a problem");
    assert!(problem.text().starts_with('{'), "{}", problem.text());
    same(&native.ask("HEAD", "/panic", "", &[]), &component.ask("HEAD", "/panic", "", &[]), "no body");
}

/// The application takes half a second for the page of a request that was too slow.
#[test]
fn an_error_page_takes_no_longer_than_its_time() {
    let wasm = component("skep-isolate-app");
    for (page, whose) in [(Duration::from_millis(50), "(--time)"), (Duration::from_mins(1), "Sorry: ")] {
        let limits = Options { time: Duration::from_millis(100), error_page_time: page, ..defaults() };
        let site = Site::component_with(tempfile::tempdir().unwrap(), &wasm, Kept::Snapshot, limits);
        let answer = site.get("/forever");
        assert_eq!(answer.status, 504);
        assert!(answer.text().contains(whose), "{page:?}: {}", answer.text());
    }
}

#[test]
fn a_transaction_of_a_dead_instance_is_undone() {
    let component = Site::component(&component("skep-isolate-app"), Kept::Snapshot);
    let before = component.get("/notes").text();
    assert_eq!(component.post("/notes/a/panic", "").status, 500);
    assert_eq!(component.get("/panic").status, 500);
    assert_eq!(component.get("/notes").text(), before);
    // A second transaction in the first would wait for itself; and the first is given back.
    assert_eq!(component.post("/notes/a/forget", "").status, 200);
    assert_eq!(component.post("/notes/b/keep", "").status, 200, "the writer is free");
}

#[test]
fn what_is_kept_for_users_outlives_their_instances() {
    let (native, component) = both(Kept::Snapshot);
    for site in [&native, &component] {
        assert_eq!(site.post("/visits", "").text(), "1");
        assert_eq!(site.post("/visits", "").text(), "2");
        assert_eq!(site.get("/visits").text(), "Some(2) [\"noted\"]");
        assert_eq!(site.get("/visits").text(), "Some(2) []");
        assert_eq!(site.stranger("/visits").text(), "None []");
    }
}

#[test]
fn a_cached_value_is_kept_until_it_is_invalidated() {
    // With `cold`, start-up work is done for each request, and it invalidates this tag.
    for kept in [Kept::Snapshot, Kept::Cached] {
        let (native, component) = both(kept);
        for site in [&native, &component] {
            for round in 1..20 {
                let part = format!("<p>made {round}</p>");
                assert_eq!(site.get("/part").text(), part);
                assert_eq!(site.get("/part").text(), part, "it is kept");
                assert_eq!(site.post("/part", "").status, 200);
            }
        }
    }
}

#[test]
fn who_dies_while_it_makes_a_part_lets_others_make_it() {
    let component = Site::component(&component("skep-isolate-app"), Kept::Snapshot);
    let begun = std::time::Instant::now();
    assert_eq!(component.get("/broken").status, 500);
    assert_eq!(component.get("/broken").text(), "<p>whole at last</p>");
    // The right to make it would last for half a minute.
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

#[test]
fn instances_share_neither_chance_nor_time_nor_statics() {
    let words = |said: Said| said.text().split(' ').map(str::to_owned).collect::<Vec<String>>();
    for kept in [Kept::Snapshot, Kept::Cold] {
        let component = Site::component(&component("skep-isolate-app"), kept);
        let (one, two) = (words(component.get("/chance")), words(component.get("/chance")));
        assert_ne!(one[0], two[0], "random numbers");
        assert_ne!(one[1], two[1], "the seed of hashes");
        assert!(one[2] < two[2], "the time");
        assert_eq!((one[3].as_str(), two[3].as_str()), ("0", "0"), "statics");
    }
    let cached = Site::component(&component("skep-isolate-app"), Kept::Cached);
    assert_eq!((words(cached.get("/chance"))[3].as_str(), words(cached.get("/chance"))[3].as_str()), ("0", "1"));
}

#[test]
fn what_a_request_leaves_in_memory_the_next_one_does_not_find() {
    let component = Site::component(&component("skep-isolate-app"), Kept::Snapshot);
    for _ in 0..2 {
        // `/part` takes more memory than there was: its instance ends with it.
        for path in ["/", "/chance", "/notes", "/words/word7", "/visits", "/part", "/errors", "/nowhere"] {
            component.get(path);
            let ([next, new], renewed) = component.memories();
            assert!(renewed == 1 || path == "/part", "{path}: an instance was reset");
            let differs = || next.iter().zip(&new).position(|(one, other)| one != other);
            assert!(next == new, "{path}: at {:x?} of {} and {}", differs(), next.len(), new.len());
        }
        component.post("/visits", "");
        component.post("/notes/a/keep", "");
        assert_eq!(component.post("/echo", &"x".repeat(100_000)).status, 200);
        let ([next, new], _) = component.memories();
        assert!(next == new);
    }
}

#[test]
fn a_program_says_itself_whether_it_is_kept() {
    let component = Site::component(&component("skep-isolate-app"), Kept::Snapshot);
    let count = |path: &str| component.get(path).text();
    assert_eq!((count("/kept/0"), count("/kept/0")), ("0".into(), "0".into()));
    assert_eq!(count("/kept/9"), "0");
    assert_eq!((count("/kept/9"), count("/kept/0")), ("1".into(), "2".into()), "one instance");
    assert_eq!(count("/kept/0"), "0", "which was released");
}

#[test]
fn a_check_keeps_nothing() {
    use crate::application::Application;
    use crate::settings::Cache;
    use crate::table::Table;
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        name: "app".into(),
        file: component("skep-isolate-app"),
        instances: 10,
        probe: "/notes".into(),
        baseline: true,
        ..defaults()
    };
    let application = std::sync::Arc::new(Application::new(options));
    let table = std::sync::Arc::new(Table::new(vec![application], None).unwrap_or_else(|error| panic!("{error}")));
    let server = crate::data::ServerSettings::for_check(folder.path().to_owned(), Vec::new(), None);
    crate::serve::start(&table, &Cache::None, &server).unwrap_or_else(|error| panic!("{error}"));
    assert!(table.applications[0].current().is_some_and(|version| version.program.grants.is_check));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_answer_that_nobody_reads_ends_with_its_time() {
    let (wasm, millis) = (component("skep-isolate-app"), std::time::Duration::from_millis);
    let limits = Options { time: millis(300), ..defaults() };
    let hurried = Site::component_with(tempfile::tempdir().unwrap(), &wasm, Kept::Snapshot, limits);
    assert_eq!(hurried.unread("/count/50", millis(900)), (1, 0, false));
    let patient = Site::component(&wasm, Kept::Snapshot);
    assert_eq!(patient.unread("/count/50", millis(900)), (1, 1, true));
}

#[test]
fn jobs_run_beside_the_requests_and_remember() {
    let component = Site::component(&component("skep-isolate-app"), Kept::Snapshot);
    component.start_jobs();
    let begun = std::time::Instant::now();
    while !component.get("/notes").text().contains("tick 2") {
        assert!(begun.elapsed().as_secs() < 60, "{}", component.get("/notes").text());
    }
}

/// A body that uses up what its task may do in one turn, when it is read and when it is dropped.
struct Spends;

fn spend() {
    let mut cx = Context::from_waker(Waker::noop());
    // Outside of a task there is no end of it.
    for _ in 0..10_000 {
        match tokio::task::coop::poll_proceed(&mut cx) {
            Poll::Ready(progress) => progress.made_progress(),
            Poll::Pending => return,
        }
    }
}

impl http_body::Body for Spends {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, std::convert::Infallible>>> {
        spend();
        Poll::Ready(None)
    }
}

impl Drop for Spends {
    fn drop(&mut self) {
        spend();
    }
}

/// It was a 500, "did not finish its response", in one of a hundred requests with a large body.
#[test]
fn a_response_is_whole_though_its_task_has_nothing_left_of_its_turn() {
    let component = Site::baseline(&component("hello"));
    for _ in 0..3 {
        let said = component.send("/", skep::Body::stream(Spends));
        assert_eq!(said.status, 405, "{}", said.text());
    }
}

#[test]
fn a_component_without_wishes_runs_anywhere() {
    let wasm = std::fs::read(component("hello")).unwrap();
    let names = |package: &[u8]| wasm.windows(package.len()).any(|bytes| bytes == package);
    assert!(names(b"skep:host/handler@") && !names(b"skep:host/sql@") && !names(b"skep:host/cache@"));
    let (native, component) = (Site::native(hello::app()), Site::baseline(&component("hello")));
    for path in ["/", "/page", "/nowhere"] {
        same(&native.get(path), &component.get(path), path);
    }
}
