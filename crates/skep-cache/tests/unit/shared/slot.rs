//! Unit tests of `shared::slot`.

use super::*;

#[test]
fn a_slot_gives_back_what_was_put_in() {
    let slot = Slot::new(0xabcd_0000_0000_0001, 4242, 4097, true, 9);
    assert!(slot.fits(0xabcd_1111_2222_3333) && !slot.fits(0xabce_0000_0000_0001));
    assert_eq!((slot.at(), slot.uses(), slot.is_main(), slot.is_empty()), (4242, 3, true, false));
    assert_eq!(slot.used(), None);
    assert!(!slot.same(Slot::new(0xabcd_0000_0000_0001, 4242, 4098, true, 9)));
}

#[test]
fn counting_a_use_changes_nothing_else() {
    let slot = Slot::new(7 << 50, 2, 1, false, 0);
    let used = slot.used().unwrap();
    assert!(used.same(slot));
    assert_eq!((used.uses(), used.at(), used.is_main()), (1, 2, false));
}

#[test]
fn what_is_written_in_its_place_is_another_record_there() {
    let slot = Slot::new(0xabcd << 48, 4242, 0xfff, true, 1);
    let busy = slot.busy();
    assert!(busy.is_busy() && !busy.same(slot) && busy.fits(0xabcd << 48) && busy.at() == 4242);
    let done = busy.rewritten();
    assert!(!done.is_busy() && !done.same(slot) && !done.same(busy));
    assert_eq!(done, Slot::new(0xabcd << 48, 4242, 0, true, 2));
}

#[test]
fn an_empty_slot_fits_nothing() {
    assert!(Slot::EMPTY.is_empty() && !Slot::EMPTY.fits(0));
}
