//! Tests of `members`.

use super::*;

fn tracked(id: &str, who: &str) -> Tracked {
    Tracked { presence: "viewers", key: "7".into(), id: id.into(), who: who.into() }
}

#[test]
fn who_comes_is_written_once_and_who_goes_after_a_while() {
    let members = Arc::new(Members::default());
    let ann = members.join(tracked("1", "\"Ann\""));
    let now = Instant::now();
    let due = members.due(now);
    assert_eq!(due, Due { here: vec![(1, tracked("1", "\"Ann\""))], is_anybody: true, ..Due::default() });
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
    assert_eq!(due.here, [(1, tracked("1", "2"))]);
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
    assert_eq!(here, [(2, tracked("2", "2")), (3, tracked("3", "3"))]);
}
