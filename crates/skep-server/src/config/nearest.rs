//! What someone may have meant.

/// The candidate that is nearest to `word`, if one is near at all.
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let (distance, candidate) = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate)).min()?;
    // A third of the letters wrong is another word.
    (distance <= word.chars().count().max(3) / 3 + 1).then_some(candidate)
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut next = vec![row; to.len() + 1];
        for column in 1..=to.len() {
            let same = from[row - 1] == to[column - 1];
            next[column] = (last[column] + 1).min(next[column - 1] + 1).min(last[column - 1] + usize::from(!same));
            let swapped = row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
            if swapped {
                next[column] = next[column].min(before[column - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, next);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let known = ["listen", "limits.body", "limits.body_idle", "workers"];
        assert_eq!(nearest("lisen", known), Some("listen"));
        assert_eq!(nearest("listne", known), Some("listen"));
        assert_eq!(nearest("limits.bdoy", known), Some("limits.body"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(distance("abc", "acb"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
