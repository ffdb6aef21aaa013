//! Tests of `members`.

use super::*;

fn tracked(id: &str, who: &str) -> Tracked {
    Tracked { presence: "viewers", key: "7".into(), id: id.into(), who: who.into() }
}

fn row(number: i64, id: &str, who: &str) -> (i64, Arc<Tracked>) {
    (number, Arc::new(tracked(id, who)))
}

/// Writes what is due now.
fn write(members: &Members) -> Due {
    let due = members.due(Instant::now());
    members.written(&due);
    due
}

#[test]
fn who_comes_is_written_once_and_who_goes_after_a_while() {
    let members = Arc::new(Members::default());
    let ann = members.join(tracked("1", "\"Ann\""));
    let now = Instant::now();
    let due = members.due(now);
    assert_eq!(due, Due { here: vec![row(1, "1", "\"Ann\"")], is_anybody: true, ..Due::default() });
    members.written(&due);
    assert_eq!(members.due(now), Due { is_anybody: true, ..Due::default() });
    drop(ann);
    let leaves = members.due(now).next.unwrap();
    assert!(leaves > now && leaves <= Instant::now() + LINGER);
    let due = members.due(leaves);
    assert_eq!((due.gone.len(), due.next), (1, None));
    members.written(&due);
    assert_eq!(members.due(leaves), Due::default());
}

#[test]
fn who_goes_before_it_was_written_was_never_there() {
    let members = Arc::new(Members::default());
    drop(members.join(tracked("1", "1")));
    assert_eq!(members.due(Instant::now()), Due::default());
}

#[test]
fn who_changes_while_that_is_written_is_written_again() {
    let members = Arc::new(Members::default());
    let mut present = vec![members.join(tracked("1", "1"))];
    let due = members.due(Instant::now());
    replace(&mut present, vec![tracked("1", "2")], |_| unreachable!("it is the same one"));
    members.written(&due);
    let due = members.due(Instant::now());
    assert_eq!(due.here, [row(1, "1", "2")]);
    members.written(&due);
    assert!(members.due(Instant::now()).here.is_empty());
    members.forget_written();
    assert_eq!(members.due(Instant::now()).here, due.here);
}

#[test]
fn a_page_that_tracks_others_replaces_those() {
    let members = Arc::new(Members::default());
    let mut present = Vec::new();
    let mut now = |tracked| replace(&mut present, tracked, |one| Some(members.join(one)));
    now(vec![tracked("1", "1"), tracked("2", "2")]);
    now(vec![tracked("3", "3"), tracked("2", "2")]);
    let here = members.due(Instant::now()).here;
    assert_eq!(here, [row(2, "2", "2"), row(3, "3", "3")]);
}

/// Also if the connection ends before that is written again.
#[test]
fn who_has_a_row_loses_it_though_it_is_not_current() {
    let members = Arc::new(Members::default());
    let ann = members.join(tracked("1", "1"));
    write(&members);
    members.forget_written();
    drop(ann);
    let leaves = members.due(Instant::now()).next.unwrap();
    assert_eq!(members.due(leaves).gone, [row(1, "1", "1")]);

    let mut present = vec![members.join(tracked("2", "2"))];
    write(&members);
    replace(&mut present, vec![tracked("2", "3")], |_| unreachable!("it is the same one"));
    present.clear();
    let due = members.due(Instant::now() + LINGER);
    assert_eq!(due.gone, [row(1, "1", "1"), row(2, "2", "3")]);
    members.written(&due);
    assert_eq!(members.due(leaves + LINGER), Due::default());
}

#[test]
fn who_comes_back_in_time_is_not_written_again() {
    let members = Arc::new(Members::default());
    let first = members.join(tracked("1", "1"));
    write(&members);
    let second = members.join(tracked("1", "1"));
    drop(first);
    assert_eq!(write(&members), Due { is_anybody: true, ..Due::default() });
    drop(second);
    assert!(members.due(Instant::now()).next.is_some());
    let again = members.join(tracked("1", "1"));
    assert_eq!(members.due(Instant::now() + LINGER), Due { is_anybody: true, ..Due::default() });
    drop(again);
    // Who comes back while the row is deleted gets it again.
    let due = members.due(Instant::now() + LINGER);
    let _again = members.join(tracked("1", "1"));
    members.written(&due);
    assert_eq!(write(&members).here, [row(1, "1", "1")]);
}

/// Each page of somebody with two says it of itself; one does not take it from the other.
#[test]
fn two_pages_of_one_may_differ() {
    let members = Arc::new(Members::default());
    let mut first = vec![members.join(tracked("1", "a"))];
    let _second = members.join(tracked("1", "a"));
    write(&members);
    replace(&mut first, vec![tracked("1", "b")], |_| unreachable!("it is the same one"));
    assert_eq!(write(&members).here, [row(2, "1", "b")]);
    replace(&mut first, vec![tracked("1", "a")], |_| unreachable!("it is the same one"));
    assert!(write(&members).here.is_empty());
    assert_eq!(members.due(Instant::now() + LINGER).gone, [row(2, "1", "b")]);
}
