//! What was typed in a field, and what is wrong with it, for controls that are written by hand. It never changes a
//! form.

use super::field::FormField;
use super::name::Name;
use super::{Form, MessageOf, control};

impl<S> Form<S> {
    /// The message of a field, if there is something wrong with it: a `span` with the class `problem`, which the
    /// control refers to. It stands where it is spliced, and no more behind the control if that comes later.
    #[must_use]
    pub fn message<T>(&self, name: Name<S, T>) -> MessageOf<'_> {
        MessageOf::new(&self.core, self.name_of(name))
    }

    /// True if this request brought a submission that is not accepted.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.core.complaints.len() > 0
    }

    /// The text that the control of a field shows: what was typed in a submission that was not accepted, else what
    /// [`value`](Self::value) gave; empty if there is neither, or if it is never shown again, as a password. With
    /// [`id_of`](Self::id_of), [`problem`](Self::problem) and [`is_invalid`](Self::is_invalid) it is for controls that
    /// are written by hand.
    ///
    /// ```
    /// use skep::form::Whole;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/")]
    /// struct Page;
    ///
    /// impl Handle for Page {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let form = Rate::form(cx).text(Rate::stars, "3");
    ///         Ok(Response::html(html! {
    ///             form (form) {
    ///                 label (Rate::stars) { "Stars" }
    ///                 input type="range" min="1" max="5" name="stars" id=(form.id_of(Rate::stars)) value=(form.shown(Rate::stars))
    ///                     aria-invalid=[form.is_invalid(Rate::stars).then_some("true")];
    ///                 (form.message(Rate::stars))
    ///                 button { "Rate" }
    ///             }
    ///         }))
    ///     }
    /// }
    ///
    /// #[derive(Service)]
    /// #[service(POST "/", page = Page)]
    /// struct Rate { #[form] stars: Whole<1, 5> }
    /// # impl Handle for Rate { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Page, Rate]));
    /// assert!(client.get("/").text().contains(r#"value="3">"#));
    /// let refused = client.post("/", &[("stars", "9")]);
    /// assert!(refused.text().contains(r#"value="9" aria-invalid="true">"#));
    /// ```
    #[must_use]
    pub fn shown<T: FormField>(&self, name: Name<S, T>) -> &str {
        if T::shape().secret { "" } else { self.core.texts(&self.name_of(name)).first().copied().unwrap_or_default() }
    }

    /// All texts that a field with several values shows: see [`shown`](Self::shown).
    #[must_use]
    pub fn all_shown<T: FormField>(&self, name: Name<S, T>) -> Vec<&str> {
        if T::shape().secret { Vec::new() } else { self.core.texts(&self.name_of(name)) }
    }

    /// What is wrong with a field, in the user's language. To show it, splice [`message`](Self::message): what is
    /// nowhere shown stands at the end of the form.
    #[must_use]
    pub fn problem<T>(&self, name: Name<S, T>) -> Option<&str> {
        self.core.complaint(&self.name_of(name))
    }

    /// True if there is something wrong with a field.
    #[must_use]
    pub fn is_invalid<T>(&self, name: Name<S, T>) -> bool {
        self.problem(name).is_some()
    }

    /// The id of the control of a field, to which its `label` leads. That of its message is the same with `-problem`.
    #[must_use]
    pub fn id_of<T>(&self, name: Name<S, T>) -> String {
        control::id(&self.core, &self.name_of(name))
    }
}
