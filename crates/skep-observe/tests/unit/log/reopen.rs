//! Tests of `log::reopen`.

use super::*;

#[test]
fn a_path_that_became_a_fifo_is_opened_if_it_is_read_and_never_waited_for() {
    let folder = std::env::temp_dir().join(format!("skep-reopen-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("log");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(open(&path).unwrap_err().raw_os_error(), Some(libc::ENXIO));
    let reader = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
    let writer = open(&path).unwrap();
    assert!(!fcntl_getfl(&writer).unwrap().contains(OFlags::NONBLOCK));
    drop(reader);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_travel_as_words() {
    let files = StreamFiles { output: Some("/var/log/a b".into()), error: None };
    assert_eq!(StreamFiles::parse(&files.to_line()), files);
}
