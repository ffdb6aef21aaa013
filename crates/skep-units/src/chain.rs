//! The text of an error with its causes.

use std::error::Error;

/// The text of an error, followed by those of its causes: alone, many say little.
///
/// ```
/// let error = std::io::Error::other("the disk is full");
/// assert_eq!(skep_units::chain(&error), "the disk is full");
/// ```
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (**error).source());
    // Nothing says that they end.
    causes.take(32).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
