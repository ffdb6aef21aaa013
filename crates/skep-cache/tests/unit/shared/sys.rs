use super::*;

#[test]
fn a_child_has_another_number_than_its_parent() {
    notice_forks().unwrap();
    let parent = process();
    // SAFETY: the child does nothing but load a number and end, which is allowed after a fork whatever other
    // threads do.
    let child = unsafe {
        match libc::fork() {
            0 => libc::_exit(i32::from(process() == parent)),
            child => child,
        }
    };
    let child = rustix::process::Pid::from_raw(child).expect("it was forked");
    let ended = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()).unwrap();
    assert_eq!(ended.and_then(|(_, status)| status.exit_status()), Some(0));
    assert_eq!(process(), parent);
}
