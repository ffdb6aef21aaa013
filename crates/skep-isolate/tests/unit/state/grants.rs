//! Unit tests of `state::grants`.

use super::*;

#[test]
fn requests_leave_to_hosts_that_were_named() {
    let grants = Grants { allow_out: vec!["api.example.org".into(), "LOCAL:81".into()], ..Grants::default() };
    assert!(grants.allows("API.example.org", None) && grants.allows("api.example.org", Some(8443)));
    assert!(grants.allows("local", Some(81)) && !grants.allows("local", Some(82)) && !grants.allows("local", None));
    assert!(!grants.allows("evil.example.org", None) && !Grants::default().allows("localhost", None));
    assert!(Grants { allow_out: vec!["*".into()], ..Grants::default() }.allows("any", None));
}

#[test]
fn what_was_asked_for_has_a_name() {
    let frozen = Frozen::default();
    assert!(frozen.asked().is_empty());
    frozen.note(Frozen::RANDOM);
    frozen.note(Frozen::CLOCK);
    assert_eq!(frozen.asked(), ["the time", "secure random numbers"]);
}
