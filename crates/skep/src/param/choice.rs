//! Types with few values, all of them known.

use super::Param;

/// A parameter with few values, all of them known: what a form shows as a list or as radio buttons.
///
/// `#[derive(Param)]` on an enum of names writes it, and [`Param`] with it. A name travels in small letters with hyphens;
/// `#[param("...")]` says another text, `#[param(label = "...")]` what people read.
///
/// ```
/// use skep::param::{Choice, Param};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Param)]
/// enum Order {
///     NewestFirst,
///     #[param("oldest", label = "The oldest first")]
///     OldestFirst,
/// }
///
/// assert_eq!(Order::parse("newest-first"), Some(Order::NewestFirst));
/// assert_eq!(Order::expected(), "newest-first or oldest");
/// let shown: Vec<_> = Order::ALL.iter().map(|order| (order.value(), order.label())).collect();
/// assert_eq!(shown, [("newest-first", "Newest first"), ("oldest", "The oldest first")]);
/// ```
#[diagnostic::on_unimplemented(
    message = "the values of `{Self}` cannot be listed",
    label = "a `select` or radio buttons need a type that implements `Choice`",
    note = "write `#[derive(Param)]` on an enum of unit variants"
)]
pub trait Choice: Param + 'static {
    /// Every value once, in the order in which people see them.
    const ALL: &'static [Self];

    /// The text that travels; what [`Param::write`] writes.
    fn value(&self) -> &'static str;

    /// What people read.
    fn label(&self) -> &'static str;
}
