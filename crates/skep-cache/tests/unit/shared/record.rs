//! Unit tests of `shared::record`.

use super::*;

fn region(words: usize) -> Vec<AtomicU64> {
    (0..words).map(|_| AtomicU64::new(0)).collect()
}

fn written(key: &[u8], value: &[u8]) -> (Seeds, Vec<AtomicU64>) {
    let seeds = Seeds([1, 2]);
    let words = region(size(key.len(), value.len()));
    let hash = seeds.hash(0, key);
    let new = New { hash, flags: 9, generation: 5, key, value, version: 3, expires: 4 };
    write(&words, seeds, &new);
    (seeds, words)
}

#[test]
fn what_was_written_is_read_whatever_its_length() {
    let step = if cfg!(miri) { 13 } else { 1 };
    let lengths = || (0..40).step_by(step);
    for (key, value) in lengths().flat_map(|key| lengths().map(move |value| (key, value))) {
        let (key, value) = (vec![b'k'; key], vec![b'v'; value]);
        let (seeds, words) = written(&key, &value);
        let head = Head::load(&words).unwrap();
        assert_eq!((head.version, head.expires, head.flags), (3, 4, 9));
        let mut out = vec![1; 20];
        assert_eq!(read(&words, &head, &key, seeds, &mut out), CopyResult::Whole);
        assert_eq!(out, value);
        assert_eq!(key_of(&words, &head, seeds), Some(key));
    }
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let (seeds, words) = written(b"a key", b"a value of some length");
    for bit in 0..words.len() * 64 {
        words[bit / 64].fetch_xor(1 << (bit % 64), Relaxed);
        let head = Head::load(&words);
        let copied = head.map(|head| read(&words, &head, b"a key", seeds, &mut Vec::new()));
        assert_ne!(copied, Some(CopyResult::Whole), "bit {bit}");
        words[bit / 64].fetch_xor(1 << (bit % 64), Relaxed);
    }
}
