//! Types with few values, all of them known.

use super::Param;

/// A parameter with few values, all of them known: what a form shows as a list or as radio buttons.
///
/// `#[derive(Param)]` on an enum of names writes it, and [`Param`] with it. A name travels in small letters with
/// hyphens; `#[param("...")]` says another text, which is also what `parse` and `Display` take and write;
/// `#[param(label = "...")]` what people read.
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
/// assert_eq!("oldest".parse(), Ok(Order::OldestFirst));
/// assert_eq!(Order::OldestFirst.to_string(), "oldest");
/// let shown: Vec<_> = Order::ALL.iter().map(|order| (order.value(), order.label())).collect();
/// assert_eq!(shown, [("newest-first", "Newest first"), ("oldest", "The oldest first")]);
/// ```
///
/// With [`App::languages`](crate::App::languages), a form writes its choices in the user's language:
///
/// ```
/// use skep::param::{Choice, Param};
///
/// #[derive(Clone, Copy, Param)]
/// enum State {
///     #[param(label(de = "Offen"))]
///     Open,
///     #[param(label = "Done", label(de = "Erledigt", "pt-BR" = "Pronto"))]
///     Closed,
/// }
///
/// assert_eq!(State::Closed.label_in("de"), "Erledigt");
/// assert_eq!(State::Closed.label_in("en"), "Done");
/// assert_eq!(State::Open.label_in("pt-BR"), "Open");
/// ```
/// Instead of both, `#[param(label = t!(open))]` takes the label from a text of the crate `skep-language`.
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

    /// What people read in other languages, by language.
    fn translations(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What people read in a language, such as [`Cx::language`](crate::Cx::language); the [`label`](Self::label) where
    /// it has no translation.
    fn label_in(&self, language: &str) -> &'static str {
        label_in(language, self.label(), self.translations())
    }
}

/// The label in this language.
pub(crate) fn label_in(
    language: &str,
    label: &'static str,
    translations: &[(&'static str, &'static str)],
) -> &'static str {
    translations.iter().find(|(translated, _)| *translated == language).map_or(label, |(_, text)| text)
}
