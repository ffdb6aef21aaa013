//! Unit tests of `executable`.

use super::*;

#[test]
fn a_file_that_is_cut_or_for_another_machine_is_no_version() {
    let own = Executable::of_process().unwrap();
    let bytes = fs::read("/proc/self/exe").unwrap();
    let path = std::env::temp_dir().join(format!("skep-executable-{}", std::process::id()));
    let look = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Executable::at(&path)
    };
    let same = look(&bytes).unwrap();
    assert!(same.is_same(&own) && same.version() == own.version());
    assert!(look(&bytes[..bytes.len() / 2]).unwrap_err().contains("not complete"));
    let mut other = bytes.clone();
    other[18] = other[18].wrapping_add(1);
    assert!(look(&other).unwrap_err().contains("another kind of machine"));
    assert!(look(b"#!/bin/sh\n").unwrap_err().contains("too short"));
    let _ = fs::remove_file(&path);
    assert!(Executable::at(&path).unwrap_err().contains("No such file"));
}
