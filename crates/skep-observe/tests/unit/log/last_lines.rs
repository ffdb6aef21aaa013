//! Unit tests of `log::last_lines`. `tests/processes/logs.rs` kills whole processes.

use super::*;

/// Two processes with two buffers each, whose reserve is as large as the rest.
fn lines(buffer: usize) -> Arc<LastLines> {
    LastLines::new(LastLines::file().unwrap(), 2, 2, 2 * buffer).unwrap()
}

fn area(buffer: usize) -> Area {
    let area = lines(buffer).areas(0).next().unwrap();
    assert!(area.claim("stdout", b'\n'));
    area
}

fn left(area: &Area) -> String {
    String::from_utf8(area.rest().lines).unwrap()
}

#[test]
fn what_waits_and_what_is_not_written_yet_is_left() {
    let area = area(4096);
    area.append(b"one\n");
    area.append(b"two\n");
    assert_eq!(left(&area), "one\ntwo\n");
    area.swap();
    area.append(b"three\n");
    area.progress().wrote(4);
    assert_eq!(left(&area), "two\nthree\n");
    // The sink gets the rest, and says how much of that it took.
    area.progress().wrote(4);
    assert_eq!(left(&area), "three\n");
    area.swap();
    area.append(b"four\n");
    assert_eq!(left(&area), "three\nfour\n");
    area.release();
    assert_eq!((left(&area), area.owner()), (String::new(), 0));
}

#[test]
fn a_half_that_is_full_has_no_gap() {
    let area = area(4096);
    let long = vec![b'x'; 60 << 10];
    area.append(&long);
    area.append(&long);
    area.append(b"short\n");
    assert_eq!((area.rest().lines.len(), area.rest().missed), (long.len(), 2));
    area.swap();
    area.append(b"next\n");
    area.progress().wrote(2 * long.len() + 6);
    assert_eq!(left(&area), "next\n");
    area.swap();
    area.swap();
    assert_eq!(area.rest().missed, 0);
}

#[test]
fn memory_of_an_unusual_number_of_lines_is_given_back() {
    let area = area(1 << 20);
    let blocks = || rustix::fs::fstat(area.lines.memory.file()).unwrap().st_blocks * 512;
    (0..32).for_each(|_| area.append(&vec![b'x'; 64 << 10]));
    assert!(blocks() >= 2 << 20);
    area.swap();
    area.progress().wrote(2 << 20);
    area.swap();
    assert!(blocks() < 64 << 10, "{}", blocks());
    area.append(b"next\n");
    assert_eq!(left(&area), "next\n");
}

#[test]
fn an_interrupted_write_to_a_file_is_known_until_it_is_over() {
    let area = area(4096);
    area.append(b"one\n");
    area.swap();
    area.progress().begins(7, 100);
    assert_eq!(area.rest().begun, Some((7, 100)));
    // It was killed between both.
    let begun = area.progress();
    area.word(DONE + 1 - area.current()).store(4, Ordering::Relaxed);
    assert_eq!((area.rest().begun, left(&area)), (None, String::new()));
    begun.wrote(4);
    assert_eq!(area.rest().begun, None);
}

#[test]
fn each_process_has_areas_of_its_own_and_all_are_found() {
    let lines = lines(4096);
    let claim = |areas: &Areas| {
        let mut claimed = 0;
        while let Some(area) = areas.next() {
            assert!(area.claim("file:/tmp/a", 0));
            claimed += 1;
        }
        claimed
    };
    assert_eq!([0, 1, 2].map(|process| claim(&lines.areas(process))), [2, 2, 0]);
    let other = LastLines::open(lines.memory.file().try_clone().unwrap()).unwrap().unwrap();
    let (all, mut found) = (other.all(), 0);
    while let Some(area) = all.next() {
        let Rest { output, end, .. } = area.rest();
        assert_eq!((&*output, end, area.owner()), ("file:/tmp/a", 0, std::process::id()));
        found += 1;
    }
    assert_eq!(found, 4);
    assert!(!lines.areas(0).next().unwrap().claim(&"x".repeat(4096), 0));
}

/// Any bytes at all are in the memory of a process that went wrong.
#[test]
fn what_makes_no_sense_is_nothing() {
    assert!(LastLines::open(LastLines::file().unwrap()).unwrap().is_none(), "nobody laid it out");
    let lines = lines(4096);
    let area = lines.areas(0).next().unwrap();
    (0..PAGE).for_each(|at| area.word(at).store(u64::MAX, Ordering::Relaxed));
    let rest = area.rest();
    assert_eq!((rest.lines.len(), &*rest.output), (0, ""));
    for (at, number) in [(HALF, u64::MAX), (HALF, 0), (MAGIC, 1)] {
        let lines = self::lines(4096);
        lines.word(at).store(number, Ordering::Relaxed);
        assert!(LastLines::open(lines.memory.file().try_clone().unwrap()).unwrap().is_none());
    }
    lines.word(AREAS).store(u64::MAX, Ordering::Relaxed);
    assert!(lines.areas(1).next().is_none());
}
