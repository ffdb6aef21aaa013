//! What is held in memory is what the disk has.

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::*;

/// A file that is held, with the tag it has.
fn held(content: &str) -> (Site, String) {
    let site = Site::new(&[("a.txt", content)]);
    settle();
    site.get("a.txt");
    let answer = site.get("a.txt");
    assert!(is_from_memory(&answer));
    let tag = etag(&answer);
    (site, tag)
}

#[test]
fn every_change_of_a_held_file_is_seen_at_once() {
    type Change = fn(&Site);
    let changes: [(&str, Change, &str); 6] = [
        ("written again", |site| fs::write(site.path("a.txt"), "other").unwrap(), "other"),
        (
            "replaced",
            |site| {
                fs::write(site.path("new"), "fresh").unwrap();
                fs::rename(site.path("new"), site.path("a.txt")).unwrap();
            },
            "fresh",
        ),
        (
            "replaced by one of the same size and date",
            |site| {
                let date = fs::metadata(site.path("a.txt")).unwrap().modified().unwrap();
                fs::write(site.path("new"), "fresh").unwrap();
                fs::File::options().append(true).open(site.path("new")).unwrap().set_modified(date).unwrap();
                fs::rename(site.path("new"), site.path("a.txt")).unwrap();
            },
            "fresh",
        ),
        (
            "written in place, with the old date set again",
            |site| {
                let date = fs::metadata(site.path("a.txt")).unwrap().modified().unwrap();
                fs::write(site.path("a.txt"), "other").unwrap();
                fs::File::options().append(true).open(site.path("a.txt")).unwrap().set_modified(date).unwrap();
            },
            "other",
        ),
        (
            "truncated",
            |site| fs::File::options().write(true).open(site.path("a.txt")).unwrap().set_len(2).unwrap(),
            "fi",
        ),
        (
            "appended to",
            |site| fs::File::options().append(true).open(site.path("a.txt")).unwrap().write_all(b", more").unwrap(),
            "first, more",
        ),
    ];
    for (what, change, content) in changes {
        let (site, tag) = held("first");
        change(&site);
        let answer = site.get_with("a.txt", &[(header::IF_NONE_MATCH, &tag)]);
        assert_eq!(answer.status(), 200, "{what}");
        assert_ne!(etag(&answer), tag, "{what}");
        assert_eq!(text(answer), content, "{what}");
        settle();
        site.get("a.txt");
        let again = site.get("a.txt");
        assert!(is_from_memory(&again), "{what}");
        assert_eq!(text(again), content, "{what}");
    }
}

#[test]
fn a_touched_file_has_another_date() {
    let (site, _) = held("first");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    fs::File::options().append(true).open(site.path("a.txt")).unwrap().set_modified(then).unwrap();
    assert_eq!(field(&site.get("a.txt"), header::LAST_MODIFIED), "Sun, 06 Nov 1994 08:49:37 GMT");
}

#[test]
fn a_held_file_that_goes_is_gone() {
    let (site, _) = held("first");
    fs::remove_file(site.path("a.txt")).unwrap();
    assert_eq!(site.status("a.txt", &[]), 404);
    fs::create_dir(site.path("a.txt")).unwrap();
    assert_eq!(site.status("a.txt", &[]), 404);
    fs::remove_dir(site.path("a.txt")).unwrap();
    fs::write(site.path("a.txt"), "back").unwrap();
    assert_eq!(site.text("a.txt"), "back");
}

#[test]
fn what_was_missing_is_found_as_soon_as_it_is_there() {
    let site = Site::new(&[]);
    assert_eq!(site.status("late.txt", &[]), 404);
    fs::write(site.path("late.txt"), "late").unwrap();
    assert_eq!(site.text("late.txt"), "late");
}

/// Two changes within one tick of the clock leave the same stamp; a file that fresh is not held, and its tag is not
/// used again.
#[test]
fn a_file_changed_twice_within_a_tick_is_never_stale() {
    let site = Site::new(&[("a.txt", "0000")]);
    let mut tags: HashMap<String, String> = HashMap::new();
    for round in 0..2000 {
        let content = format!("{round:04}");
        fs::write(site.path("a.txt"), &content).unwrap();
        for _ in 0..2 {
            let answer = site.get("a.txt");
            let tag = etag(&answer);
            assert_eq!(text(answer), content);
            assert!(tags.get(&tag).is_none_or(|known| *known == content), "one tag for two contents");
            tags.insert(tag, content.clone());
        }
    }
}

#[test]
fn a_fresh_file_is_not_held_and_an_old_one_is() {
    let site = Site::new(&[]);
    // On a busy machine a file may have grown old by the time it is asked for: one of many must do.
    let mut tries = (0..100).map(|_| fs::write(site.path("a.txt"), "a").map(|()| site.get("a.txt")).unwrap());
    assert!(tries.any(|answer| !is_from_memory(&answer)));
    settle();
    assert!(is_from_memory(&site.get("a.txt")));
}

#[test]
fn only_small_files_are_held() {
    let (small, large) = ("x".repeat(100), "x".repeat(101));
    let site = Site::with(&[("small", &small), ("large", &large)], |files| files.held_file(100));
    settle();
    for (path, is_held) in [("small", true), ("large", false)] {
        assert_eq!(is_from_memory(&site.get(path)), is_held, "{path}");
    }
    let site = Site::with(&[("small", &small)], |files| files.held(0));
    settle();
    assert!(!is_from_memory(&site.get("small")));
}

/// Readers see whole files only, and one tag never stands for two contents.
#[test]
fn threads_that_read_never_see_a_mixture() {
    let site = Site::new(&[("a.txt", "0")]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut tags: HashMap<String, String> = HashMap::new();
                while !is_over.load(Ordering::Relaxed) {
                    let answer = site.get("a.txt");
                    let tag = etag(&answer);
                    let content = text(answer);
                    let first = content.as_bytes()[0];
                    assert!(content.bytes().all(|byte| byte == first), "{content}");
                    assert_eq!(*tags.entry(tag).or_insert_with(|| content.clone()), content);
                }
            });
        }
        for round in 0..12_u8 {
            let content = char::from(b'a' + round).to_string().repeat(200 + usize::from(round % 3));
            fs::write(site.path("new"), content).unwrap();
            fs::rename(site.path("new"), site.path("a.txt")).unwrap();
            settle();
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
