//! Tests of `sys::shared_words`.

use super::*;

#[test]
fn bytes_are_stored_behind_others() {
    let words: Vec<AtomicU64> = (0..3).map(|_| AtomicU64::new(u64::MAX)).collect();
    let mut all = Vec::new();
    for piece in ["a", "", "bcdefghijk", "lmnop", "q"] {
        store_bytes_at(&words, all.len(), piece.as_bytes());
        all.extend_from_slice(piece.as_bytes());
        assert_eq!(load_bytes(&words, all.len()).unwrap(), all);
    }
    assert_eq!(load_bytes(&words, 25), None);
}

#[test]
fn what_one_mapping_adds_another_one_reads() {
    let words = SharedWords::new(c"skep-test", 1000).unwrap();
    let other = SharedWords::open(words.file().try_clone().unwrap(), 1000).unwrap();
    words.words()[999].fetch_add(3, Ordering::Relaxed);
    assert_eq!(other.words()[999].load(Ordering::Relaxed), 3);
    assert!(SharedWords::open(words.file().try_clone().unwrap(), 1_000_000).is_err());
}
