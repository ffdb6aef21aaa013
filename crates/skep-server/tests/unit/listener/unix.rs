//! Unit tests of `listener::unix`.

use super::*;

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("skep-unix-{name}-{}", std::process::id()))
}

#[test]
fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
    let path = path("stale");
    drop(UnixListener::bind(&path).unwrap());
    let (socket, file) = bind(&path, 16).unwrap();
    assert!(bind(&path, 16).unwrap_err().to_string().contains("another process listens on it"));
    drop((socket, file));
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_no_socket_stays() {
    let path = path("file");
    fs::write(&path, "precious").unwrap();
    assert!(bind(&path, 16).unwrap_err().to_string().contains("not a socket"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    fs::remove_file(path).unwrap();
}

#[test]
fn a_socket_has_the_permissions_and_the_group_that_are_said() {
    use std::os::unix::fs::MetadataExt;

    let path = path("mode");
    let address = |mode, group: Option<&str>| UnixAddress { path: path.clone(), mode, group: group.map(str::to_owned) };
    for (mode, expected) in [(None, 0o600), (Some(0o600), 0o600), (Some(0o660), 0o660), (Some(0o666), 0o666)] {
        let held = listen(&address(mode, None), 16).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, expected);
        drop(held);
    }
    // Its own group, which everybody may give to a file.
    let own = rustix::process::getgid().as_raw().to_string();
    let held = listen(&address(Some(0o660), Some(&own)), 16).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().gid().to_string(), own);
    drop(held);
    let error = listen(&address(Some(0o660), Some("no-such-group")), 16).unwrap_err().to_string();
    assert!(error.contains("group=no-such-group: there is no such group") && !path.exists(), "{error}");
}

#[test]
fn nobody_else_can_connect_before_the_group_is_set() {
    use std::os::unix::fs::MetadataExt;

    let path = path("owner");
    let (_socket, file) = bind(&path, 16).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o077, 0);
    let other = path.with_extension("other");
    fs::hard_link(&path, &other).unwrap();
    assert!(open_to(&path, 0o666, None).unwrap_err().to_string().contains("another file has taken its place"));
    assert_eq!(fs::metadata(&other).unwrap().mode() & 0o077, 0);
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    assert!(open_to(&path, 0o666, None).is_err());
    fs::remove_file(&other).unwrap();
    drop(file);
    fs::remove_file(&path).unwrap();
}
