//! Unit tests of `connection::unsent`.

use super::*;

#[test]
fn a_connection_has_a_share_and_the_process_a_limit() {
    const LIMIT: usize = 256 << 20;
    const USUAL: Duration = Duration::from_secs(30);
    let process = UnsentLimit::new(LIMIT);
    let (one, other) = (Unsent::new(&process), Unsent::new(&process));
    let cx = Context::from_waker(Waker::noop());
    assert_eq!(one.take(3 << 20), Some(3 << 20));
    assert!(one.poll_room(&cx).is_pending() && other.poll_room(&cx).is_ready());
    assert_eq!(other.take(LIMIT - (2 << 20)), None, "more than the process may hold");
    assert_eq!(other.take(LIMIT - (3 << 20)), Some(LIMIT - (3 << 20)));
    assert_eq!((one.take(SMALL - 1), one.take(SMALL)), (Some(0), None), "small ones always fit");
    assert_eq!(process.patience(USUAL), IMPATIENT);
    other.give_back(LIMIT - (3 << 20));
    one.give_back(3 << 20);
    assert!(one.poll_room(&cx).is_ready() && process.patience(USUAL) == USUAL);
}
