//! Unit tests of `precompiled`.

use super::*;

fn precompile(start: &[u8]) -> Vec<u8> {
    pieces(true, &[("A".into(), "1".into()), ("B".into(), String::new())], b"code".to_vec(), start.to_vec()).concat()
}

fn complaint(bytes: &[u8]) -> String {
    Precompiled::read(bytes).unwrap_err().to_string()
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let all = precompile(b"start");
    let (file, hash) = Precompiled::read(&all).unwrap().unwrap();
    assert!(file.has_image);
    assert_eq!(file.environment, ["A=1", "B="]);
    assert_eq!((&all[file.code], &all[file.start.unwrap()]), (&b"code"[..], &b"start"[..]));
    assert_eq!(hash, Hash::of(&all[..all.len() - SUM]));
    assert_eq!(Precompiled::read(&precompile(b"")).unwrap().unwrap().0.start, None);
    assert_eq!(Precompiled::read(b"\0asm").unwrap(), None);
}

#[test]
fn damaged_files_are_refused() {
    let all = precompile(b"start");
    for at in MAGIC.len()..all.len() {
        let mut broken = all.clone();
        broken[at] ^= 1;
        assert!(Precompiled::read(&broken).is_err(), "byte {at}");
        assert!(complaint(&all[..at]).starts_with("is not complete"), "{at} bytes");
    }
    assert!(complaint(&[&all[..], b"more"].concat()).starts_with("is not complete"));
}

#[test]
fn settings_that_are_others_now_are_named() {
    let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let compiled = all(&["A=1", "B=2", "SKEP_LOG=info"]);
    assert_eq!(changed(&compiled, &all(&["B=2", "A=1", "SKEP_BUILD=7"])), [""; 0]);
    assert_eq!(changed(&compiled, &all(&["A=1", "B=3", "C=4"])), ["B", "C"]);
}

#[test]
fn a_file_of_another_version_is_named_as_such() {
    let all = precompile(b"");
    let mut other = all.clone();
    other[MAGIC.len()] = 7;
    let told = complaint(&other);
    assert!(told.contains("(format 7)") && told.contains("`skep compile` the component again"), "{told}");
    let mut other = all;
    other[MAGIC.len() + 4 + 8] = b'9';
    let told = complaint(&other);
    assert!(told.starts_with("was compiled by skep 9") && told.contains(VERSION), "{told}");
}
