//! How rules and handlers refuse a submission.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use super::field::Sent;
use super::name::{Name, joined};
use skep_http::error::{Error, Result};
use skep_http::ext::ErrorExt as _;
use skep_http::validation::{FieldError, Messages, Named};

/// Why a submission is not accepted, from rules that no single type can know: fields that contradict each other, a name
/// that is taken. The user gets the form's page again, as with any other fault: status 422, messages beside the fields,
/// what was typed kept.
///
/// ```
/// use skep::form::{Date, Refusal};
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(POST "/stays", rules = Stay::rules)]
/// struct Stay { #[form] from: Date, #[form] to: Date }
///
/// impl Stay {
///     fn rules(&self, refusal: &mut Refusal<Self>) {
///         if self.to < self.from {
///             refusal.field(Stay::to, "You would leave before you arrive.");
///         }
///     }
/// }
///
/// impl Handle for Stay {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("booked")) }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Stay]));
/// assert_eq!(client.post("/stays", &[("from", "2026-12-02"), ("to", "2026-12-01")]).status(), 422);
/// assert_eq!(client.post("/stays", &[("from", "2026-12-01"), ("to", "2026-12-02")]).text(), "booked");
/// ```
pub struct Refusal<S> {
    faults: Vec<Named>,
    service: PhantomData<fn() -> S>,
}

impl<S> Refusal<S> {
    /// Nothing is wrong yet.
    #[must_use]
    pub fn new() -> Self {
        Self { faults: Vec::new(), service: PhantomData }
    }

    /// Something is wrong with this field.
    pub fn field<T>(&mut self, name: Name<S, T>, message: impl Into<Cow<'static, str>>) {
        self.fault(name, FieldError::Own(message.into()));
    }

    /// This is wrong with this field.
    pub fn fault<T>(&mut self, name: Name<S, T>, fault: FieldError) {
        self.named(name.text(), fault);
    }

    pub(super) fn into_faults(self) -> Vec<Named> {
        self.faults
    }

    pub(super) fn named(&mut self, name: Cow<'static, str>, fault: FieldError) {
        self.faults.push((name, fault));
    }

    /// Something is wrong with the form as a whole: the message stands at its start.
    pub fn whole(&mut self, message: impl Into<Cow<'static, str>>) {
        self.named(Cow::Borrowed(""), FieldError::Own(message.into()));
    }

    /// True if nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// `Ok` if nothing is wrong, else the error that shows the form again.
    ///
    /// ```
    /// use skep::form::Refusal;
    /// assert!(Refusal::<()>::new().judge().is_ok());
    /// ```
    pub fn judge(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::refused(self.faults, &Messages::ENGLISH)) }
    }
}

impl Sent<'_> {
    /// What the rules of this group say is noted; the value, if that is nothing.
    #[doc(hidden)]
    #[must_use]
    pub fn judged<G>(&self, group: G, rules: impl FnOnce(&G, &mut Refusal<G>)) -> Option<G> {
        let mut refusal = Refusal::new();
        rules(&group, &mut refusal);
        let is_right = refusal.is_empty();
        for (name, fault) in refusal.into_faults() {
            // What is wrong with the group as a whole is said of the form.
            let name = if name.is_empty() { name } else { Cow::Owned(joined(self.name, &name)) };
            self.submission.note(name, fault);
        }
        is_right.then_some(group)
    }
}

impl<S> Default for Refusal<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for Refusal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Refusal").field(&self.faults).finish()
    }
}

impl<S, T> Name<S, T> {
    /// The error that shows the form's page again with this message beside this field: for rules that need the
    /// database. Status 422, unless [`Error::with_status`] says otherwise.
    ///
    /// ```
    /// use skep::form::Text;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(POST "/names")]
    /// struct Register { #[form] name: Text<1, 40> }
    ///
    /// impl Handle for Register {
    ///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
    ///         if self.name.as_str() == "bee" {
    ///             return Err(Register::name.refuse("This name is taken."));
    ///         }
    ///         Ok(Response::text("welcome"))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Register]));
    /// assert_eq!(client.post("/names", &[("name", "bee")]).status(), 422);
    /// ```
    #[must_use]
    pub fn refuse(self, message: impl Into<Cow<'static, str>>) -> Error {
        Error::refused(vec![(self.text(), FieldError::Own(message.into()))], &Messages::ENGLISH)
    }
}
