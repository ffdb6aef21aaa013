//! What one request leaves for the next, under the three module caches. The traps of the old ones are in here.

use super::Test;
use super::guests;
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("each_request_sees_the_first_value_of_a_static_unless_cached", each_request_sees_the_first_value),
    ("a_session_in_a_static_leaks_with_cached_and_with_nothing_else", a_session_leaks_with_cached_only),
    ("start_up_code_runs_once_for_a_snapshot", start_up_code_runs_once),
    ("random_numbers_of_instances_differ", random_numbers_differ),
    ("an_instance_that_trapped_is_never_used_again", trapped_is_thrown_away),
    ("an_instance_that_was_refused_memory_is_never_used_again", refused_is_thrown_away),
    ("an_instance_serves_no_more_requests_than_its_limit", ends_at_its_limit),
    ("an_instance_that_is_reset_equals_a_new_one", reset),
];

fn serve(component: &std::path::Path, how: &str, more: &[&str]) -> Server {
    let arguments = [&[component.to_str().unwrap(), "--module-cache", how, "--set", "workers=1"], more].concat();
    Server::start(&arguments)
}

/// The program that the old module cache was shown with.
fn each_request_sees_the_first_value() {
    for (how, second) in [("snapshot", 1), ("cold", 1), ("cached", 2)] {
        for component in [guests::plain(), guests::with_init()] {
            let server = serve(&component, how, &["--probe", "/env"]);
            assert_eq!(server.text("/counts"), "static 1 local 1", "{how}");
            assert_eq!(server.text("/counts"), format!("static {second} local 1"), "{how}");
        }
    }
}

fn a_session_leaks_with_cached_only() {
    for (how, seen_by_another) in [("snapshot", "nobody"), ("cold", "nobody"), ("cached", "alice")] {
        let server = serve(&guests::plain(), how, &["--status", "/-/isolate"]);
        assert_eq!(server.text("/login?alice"), "welcome");
        assert_eq!(server.text("/whoami"), seen_by_another, "{how}");
        let warns = server.text("/-/isolate").contains("WARNING: instances keep state between requests");
        assert_eq!(warns, how == "cached", "{how}: the status page says so");
    }
}

fn start_up_code_runs_once() {
    for (how, first, second) in
        [("snapshot", "ready", "ready"), ("cold", "ready", "ready"), ("cached", "ready", "ready")]
    {
        let server = serve(&guests::with_init(), how, &[]);
        assert_eq!(server.text("/table?7"), format!("{first} value 7"), "{how}");
        assert_eq!(server.text("/table?1001"), format!("{second} nothing"), "{how}");
        assert_eq!((server.text("/inits"), server.text("/inits")), ("1".into(), "1".into()), "{how}: not once more");
    }
    // Without start-up code the table is built by the request that wants it.
    let server = serve(&guests::plain(), "snapshot", &["--status", "/-/isolate"]);
    assert_eq!(server.text("/table?7"), "built value 7");
    assert_eq!(server.text("/table?7"), "built value 7");
    assert!(!server.text("/-/isolate").contains("start-up code in its image"));
    // An image of many pages, of which a request sees a few.
    let server = serve(&guests::with_init(), "snapshot", &["--env", "ENTRIES=50000", "--status", "/-/isolate"]);
    assert_eq!(server.text("/table?49999"), "ready value 49999");
    assert!(server.text("/-/isolate").contains("start-up code in its image"));
}

fn random_numbers_differ() {
    for how in ["snapshot", "cold", "cached"] {
        for component in [guests::plain(), guests::with_init()] {
            let server = serve(&component, how, &[]);
            let (one, other) = (server.text("/random"), server.text("/random"));
            let secure = |text: &str| text.split_once(' ').unwrap().1.to_owned();
            assert_ne!(secure(&one), secure(&other), "{how}");
        }
        let server = serve(&guests::plain(), how, &[]);
        let hash = || server.text("/random").split_once(' ').unwrap().0.to_owned();
        assert_ne!(hash(), hash(), "{how}: the seed of hash maps");
    }
}

fn trapped_is_thrown_away() {
    let server = serve(&guests::plain(), "cached", &["--time", "1s", "--memory", "32MiB"]);
    for (path, status) in [("/panic", 500), ("/unreachable", 500), ("/memory", 500), ("/loop", 504), ("/exit", 500)] {
        server.text("/login?alice");
        assert_eq!(server.text("/whoami"), "alice");
        assert_eq!(server.get(path).status, status, "{path}");
        assert_eq!(server.text("/whoami"), "nobody", "{path} threw the instance away");
    }
}

