//! Unit tests of `source`.

use super::*;

fn complaint(bytes: &[u8]) -> String {
    ComponentFile::of(Path::new("app.wasm"), bytes.to_vec()).unwrap_err().to_string()
}

#[test]
fn the_error_says_what_a_file_is_that_is_no_component() {
    assert_eq!(complaint(b""), "app.wasm: is empty");
    assert!(complaint(b"\0asm\x01\0\0\0").contains("is a core module, and not a component; a Rust program becomes"));
    assert!(complaint(b"\0asm\x0d\0").contains("it is not complete"));
    assert!(complaint(b"\0asm\x0e\0\x01\0").contains("of a version"));
    assert!(complaint(b" (component)").contains("wasm-tools parse"));
    assert!(complaint(b"<html>").contains("is not a component"));
    assert_eq!(ComponentFile::of(Path::new("a"), b"\0asm\x0d\0\x01\0".to_vec()).unwrap().form, Form::Component);
}
