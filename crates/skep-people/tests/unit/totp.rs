//! Unit tests of `people::totp`.

use super::*;

#[test]
fn codes_are_those_of_the_standard() {
    // RFC 6238, appendix B, of which six of eight digits.
    let totp = Totp(b"12345678901234567890".to_vec());
    let vectors = [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ];
    for (seconds, code) in vectors {
        assert_eq!(totp.code_at(seconds), code, "{seconds}");
    }
}

#[test]
fn a_code_belongs_to_its_step_and_is_taken_in_the_neighbouring_ones_only() {
    let totp = Totp::parse("GEZD GNBV gy3t qojq GEZDGNBVGY3TQOJQ").unwrap();
    let code = totp.code_at(1_234_567_890);
    let step = 1_234_567_890 / STEP_SECONDS;
    for (offset, is_taken) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
        let now = (step.strict_add_signed(offset)) * STEP_SECONDS;
        assert_eq!(totp.step_of(&code, now), is_taken.then_some(step), "{offset}");
    }
    assert_eq!(totp.step_of("005 924", 1_234_567_890), Some(step));
    assert_eq!(totp.step_of("", 0), None);
}

#[test]
fn base32_is_that_of_the_standard() {
    // RFC 4648, 10.
    for (text, base32) in
        [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("foobar", "MZXW6YTBOI")]
    {
        assert_eq!(to_base32(text.as_bytes()), base32);
        assert_eq!(from_base32(base32).unwrap(), text.as_bytes());
    }
    assert!(from_base32("M1").is_none() && Totp::parse("MZXW6YTBOI").is_none());
}
