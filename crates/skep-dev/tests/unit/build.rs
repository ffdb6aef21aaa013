//! Tests of `build`.

use super::*;

#[test]
fn the_progress_of_cargo_is_read() {
    let line = plain("\u{1b}[1m\u{1b}[92m    Building\u{1b}[0m [===>      ] 120/240: skep, skep-sql\u{1b}[K");
    assert_eq!(step(line.trim()).as_deref(), Some("120 of 240: skep, skep-sql"));
    assert_eq!(step("Building [=>] 1/2").as_deref(), Some("1 of 2"));
    assert_eq!(step("Compiling skep v0.1.0"), None);
}

#[test]
fn only_errors_are_kept() {
    let mut failure = Failure::default();
    failure.add(&Value::from("warning"), "warning: unused");
    failure.add(&Value::from("error"), "error: no\n");
    failure.add(&Value::from("error"), "error: aborting due to 1 previous error\n");
    assert_eq!((failure.errors, &*failure.text), (1, "error: no\n"));
}
