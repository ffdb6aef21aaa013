//! Unit tests of `files::root`.

use std::os::unix::fs::symlink;
use std::{fs, io};

use super::{Kind, Opened, other, unix};

/// `outside/secret`, and `inside/` with files and all kinds of symlinks.
fn tree() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let (inside, outside) = (temp.path().join("inside"), temp.path().join("outside"));
    fs::create_dir_all(inside.join("dir/deep")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::write(inside.join("file"), "file").unwrap();
    fs::write(inside.join("dir/deep/file"), "deep").unwrap();
    symlink("dir/deep/file", inside.join("relative")).unwrap();
    symlink(inside.join("file"), inside.join("absolute")).unwrap();
    symlink("../file", inside.join("dir/up")).unwrap();
    symlink("dir", inside.join("linked-dir")).unwrap();
    symlink(inside.join("dir"), inside.join("absolute-dir")).unwrap();
    symlink("../inside/file", inside.join("there-and-back")).unwrap();
    symlink("../outside/secret", inside.join("out")).unwrap();
    symlink(outside.join("secret"), inside.join("absolute-out")).unwrap();
    symlink("../outside", inside.join("out-dir")).unwrap();
    symlink("out", inside.join("twice-out")).unwrap();
    symlink("loop", inside.join("loop")).unwrap();
    symlink("nowhere", inside.join("dangling")).unwrap();
    symlink("/proc/self/root/etc/passwd", inside.join("magic")).unwrap();
    temp
}

/// All three ways to a file promise this.
fn symlinks_may_lead_anywhere_but_out(find: impl Fn(&str) -> io::Result<Opened>) {
    let inside = "file dir/deep/file relative absolute dir/up linked-dir/deep/file absolute-dir/deep/file \
                  there-and-back linked-dir/up";
    for path in inside.split_whitespace() {
        assert_eq!(find(path).unwrap().kind, Kind::Regular, "{path}");
    }
    for path in ["", "dir", "dir/", "linked-dir", "absolute-dir/deep"] {
        assert_eq!(find(path).unwrap().kind, Kind::Directory, "{path}");
    }
    let outside = "out absolute-out out-dir out-dir/secret twice-out loop dangling magic none file/x";
    for path in outside.split(' ') {
        let error = find(path).map(|opened| opened.kind).unwrap_err();
        assert!(matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory), "{path}: {error}");
    }
}

#[test]
fn each_way_keeps_within() {
    let temp = tree();
    let inside = temp.path().join("inside");
    let open = || unix::Root::open(&inside).unwrap();
    symlinks_may_lead_anywhere_but_out(|path| open().find(path));
    symlinks_may_lead_anywhere_but_out(|path| open().by_steps().find(path));
    symlinks_may_lead_anywhere_but_out(|path| other::Root::open(&inside).unwrap().find(path));
}

#[test]
fn a_stamp_is_the_same_by_name_and_by_handle() {
    let temp = tree();
    let root = unix::Root::open(&temp.path().join("inside")).unwrap();
    let opened = root.find("relative").unwrap();
    assert_eq!(root.stamp(c"relative"), Some(opened.stamp));
    assert_eq!(root.stamp(c"file").map(|stamp| stamp == opened.stamp), Some(false));
    assert_eq!(root.stamp(c"none"), None);
}

#[test]
fn where_stamps_prove_nothing_nothing_is_held_and_a_listing_is_as_strict() {
    let temp = tree();
    let inside = temp.path().join("inside");
    let root = other::Root::open(&inside).unwrap();
    assert!(other::Root::place("file").is_none());
    assert_eq!(root.stamp(&other::RootPath::from("file")), None);
    let (entries, has_more) = root.list("", &root.find("").unwrap().file, 20).unwrap();
    let mut names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    names.sort_unstable();
    let expected = ["absolute", "absolute-dir", "dir", "file", "linked-dir", "relative", "there-and-back"];
    assert_eq!((names, has_more), (expected.to_vec(), false));
    assert!(root.list("", &root.find("").unwrap().file, 2).unwrap().1);
    assert!(other::Root::open(&inside.join("file")).is_err());
}
