//! Unit tests of `files::stamp`.

use super::*;

const NOW: i128 = 1_795_244_709_500_000_000;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(u64::try_from(NOW).unwrap())
}

fn changed(changed: i128) -> Stamp {
    Stamp { identity: (1, 2), size: 13, modified: changed, changed }
}

#[test]
fn a_stamp_settles_when_its_tick_is_over() {
    assert!(!changed(NOW).is_settled(now()));
    assert!(!changed(NOW - TICK).is_settled(now()));
    assert!(changed(NOW - TICK - 1).is_settled(now()));
    assert!(!changed(NOW + SECOND).is_settled(now()), "a clock that runs ahead proves nothing");
    let whole = NOW - NOW % SECOND;
    assert!(!changed(whole - SECOND).is_settled(now()));
    assert!(changed(whole - 2 * SECOND).is_settled(now()));
}

#[test]
fn the_tag_of_an_unsettled_file_never_returns() {
    let (fresh, old) = (changed(NOW), changed(NOW - SECOND + 1));
    assert_ne!(fresh.tag(Encoding::Identity, now()), fresh.tag(Encoding::Identity, now()));
    assert_eq!(old.tag(Encoding::Identity, now()), old.tag(Encoding::Identity, now()));
    assert_ne!(old.tag(Encoding::Identity, now()), old.tag(Encoding::Gzip, now()));
}
