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
