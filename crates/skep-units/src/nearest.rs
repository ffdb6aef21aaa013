//! Did you mean ...?

/// The candidate that differs least from `word`, if it differs little enough to be a slip. Case does not count.
///
/// ```
/// assert_eq!(skep_units::nearest("lisen", ["listen", "workers"]), Some("listen"));
/// assert_eq!(skep_units::nearest("colour", ["listen", "workers"]), None);
/// ```
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = word.to_lowercase();
    let limit = match word.chars().count() {
        ..4 => 1,
        4..12 => 2,
        12.. => 3,
    };
    let distance = |candidate: &str| strsim::osa_distance(&word, &candidate.to_lowercase());
    let candidates = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    candidates.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, near)| near)
}
