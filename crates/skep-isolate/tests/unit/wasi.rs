//! Unit tests of `wasi`.

use super::*;

#[test]
fn an_interface_is_of_a_version() {
    assert_eq!(Version::of("wasi:http/types@0.2.12"), ("wasi:http", Version::Wasi02));
    assert_eq!(Version::of("wasi:http/handler@0.3.0"), ("wasi:http", Version::Wasi03));
    let draft = "0.3.0-rc-2026-03-15";
    assert_eq!(Version::of("wasi:http/handler@0.3.0-rc-2026-03-15"), ("wasi:http", Version::Other(draft)));
    assert_eq!(Version::of("wasi:http/handler@0.4.0"), ("wasi:http", Version::Other("0.4.0")));
    assert_eq!(Version::of("skep:host/sql@0.1.0"), ("skep:host", Version::Other("0.1.0")));
    assert_eq!(Version::of("init"), ("init", Version::Other("")));
}

#[test]
fn what_a_component_names_says_for_which_it_is() {
    let is = |text: &str| is_wasi03(&wat::parse_str(text).unwrap());
    assert!(is("(component (import \"wasi:clocks/monotonic-clock@0.3.1\" (instance)))"));
    assert!(is("(component (instance $i) (export \"wasi:http/handler@0.3.0\" (instance $i)))"));
    assert!(!is("(component (import \"wasi:clocks/monotonic-clock@0.2.0\" (instance)))"));
    // What a component within it names is nobody's business but its own.
    assert!(!is("(component (component (import \"wasi:clocks/monotonic-clock@0.3.0\" (instance))))"));
    assert!(is("(component (component) (core module) (import \"wasi:http/types@0.3.0\" (instance)))"));
    assert!(!is_wasi03(b"\0asm"));
}