/// It lives, without what it wanted.
fn refused_is_thrown_away() {
    let server = serve(&guests::plain(), "cached", &["--memory", "32MiB"]);
    server.text("/login?alice");
    assert_eq!(server.text("/whoami"), "alice");
    assert_eq!(server.text("/refused"), "refused");
    assert_eq!(server.text("/whoami"), "nobody");
}

fn ends_at_its_limit() {
    let server = serve(&guests::plain(), "cached", &["--reuse-requests", "2", "--probe", "/"]);
    let counts: Vec<String> = (0..5).map(|_| server.text("/counts")).collect();
    // The probe was the first request of the first instance.
    assert_eq!(
        counts,
        ["static 1 local 1", "static 1 local 1", "static 2 local 1", "static 1 local 1", "static 2 local 1"]
    );
    // More than a few are not exact: each instance has a number of its own.
    let server = serve(&guests::plain(), "cached", &["--reuse-requests", "10", "--probe", "/"]);
    let counts: Vec<u32> =
        (0..200).map(|_| server.text("/counts").split(' ').nth(1).unwrap().parse().unwrap()).collect();
    let lives: Vec<u32> = counts.windows(2).filter(|pair| pair[1] == 1).map(|pair| pair[0]).skip(1).collect();
    assert!(lives.len() >= 18 && lives.iter().all(|life| (8..=10).contains(life)), "{lives:?}");
    assert!(lives.iter().any(|other| *other != lives[0]), "{lives:?}");
    let server = serve(&guests::plain(), "cached", &["--reuse-idle", "300ms"]);
    assert_eq!(
        (server.text("/counts"), server.text("/counts")),
        ("static 1 local 1".into(), "static 2 local 1".into())
    );
    // Longer than `--reuse-idle`; to ask meanwhile would use the instance.
    std::thread::sleep(std::time::Duration::from_millis(400));
    assert_eq!(server.text("/counts"), "static 1 local 1");
}

/// With one thread and one request after the other it is the same instance each time.
fn reset() {
    for component in [guests::plain(), guests::with_init()] {
        let server = serve(&component, "snapshot", &["--status", "/-/isolate"]);
        server.wait_until_optimised();
        let (handle, pages) = (server.text("/handle"), server.text("/pages"));
        for _ in 0..3 {
            assert_eq!(server.text("/scribble?x"), "0");
            assert_eq!(server.text("/counts"), "static 1 local 1");
            assert_eq!(server.text("/login?alice"), "welcome");
            assert_eq!(server.text("/whoami"), "nobody");
            assert_eq!((server.text("/handle"), server.text("/pages")), (handle.clone(), pages.clone()));
        }
        let counted = |what: &str| {
            let status = server.text("/-/isolate");
            let (before, _) = status.split_once(what).unwrap_or_else(|| panic!("{what} in {status}"));
            before.rsplit(' ').next().unwrap().parse::<u32>().unwrap()
        };
        assert!(counted(" reset and reused") >= 10, "{}", server.text("/-/isolate"));
        // What was left open is closed: the first print opens standard output, and nobody finds it open.
        let made = counted(" made,");
        for _ in 0..3 {
            assert_eq!(server.text("/print"), "printed");
            assert_eq!(server.text("/whoami"), "nobody");
        }
        server.wait_for("printed to standard output");
        assert_eq!(counted(" made,"), made, "{}", server.text("/-/isolate"));
        // Their numbers are of a bounded kind: nobody finds them used up.
        for _ in 0..15 {
            assert_eq!(server.text("/litter?9000"), "littered", "{}", server.log());
            assert_eq!(server.text("/whoami"), "nobody");
        }
        // An instance is thrown away if it cannot be reset or is not worth it: its memory grew, it failed, or it wrote
        // too much.
        for path in ["/grow", "/panic", "/unfinished", "/sweep", "/sweep"] {
            let made = counted(" made,");
            let answer = server.get(path);
            assert!(path != "/sweep" || answer.text == "0", "{path}: {}", answer.text);
            assert_eq!((server.text("/pages"), server.text("/whoami")), (pages.clone(), "nobody".into()), "{path}");
            // The next one is reset again, whatever its predecessor left in the memory.
            assert_eq!(counted(" made,"), made + 1, "{path}: {}", server.text("/-/isolate"));
        }
    }
}
