//! Optimistic locking: two users edit the same row, and the second one does not overwrite unseen what the first one
//! changed.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use http::StatusCode;

use super::field::{Control, FormField};
use super::info::{FieldInfo, info};
use super::name::Name;
use super::submission::Submission;
use super::text::Hidden;
use crate::context::cx::Cx;
use crate::routing::param::{OfferInfo, Param};
use skep_http::error::Error;
use skep_http::ext::ErrorExt as _;
use skep_http::validation::{FieldError, Messages, Named};

/// What was edited was changed by somebody else meanwhile. As an error it shows the form's page again, with status 409:
/// what the user typed is kept, beside each field that differs it says what is stored now, and sending the form once
/// more replaces that.
///
/// The form carries the version of the row that the user saw in a hidden field, and the update asks for it:
///
/// ```
/// use skep::form::{Conflict, Hidden, Text};
/// use skep::prelude::*;
/// # use std::sync::Mutex;
/// # #[derive(Clone)]
/// # struct Hive { version: i64, name: Text<1, 40> }
/// # struct Hives(Mutex<Hive>);
/// # impl Hives {
/// #     fn read(&self) -> Hive { self.0.lock().unwrap().clone() }
/// #     /// update hive set name = ?, version = version + 1 where version = ?
/// #     fn update(&self, name: &Text<1, 40>, version: i64) -> u64 {
/// #         let mut hive = self.0.lock().unwrap();
/// #         if hive.version != version { return 0; }
/// #         *hive = Hive { version: version + 1, name: name.clone() };
/// #         1
/// #     }
/// # }
///
/// #[derive(Service)]
/// #[service(GET "/hive")]
/// struct Edit;
///
/// impl Handle for Edit {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let hive = cx.state::<Hives>().read();
///         let form = Rename::form(cx).value(Rename::version, &Hidden(hive.version)).value(Rename::name, &hive.name);
///         Ok(Response::html(html! {
///             form (form) { input (Rename::version); input (Rename::name) aria-label="Name"; button { "Save" } }
///         }))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/hive", page = Edit)]
/// struct Rename { #[form] version: Hidden<i64>, #[form] name: Text<1, 40> }
///
/// impl Handle for Rename {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let hives = cx.state::<Hives>();
///         if hives.update(&self.name, self.version.0) == 0 {
///             let now = hives.read();
///             let conflict = Conflict::new(cx, Rename::version, &now.version);
///             return Err(conflict.field(Rename::name, &self.name, &now.name).into());
///         }
///         Ok(Response::see_other(Edit))
///     }
/// }
///
/// # let hive = Hive { version: 7, name: "Oak".parse().unwrap() };
/// let client = skep::test::Client::new(App::new().serve(services![Edit, Rename]).state(Hives(Mutex::new(hive))));
/// let (ann, bob) = (client.get("/hive").form::<Rename>(), client.get("/hive").form::<Rename>());
/// assert_eq!(ann.set(Rename::name, "Beech").submit().status(), 200);
///
/// let refused = bob.set(Rename::name, "Birch").submit();
/// assert_eq!(refused.status(), 409);
/// assert!(refused.text().contains("Somebody else changed this to: Beech") && refused.text().contains("Birch"));
///
/// // Now Bob has seen it.
/// assert_eq!(refused.form::<Rename>().submit().status(), 200);
/// ```
#[must_use = "it is an error that a handler returns"]
pub struct Conflict<S> {
    messages: Messages,
    submission: Option<Rc<Submission>>,
    faults: Vec<Named>,
    service: PhantomData<fn() -> S>,
}

impl<S> Conflict<S> {
    /// The row has this version now. The form that is shown again carries it, so that sending it once more replaces
    /// what the user has seen by then.
    pub fn new<V: Param>(cx: &Cx<'_>, version: Name<S, Hidden<V>>, now: &V) -> Self
    where
        Hidden<V>: Control,
    {
        let submission = cx.submission();
        if let Some(submission) = &submission {
            let mut text = String::new();
            now.write(&mut text);
            submission.renew(version.text(), text);
        }
        let messages = *cx.messages();
        let faults = vec![(Cow::Borrowed(""), FieldError::Own(messages.conflict.into()))];
        Self { messages, submission, faults, service: PhantomData }
    }

    /// A field: what this user sent, and what is stored now. If they are the same, nothing is said of it. Of a group,
    /// each of its fields is compared.
    pub fn field<T: FormField>(mut self, name: Name<S, T>, sent: &T, now: &T) -> Self {
        let (name, field) = (name.text(), info::<T>(""));
        let (sent, now) = (texts(&name, sent), texts(&name, now));
        if field.many || field.group.is_empty() {
            self.compare(name, &field, &sent, &now);
        } else {
            for of_group in field.group {
                self.compare(Cow::Owned(format!("{name}.{}", of_group.name)), of_group, &sent, &now);
            }
        }
        self
    }

    fn compare(&mut self, name: Cow<'static, str>, field: &FieldInfo, sent: &Texts, now: &Texts) {
        let is_of = |(other, _): &&(String, String)| {
            other.strip_prefix(&*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let (sent, now): (Vec<_>, Vec<_>) = (sent.iter().filter(is_of).collect(), now.iter().filter(is_of).collect());
        if sent != now {
            let now = self.shown(field, now.into_iter().map(|(_, text)| text));
            self.faults.push((name, FieldError::Own((self.messages.changed)(&now).into())));
        }
    }

    /// A value as the user sees it: choices by their labels. Empty if it is not to be shown, or has no text.
    fn shown<'t>(&self, field: &FieldInfo, texts: impl Iterator<Item = &'t String>) -> String {
        let shape = field.shape.map(|shape| shape()).unwrap_or_default();
        if !field.group.is_empty() || shape.secret || shape.kind == "checkbox" && shape.options.is_empty() {
            return String::new();
        }
        let label = |text: &String| match shape.options.iter().find(|option| option.value == text) {
            Some(option) => option.label_in(self.messages.language).to_owned(),
            None => self.offered(field.offer, text).unwrap_or_else(|| text.clone()),
        };
        texts.map(label).collect::<Vec<_>>().join(", ")
    }
}

impl<S> Conflict<S> {
    /// What people read for a value that is offered to this request.
    fn offered(&self, offer: Option<OfferInfo>, text: &str) -> Option<String> {
        self.submission.as_ref()?.offers.label(offer?, text)
    }
}

type Texts = [(String, String)];

/// The names and texts that a form would send for this value.
fn texts<T: FormField>(name: &str, value: &T) -> Vec<(String, String)> {
    let mut all = Vec::new();
    value.give(name, &mut |name, text| all.push((name, text)));
    all
}

impl<S> From<Conflict<S>> for Error {
    fn from(conflict: Conflict<S>) -> Self {
        Self::refused(conflict.faults, &conflict.messages).with_status(StatusCode::CONFLICT)
    }
}

impl<S> fmt::Debug for Conflict<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Conflict").field(&self.faults).finish()
    }
}
