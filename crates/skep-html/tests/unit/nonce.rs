//! Unit tests of `nonce`.

use super::*;

fn here() -> Option<String> {
    with(str::to_owned)
}

#[test]
fn a_scope_has_one_nonce_and_only_if_asked() {
    assert_eq!(here(), None);
    let (mut one, mut two) = (Scope::default(), Scope::default());
    one.enter(|| ());
    assert_eq!(one.nonce(), None);
    let first = one.enter(here).unwrap();
    assert_eq!((first.len(), one.enter(here), one.nonce()), (22, Some(first.clone()), Some(&*first)));
    one.enter(|| assert_ne!(two.enter(here).unwrap(), first));
    assert_eq!(here(), None);
}

#[test]
fn other_threads_share_it_and_a_panic_leaves_the_scope() {
    let mut scope = Scope::default();
    let other = scope.enter(|| {
        let mut part = Scope::share().unwrap();
        std::thread::spawn(move || part.enter(here)).join().unwrap()
    });
    assert!(other.is_some() && other.as_deref() == scope.nonce());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scope.enter(|| panic!("no ink")))).is_err());
    assert_eq!((here(), scope.nonce()), (None, other.as_deref()));
}
