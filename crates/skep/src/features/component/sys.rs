//! What a copy of an instance must not share with the others, and no safe interface gives away: the only `unsafe` code
//! of this crate.
//!
//! - The standard library draws two keys when a thread makes its first `HashMap`, and counts up from them. A copy of
//!   the memory has the same keys as all others, and who knows them can make a map slow. So the place of the keys is
//!   found before the memory is copied ([`find_keys`]), and each copy writes keys of its own there ([`reseed`]).
//! - The C library keeps handles of the folders that the host lends. A copy has the numbers and not the folders
//!   ([`forget_folders`]).

#![allow(unsafe_code, reason = "there is no other way to either, and both are looked after here")]

use std::cell::Cell;
use std::hash::RandomState;
use std::ptr;

/// Keys for hashing.
pub(super) type Seed = (u64, u64);

thread_local! {
    /// Where the keys of this thread stand, if its memory was copied after they were drawn.
    static KEYS: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" {
    /// The first byte of static memory, and the one behind its last: the linker says so.
    static __global_base: u8;
    static __heap_base: u8;
    fn __wasilibc_reset_preopens();
}

/// Gives back the handles of folders. They are asked for again when a file is opened.
pub(super) fn forget_folders() {
    // SAFETY: it takes nothing and gives nothing; this thread is the only one, and in no call of the C library.
    unsafe { __wasilibc_reset_preopens() }
}

/// The keys of the next map, without taking them.
fn next_keys() -> Seed {
    // SAFETY: both are two numbers of 64 bits, for which every pattern of bits is a value; the sizes are compared when
    // this is compiled.
    let (a, b) = unsafe { std::mem::transmute::<RandomState, Seed>(RandomState::new()) };
    (a.wrapping_add(1), b)
}

/// Looks for the keys of this thread in static memory: the one place that holds the next keys, and the next again after
/// one was taken. False if there is no such place, or more than one.
pub(super) fn find_keys() -> bool {
    let first = next_keys();
    let (from, to) = ((&raw const __global_base).addr().next_multiple_of(8), (&raw const __heap_base).addr());
    let candidates: Vec<usize> =
        (from..to.saturating_sub(15)).step_by(8).filter(|place| keys_at(*place) == first).collect();
    let second = next_keys();
    let mut places = candidates.into_iter().filter(|place| keys_at(*place) == second);
    match (places.next(), places.next()) {
        (Some(place), None) => {
            KEYS.set(place);
            true
        }
        _ => false,
    }
}

fn keys_at(place: usize) -> Seed {
    let place = ptr::with_exposed_provenance::<u64>(place);
    // SAFETY: both numbers lie in static memory, which is all initialised and never taken away, and `place` is a
    // multiple of 8.
    unsafe { (place.read_volatile(), place.add(1).read_volatile()) }
}

/// Gives this copy of the memory keys of its own, if it is one and has none yet.
pub(super) fn reseed(seed: impl FnOnce() -> Seed) {
    let place = KEYS.replace(0);
    if place == 0 {
        return;
    }
    let (a, b) = seed();
    let place = ptr::with_exposed_provenance_mut::<u64>(place);
    // SAFETY: `find_keys` has seen the keys there; they are plain numbers in a cell of this thread, which nobody
    // borrows.
    unsafe {
        place.write_volatile(a);
        place.add(1).write_volatile(b);
    }
}
