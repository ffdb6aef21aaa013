//! Unit tests of `connection::slot`.

use super::*;

#[test]
fn slots_are_used_again_up_to_a_number() {
    let slots = SpareSlots::default();
    assert_eq!(slots.take::<Box<u8>>(), None);
    (0..30_u8).for_each(|number| slots.put(Box::new(number)));
    let taken: Vec<Box<u8>> = std::iter::from_fn(|| slots.take()).collect();
    assert_eq!(taken.len(), MOST_SPARE);
    // Those of another type stay away.
    slots.put("text");
    assert_eq!(slots.take::<&str>(), None);
}
