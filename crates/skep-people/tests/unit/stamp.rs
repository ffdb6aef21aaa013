//! Tests of `stamp`.

use crate::Stamp;

const HASH: &str = "$argon2id$v=19$m=64,t=1,p=1$YSBzYWx0IG9mIDE2IGJ5dGU$b25l";

#[test]
fn a_stamp_changes_with_the_salt_of_a_password_and_not_with_its_cost() {
    let kept = Stamp::of([HASH, "0123456789abcdef"]).to_text().unwrap();
    let costlier = HASH.replace("m=64", "m=19456").replace("b25l", "dHdv");
    assert!(Stamp::of([&*costlier, "0123456789abcdef"]).matches(&kept));
    for other in [
        Stamp::of([&*HASH.replace("YSBz", "YSBt"), "0123456789abcdef"]),
        Stamp::of([HASH, "0123456789abcdee"]),
        Stamp::of(["0123456789abcdef", HASH]),
        Stamp::of([HASH]),
        Stamp::of([&*format!("{HASH}0"), "123456789abcdef"]),
    ] {
        assert!(!other.matches(&kept));
    }
    assert!(!Stamp::of([HASH]).matches("") && !Stamp::of([HASH]).matches(&format!("{kept}A")));
}

/// It is kept: by another version, and in a component, whose words are of 32 bits.
#[test]
fn a_stamp_is_the_same_everywhere() {
    assert_eq!(Stamp::of(["b2f5ff47436671b6", "x"]).to_text().unwrap(), "HIenWfN7NOyMPiLHAyOaiQ");
}

#[test]
fn a_stamp_of_nothing_random_is_refused() {
    for parts in [&[][..], &[""], &["", "7"], &["ada@example.org"]] {
        assert!(Stamp::of(parts).to_text().unwrap_err().to_string().contains("stamp"), "{parts:?}");
    }
    assert!(Stamp::of(Some("0123456789abcdef")).to_text().is_ok());
}
