//! Unit tests of `services::requests`.

use super::*;

#[test]
fn a_request_fills_no_log() {
    let current = Current::default();
    let told = |current: &Current| (0..LINES + 9).filter(|_| current.may_tell()).count() as u64;
    assert_eq!((told(&current), told(&current.clone())), (LINES, 0));
    current.set(2.into());
    assert_eq!(told(&current), LINES);
}

#[test]
fn the_field_says_who_asks() {
    let sender = Sender { id: 7.into(), peer: Peer::new(Some(([127, 0, 0, 1], 80).into()), false) };
    let value = sender.value();
    let words: Vec<&str> = value.to_str().unwrap().split(' ').collect();
    assert_eq!((words[0], words[1].len(), words[2]), ("0000000000000007", 32, "127.0.0.1:80"));
}
