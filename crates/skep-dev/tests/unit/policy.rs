//! Tests of `policy`.

use super::allow;

#[test]
fn the_policy_of_the_framework_stays_as_it_is() {
    let policy = "default-src 'self'; script-src 'self' 'nonce-abc'; style-src 'self'; frame-ancestors 'none'";
    assert_eq!(allow(policy, "n"), policy);
    assert_eq!(allow("frame-ancestors 'none'", "n"), "frame-ancestors 'none'");
}

#[test]
fn what_is_missing_is_added_and_nothing_else() {
    assert_eq!(
        allow("default-src 'none'; img-src *", "n"),
        "default-src 'none'; img-src *; script-src-elem 'self'; connect-src 'self'; frame-src 'self'"
    );
    assert_eq!(
        allow("script-src 'unsafe-inline'; connect-src 'none'", "n"),
        "script-src 'unsafe-inline'; connect-src 'self'; script-src-elem 'unsafe-inline' 'self'"
    );
    assert_eq!(
        allow("script-src 'strict-dynamic' 'nonce-a'", "n"),
        "script-src 'strict-dynamic' 'nonce-a'; script-src-elem 'strict-dynamic' 'nonce-a' 'nonce-n'"
    );
    assert_eq!(allow("connect-src 'self', frame-src a.example", "n"), "connect-src 'self', frame-src a.example 'self'");
}
