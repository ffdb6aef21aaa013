//! Unit tests of `disk`.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn files_that_others_may_write_are_not_trusted() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("code");
    write_whole(&file, &[b"code"]).unwrap();
    assert!(Trusted::open(&file).is_ok());
    for mode in [0o620, 0o602, 0o666] {
        allow(&file, mode);
        assert!(Trusted::open(&file).unwrap_err().to_string().contains("others may write it"));
    }
    assert!(Trusted::open(temp.path()).is_err());
}

#[test]
fn a_folder_that_others_may_write_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("a/b");
    assert!(Disk::open(&folder).is_ok());
    allow(&folder, 0o777);
    assert!(Disk::open(&folder).unwrap_err().to_string().contains("is not used: others may write it (mode 777)"));
    let file = temp.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Disk::open(&file).unwrap_err().to_string().ends_with("is not a directory"));
    assert!(Disk::open(&file.join("below")).unwrap_err().to_string().contains("cannot be made"));
}

#[test]
fn damaged_files_are_not_used() {
    let temp = tempfile::tempdir().unwrap();
    let disk = Disk::open(temp.path()).unwrap();
    let (engine, content) = (Engine::default(), Hash::of(b"a"));
    disk.store(&engine, &content, b"machine code").unwrap();
    assert!(disk.find(&engine, &content).is_some());
    let path = disk.path(&engine, &content);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 1;
        fs::write(&path, &broken).unwrap();
        assert!(disk.find(&engine, &content).is_none(), "byte {at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert!(disk.find(&engine, &content).is_none(), "{at} bytes");
    }
}

#[test]
fn a_seed_is_the_same_at_each_start_and_nowhere_else() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let seed = |folder: &Path, content: &[u8]| Disk::open(folder).unwrap().seed(&Hash::of(content)).unwrap();
    assert_eq!(seed(one.path(), b"a"), seed(one.path(), b"a"));
    assert_ne!(seed(one.path(), b"a"), seed(one.path(), b"b"), "another version");
    assert_ne!(seed(one.path(), b"a"), seed(other.path(), b"a"), "another machine");
}

#[test]
fn unused_code_is_removed() {
    let temp = tempfile::tempdir().unwrap();
    let disk = Disk::open(temp.path()).unwrap();
    let names = ["a.cwasm", ".part-x", "notes.txt"];
    for name in names {
        fs::write(temp.path().join(name), "").unwrap();
    }
    let there = || names.map(|name| temp.path().join(name).exists());
    disk.tidy(SystemTime::now() + KEPT_FOR / 2, KEPT);
    assert_eq!(there(), [true, true, true]);
    disk.tidy(SystemTime::now() + KEPT_FOR * 2, KEPT);
    assert_eq!(there(), [false, false, true], "and nothing that is not ours");
}

#[test]
fn code_that_was_used_longest_ago_makes_room() {
    let temp = tempfile::tempdir().unwrap();
    let (disk, now) = (Disk::open(temp.path()).unwrap(), SystemTime::now());
    let names = ["a.cwasm", "b.cwasm", "c.cwasm"];
    for (name, age) in names.into_iter().zip([5, 9, 7]) {
        fs::write(temp.path().join(name), [0; 100]).unwrap();
        let file = File::options().write(true).open(temp.path().join(name)).unwrap();
        file.set_modified(now - Duration::from_secs(age)).unwrap();
    }
    let there = || names.map(|name| temp.path().join(name).exists());
    disk.tidy(now, 300);
    assert_eq!(there(), [true, true, true]);
    disk.tidy(now, 200);
    assert_eq!(there(), [true, false, true]);
    disk.tidy(now, 1);
    assert_eq!(there(), [true, false, false], "what was kept last stays, whatever it takes");
}

#[test]
fn a_file_is_replaced_whole() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("code");
    write_whole(&file, &[b"one"]).unwrap();
    write_whole(&file, &[b"tw", b"o"]).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"two");
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
}
