//! Unit tests of `shared::hash`.

use super::*;
use std::collections::HashSet;

#[test]
fn keys_that_differ_in_one_bit_or_in_length_hash_apart() {
    let seeds = Seeds::draw();
    let mut seen = HashSet::new();
    for len in (0..70).step_by(if cfg!(miri) { 23 } else { 1 }) {
        let mut key = vec![0; len];
        assert!(seen.insert(seeds.hash(0, &key)), "{len} zeros");
        for bit in 0..len * 8 {
            key[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(seeds.hash(0, &key)), "bit {bit} of {len} bytes");
            key[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn a_word_is_its_bytes_with_zeros_behind() {
    let bytes = [0xf1, 0xe2, 0xd3, 0xc4, 0xb5, 0xa6, 0x97, 0x88];
    for len in 0..=8 {
        let mut padded = [0; 8];
        padded[..len].copy_from_slice(&bytes[..len]);
        assert_eq!(word(&bytes[..len]), u64::from_le_bytes(padded), "{len} bytes");
    }
}

#[test]
fn buckets_fill_evenly() {
    let seeds = Seeds::draw();
    let mut counts = [0_u32; 16];
    for number in 0..if cfg!(miri) { 1_600 } else { 16_000 } {
        counts[(seeds.hash(0, format!("user:{number}").as_bytes()) >> 60) as usize] += 1;
    }
    // A thousand each, or a hundred; the standard deviations of a fair draw are 31 and 10.
    let fair = if cfg!(miri) { 40..160 } else { 800..1200 };
    assert!(counts.iter().all(|count| fair.contains(count)), "{counts:?}");
}

#[test]
fn a_sum_notices_every_bit_and_every_swap() {
    let sum = |words: &[u64]| {
        let mut sum = Sum::new(Seeds([3, 4]), 5);
        words.chunks(2).for_each(|pair| sum.pair(pair[0], *pair.get(1).unwrap_or(&0)));
        sum.finish()
    };
    let words: Vec<u64> = (0..20).collect();
    let right = sum(&words);
    for bit in 0..20 * 64 {
        let mut wrong = words.clone();
        wrong[bit / 64] ^= 1 << (bit % 64);
        assert_ne!(sum(&wrong), right, "bit {bit}");
    }
    let mut swapped = words.clone();
    swapped.swap(2, 4);
    assert_ne!(sum(&swapped), right);
    assert_ne!(sum(&words[..18]), right);
}
