//! Unit tests of `buffer`.

use super::*;

fn pooled() -> usize {
    POOL.with(|pool| pool.borrow().len())
}

#[test]
fn memory_is_used_again() {
    let mut first = Buffer::with_capacity(100);
    first.push_trusted("old");
    let memory = first.as_str().as_ptr();
    drop(first);
    let second = Buffer::with_capacity(50);
    assert_eq!((second.as_str().as_ptr(), second.as_str()), (memory, ""));
}

#[test]
fn the_pool_is_bounded_in_number_and_in_size() {
    drop((0..20).map(|_| Buffer::with_capacity(10)).collect::<Vec<_>>());
    assert_eq!(pooled(), POOLED_STRINGS);
    let all: Vec<_> = (0..POOLED_STRINGS).map(|_| Buffer::new()).collect();
    drop(Buffer::with_capacity(POOLED_CAPACITY + 1));
    assert_eq!(pooled(), 0);
    drop(all);
}

#[test]
fn an_empty_buffer_costs_nothing_and_gives_nothing_back() {
    drop(Buffer::new());
    assert_eq!(pooled(), 0);
}
