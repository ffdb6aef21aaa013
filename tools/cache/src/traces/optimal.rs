//! The bound: a cache that knows the future, and lets go what is asked for last (Belady, 1966), be it the newcomer.

use std::collections::BTreeSet;

use super::source::Access;

/// The hits of a cache of `entries` entries. No cache of that size has more.
pub(crate) fn hits(accesses: &[Access], keys: usize, entries: usize) -> usize {
    let next = next_uses(accesses, keys);
    let mut held = vec![None; keys];
    let mut by_use = BTreeSet::new();
    let mut hits = 0;
    for (access, &next) in accesses.iter().zip(&next) {
        let place = &mut held[access.key as usize];
        if let Some(expected) = place.take() {
            hits += 1;
            by_use.remove(&(expected, access.key));
        }
        *place = Some(next);
        by_use.insert((next, access.key));
        if by_use.len() > entries {
            let (_, victim) = by_use.pop_last().expect("it is overfull");
            held[victim as usize] = None;
        }
    }
    hits
}

/// For each access, the place of the next one of the same key.
fn next_uses(accesses: &[Access], keys: usize) -> Vec<usize> {
    let mut seen = vec![usize::MAX; keys];
    let mut next = vec![0; accesses.len()];
    for (place, access) in accesses.iter().enumerate().rev() {
        next[place] = std::mem::replace(&mut seen[access.key as usize], place);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_comes_back_first() {
        let list: Vec<Access> = [0, 1, 2, 0, 1, 2, 0].map(|key| Access { key, weight: 1 }).to_vec();
        // With two places, 2 is never worth one; with one, only 0 is.
        assert_eq!(hits(&list, 3, 3), 4);
        assert_eq!(hits(&list, 3, 2), 3);
        assert_eq!(hits(&list, 3, 1), 2);
    }
}
