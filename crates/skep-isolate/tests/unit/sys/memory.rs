use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use wasmtime::Engine;

use super::*;

const LENGTH: usize = 16 * PAGE;

/// A mapping of zeros, which is never unmapped.
fn mapping() -> (Memory, &'static mut [u8]) {
    // SAFETY: it is new memory, wherever there is room.
    let bytes = unsafe {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let start = mmap_anonymous(std::ptr::null_mut(), LENGTH, access, MapFlags::PRIVATE).unwrap();
        std::slice::from_raw_parts_mut(start.cast::<u8>(), LENGTH)
    };
    (Memory::at(bytes.as_ptr().expose_provenance(), LENGTH), bytes)
}

#[test]
fn a_page_that_the_shortcut_would_miss_turns_it_off() {
    if !can_find_written_pages() {
        return;
    }
    let (mut memory, bytes) = mapping();
    let image = Pages::of(&vec![0; LENGTH]);
    let mut store = Store::new(&Engine::default(), ());
    let shortcut = FaultShortcut::default();
    bytes[0] = 1;
    assert_eq!(memory.reset(&mut store, &image, Some(&shortcut)), Ok(()));
    assert_eq!((bytes[0], memory.written.as_slice()), (0, &[(0, PAGE)][..]));
    bytes[3 * PAGE] = 7;
    // As if the kernel had not counted the fault of that write.
    memory.seen = Faults::of_this_thread();
    assert_eq!(memory.reset(&mut store, &image, Some(&shortcut)), Err(SHORTCUT_MISSED_A_PAGE));
    assert_eq!(shortcut.verdict(), Verdict::Scan, "for good");
    assert_eq!(memory.reset(&mut store, &image, Some(&shortcut)), Ok(()), "by a scan");
    assert_eq!(bytes[3 * PAGE], 0);
}

#[test]
fn one_use_of_the_shortcut_in_64_is_checked() {
    let shortcut = FaultShortcut::default();
    let checked = (0..640).filter(|_| shortcut.verdict() == Verdict::Check).count();
    assert_eq!(checked, 10);
}

#[test]
fn every_page_that_was_found_must_be_known() {
    let known = [(0, PAGE), (2 * PAGE, 2 * PAGE)];
    assert!(covers(&known, &[(0, PAGE), (3 * PAGE, PAGE)]) && covers(&known, &[]));
    assert!(!covers(&known, &[(PAGE, PAGE)]) && !covers(&known, &[(2 * PAGE, 3 * PAGE)]));
}
