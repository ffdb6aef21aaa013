//! Tests of `keys`.

use super::*;

#[test]
fn a_file_with_no_keys_is_named_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    private::create_new(&folder.path().join(FILE)).unwrap().write_all(b"abc123").unwrap();
    let keys = |file: &str| AppKeys::from(Source::File(folder.path().join(file), Missing::Create));
    let error = keys(FILE).seal("x", b"").unwrap_err().to_string();
    assert!(error.contains("key 1 is not one") && !error.contains("abc123"), "{error}");
    let error = keys(FILE).checked_text().unwrap_err().to_string();
    assert!(error.contains("key 1 is not one") && !error.contains("abc123"), "{error}");
    assert!(keys("other").checked_text().is_ok());
}

#[test]
fn nothing_is_sealed_for_a_purpose_of_the_framework() {
    let keys = AppKeys::temporary();
    let ours = ["session of shop", "form token", "form skep ms POST /", "log level", "application: x", "skep-flash"];
    for purpose in ours {
        assert!(keys.seal(purpose, b"x").unwrap_err().to_string().contains("begins with"), "{purpose}");
        assert!(keys.open(purpose, &keys.seal_own(purpose, b"x").unwrap()).is_err(), "{purpose}");
        assert!(keys.digest(purpose, "x").is_err(), "{purpose}");
    }
    let sealed = keys.seal("shop.secret ada", b"x").unwrap();
    assert_eq!(keys.open("shop.secret ada", &sealed).unwrap().as_deref(), Some(&b"x"[..]));
}
