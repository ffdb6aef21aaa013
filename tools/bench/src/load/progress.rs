//! Who watches a load while it runs.

use std::time::Duration;

use super::figures::Figures;

/// Receives the progress of a load.
///
/// ```no_run
/// use skep_bench::load::{self, Figures, Plan, Watch};
///
/// struct Dots;
/// impl Watch for Dots {
///     fn goes_on(&mut self, _: &Figures) { eprint!(".") }
/// }
/// load::run_watched(&Plan::of("http://127.0.0.1:8080/".parse()?), &mut Dots)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Watch {
    /// The warm-up begins. It takes so long.
    fn warms_up(&mut self, time: Duration) {
        let _ = time;
    }

    /// The warm-up is over, and the first request that counts was not sent yet.
    fn begins(&mut self) {}

    /// Twice a second. The latency is that of all answers so far.
    fn goes_on(&mut self, so_far: &Figures) {
        let _ = so_far;
    }

    /// The last answer that counts is there; connections are still open.
    fn ends(&mut self) {}
}

/// Nobody watches. See [`Watch`].
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Watch for Silent {}
