//! Unit tests of `log::mask`.

use super::*;

fn masked(text: &str) -> String {
    let mut text = text.to_owned();
    Mask::new(&["password".into(), "api-key".into(), "authorization".into()]).apply(&mut text, 0);
    text
}

#[test]
fn secret_values_within_texts_are_hidden() {
    for (text, expected) in [
        ("user=ann password=x y=z", "user=ann password=*** y=z"),
        ("{\"Password\": \"a\\\"b\", \"n\": 1}", "{\"Password\": \"***\", \"n\": 1}"),
        ("{\\\"password\\\":\\\"a\\\"}", "{\\\"password\\\":\\\"***\\\"}"),
        ("update users set password = 'geheim' where id = 7", "update users set password = '***' where id = 7"),
        ("Authorization: Bearer abc.def next", "Authorization: *** next"),
        ("authorization=basic\u{a0}abc next", "authorization=*** next"),
        ("?api_key=1&b=2", "?api_key=***&b=2"),
        ("password=a password=b; n: 1", "password=*** password=***; n: 1"),
        ("ünpassword=x, passwords=y, password", "ünpassword=x, passwords=y, password"),
        ("password=", "password=***"),
        ("password=é", "password=***"),
    ] {
        assert_eq!(masked(text), expected, "{text}");
    }
}

#[test]
fn fields_are_hidden_by_their_last_part() {
    let mask = Mask::new(&["api_key".into()]);
    assert!(mask.hides("API-Key") && mask.hides("user.api_key") && !mask.hides("key"));
}
