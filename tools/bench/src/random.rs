//! Random orders.

/// The numbers below `count`, each once.
///
/// ```
/// let mut order = skep_bench::random::shuffled(&mut fastrand::Rng::new(), 5);
/// order.sort_unstable();
/// assert_eq!(order, [0, 1, 2, 3, 4]);
/// ```
pub fn shuffled(random: &mut fastrand::Rng, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order
}
