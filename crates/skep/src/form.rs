//! Forms: typed fields, their controls, and what happens to a submission that is not accepted.
//!
//! A service declares the fields of its form, `#[form] author: Text<1, 80>`. Everything else follows from their types: what the
//! browser checks, what the server checks, and which element edits them. A submission that is not accepted is answered
//! with the page that holds the form (`page = ...`), status 422, with the messages beside the fields and what was typed.
//!
//! ```
//! use skep::form::{Lines, Text};
//! use skep::prelude::*;
//!
//! #[derive(Service)]
//! #[service(GET "/book")]
//! struct GuestBook;
//!
//! impl Handle for GuestBook {
//!     async fn handle(self, cx: &mut Cx<'_>) -> Result {
//!         Ok(Response::html(html! {
//!             form (Entry::form(cx)) {
//!                 label (Entry::author) { "Name" }
//!                 input (Entry::author);
//!                 label (Entry::text) { "Text" }
//!                 textarea (Entry::text);
//!                 button { "Send" }
//!             }
//!         }))
//!     }
//! }
//!
//! #[derive(Service)]
//! #[service(POST "/book", page = GuestBook)]
//! struct Entry { #[form] author: Text<1, 80>, #[form] text: Lines<1, 10_000> }
//!
//! impl Handle for Entry {
//!     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::see_other(&GuestBook)) }
//! }
//!
//! let client = skep::test::Client::new(App::new().serve::<(GuestBook, Entry)>());
//! let answer = client.post("/book", &[("author", ""), ("text", "Well kept.")]);
//! assert_eq!(answer.status(), 422);
//! assert!(answer.text().contains("Please fill this in.") && answer.text().contains("Well kept.</textarea>"));
//! ```
//!
//! Start reading at [`Form`]; what makes a type a field is [`Control`].

mod choice;
mod complete;
mod control;
mod fault;
mod field;
mod look;
mod messages;
mod multipart;
mod number;
mod receive;
mod submission;
mod text;
mod time;
mod upload;

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

pub use complete::complete;
pub use control::{Controlled, MessageOf};
pub use fault::{Fault, Refusal};
pub use field::{
    Control, FieldInfo, FormField, ManyOf, Name, OfferedOption, Part, Sent, Shape, body_of, info, query_info,
};
pub use look::{
    Area, Choose, ChooseMany, FitsChoice, FitsInput, FitsSeveral, FitsTextarea, Line, LineOrArea, Look, Pick, Several,
    Tick,
};
pub use messages::Messages;
pub use number::{Decimal, Whole};
pub use text::{Email, Hidden, Lines, Password, Text, Url};
pub use time::{Date, DateTime, Time};
pub use upload::{AnyFile, FileKind, Received, Upload};

pub(crate) use fault::Named;
pub(crate) use messages::choose as choose_language;
pub(crate) use receive::{Parts, Receiver};
pub(crate) use submission::Submission;
pub(crate) use upload::Quota;

use self::control::Element;
use self::field::Which;
use crate::cx::Cx;
use crate::html::{Attributes, Buffer};
use crate::service::{BodyKind, Link, Service};

/// A form that leads to the service `S`, as one request sees it: `Comment::form(cx, page)` makes it, and
/// `form (here) { ... }` writes it.
///
/// It knows where it leads, what was typed in a submission that this request brought, and what is wrong with it.
/// Inside a literal `form (...) { }` the controls find it by themselves: `input (Comment::author);`. Elsewhere, such as in a
/// function that writes a part of a form, they are asked for: `input (form.input(Comment::author));`.
pub struct Form<S> {
    core: Core,
    service: PhantomData<fn() -> S>,
}

/// What does not hang on the type of the service.
pub(crate) struct Core {
    method: &'static str,
    action: String,
    multipart: bool,
    /// Hidden fields of our own.
    hidden: Vec<(&'static str, String)>,
    /// What was typed, if this request is a submission of this form.
    typed: Option<Rc<Submission>>,
    /// The messages for it, in the user's language.
    complaints: Vec<(&'static str, String)>,
    /// What the author gave to be edited.
    given: Vec<(&'static str, String)>,
    /// What the ids of the controls begin with.
    prefix: String,
    /// The author places the messages.
    apart: bool,
    /// The first wrong field has the focus.
    focused: Cell<bool>,
    /// The fields whose messages have been written.
    shown: RefCell<Vec<&'static str>>,
}

impl<S: Service> Form<S> {
    /// For `#[derive(Service)]`: a form whose submission changes something.
    #[doc(hidden)]
    #[must_use]
    pub fn of_post(cx: &Cx<'_>, write: impl FnOnce(&mut Link<'_>)) -> Self {
        let mut form = Self::new("post", write);
        form.core.multipart = S::ROUTE.body == BodyKind::Multipart;
        if S::ROUTE.is_external() {
            // Neither our token nor anything that was typed goes to another site.
            return form;
        }
        form.core.hidden = cx.hidden_fields(S::ROUTE);
        if let Some(submission) = cx.submission().filter(|one| one.service == TypeId::of::<S>()) {
            form.core.complaints = submission.complaints(cx.messages());
            form.core.typed = Some(submission);
        }
        form
    }

    /// For `#[derive(Service)]`: a form whose fields become a query.
    #[doc(hidden)]
    #[must_use]
    pub fn of_get(write: impl FnOnce(&mut Link<'_>)) -> Self {
        Self::new("get", write)
    }

    fn new(method: &'static str, write: impl FnOnce(&mut Link<'_>)) -> Self {
        let mut action = String::new();
        write(&mut Link::new(&mut action));
        let core = Core {
            method,
            action,
            multipart: false,
            hidden: Vec::new(),
            typed: None,
            complaints: Vec::new(),
            given: Vec::new(),
            prefix: S::ROUTE.service.to_ascii_lowercase(),
            apart: false,
            focused: Cell::new(false),
            shown: RefCell::default(),
        };
        Self { core, service: PhantomData }
    }

    /// Gives a field a value to be edited. What the user typed in a submission that was not accepted wins.
    ///
    /// ```
    /// use skep::form::Text;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/search")]
    /// struct Search { q: Option<Text<1, 80>> }
    /// # impl Handle for Search { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// let asked = Some("bees".parse().unwrap());
    /// let page = html! { form (Search::form().value(Search::q, &asked)) { input (Search::q) type="search"; } };
    /// assert!(page.as_str().contains(r#"value="bees""#));
    /// ```
    #[must_use]
    pub fn value<T: FormField>(mut self, name: Name<S, T>, value: &T) -> Self {
        let given = &mut self.core.given;
        given.retain(|(other, _)| *other != name.text());
        value.write(&mut |text| given.push((name.text(), text)));
        self
    }

    /// Begins the ids of the controls with this, for a page that holds the form of one service more than once. If not
    /// said otherwise it is the service's name in small letters.
    #[must_use]
    pub fn prefixed(mut self, prefix: impl Into<String>) -> Self {
        self.core.prefix = prefix.into();
        self
    }

    /// Writes no message by itself: the author places them with [`message`](Self::message).
    #[must_use]
    pub fn messages_apart(mut self) -> Self {
        self.core.apart = true;
        self
    }

    /// Where it leads.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.core.action
    }

    /// The message of a field, if there is something wrong with it: a `span` with the class `problem`, which the control refers
    /// to. It stands where it is spliced, and no more behind the control if that comes later.
    #[must_use]
    pub fn message<T>(&self, name: Name<S, T>) -> MessageOf<'_> {
        MessageOf::new(&self.core, name.text())
    }

    /// True if this request brought a submission that is not accepted.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.core.complaints.is_empty()
    }

    /// The attributes of the `input` for this field; behind it stands its message.
    pub fn input<T: FitsInput>(&self, name: Name<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, name.text(), &Which::All, T::shape(), Element::Input)
    }

    /// The attributes of the `input` for a part of a field: one choice ([`Name::of`]), one value of a list ([`Name::at`]).
    pub fn part<T: FormField>(&self, part: &Part<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, part.name.text(), &part.which, T::shape(), Element::Input)
    }

    /// The attributes and the text of the `textarea` for this field.
    pub fn textarea<T: FitsTextarea>(&self, name: Name<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, name.text(), &Which::All, T::shape(), Element::Textarea)
    }

    /// The attributes and the options of the `select` for this field.
    pub fn select<T: FitsChoice>(&self, name: Name<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, name.text(), &Which::All, T::shape(), Element::Select)
    }

    /// The radio buttons or checkboxes of the `fieldset` for this field. They stand behind what the author puts there, which
    /// begins with a `legend`.
    pub fn fieldset<T: FitsChoice>(&self, name: Name<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, name.text(), &Which::All, T::shape(), Element::Fieldset)
    }

    /// The attributes of the `label` of this field.
    pub fn label<T: FormField>(&self, name: Name<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, name.text(), &Which::All, T::shape(), Element::Label)
    }

    /// The name of the `button` that sends the form and says by its `value` which button it was.
    pub fn button<T: FormField>(&self, name: Name<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, name.text(), &Which::All, T::shape(), Element::Button)
    }

    /// The attributes of the `label` of a part of a field.
    pub fn part_label<T: FormField>(&self, part: &Part<S, T>) -> Controlled<'_> {
        Controlled::new(&self.core, part.name.text(), &part.which, T::shape(), Element::Label)
    }
}

impl Core {
    /// The texts that a field shows: those that were typed, else those that the author gave.
    fn texts(&self, name: &'static str) -> Vec<&str> {
        match &self.typed {
            Some(submission) => submission.pairs.get(name).collect(),
            None => self.given.iter().filter(|(other, _)| *other == name).map(|(_, text)| text.as_str()).collect(),
        }
    }

    fn complaint(&self, name: &str) -> Option<&str> {
        self.complaints.iter().find(|(other, _)| *other == name).map(|(_, text)| text.as_str())
    }

    /// True for the first who asks: a message is written once.
    fn shows(&self, name: &'static str) -> bool {
        let mut shown = self.shown.borrow_mut();
        let first = !shown.contains(&name);
        if first {
            shown.push(name);
        }
        first
    }
}

impl<S> Attributes for Form<S> {
    fn write_attributes(&self, out: &mut Buffer) {
        out.push_attribute("method", self.core.method);
        out.push_link("action", self.core.action.as_str());
        if self.core.multipart {
            out.push_attribute("enctype", "multipart/form-data");
        }
    }

    fn write_content(&self, out: &mut Buffer) {
        for (name, value) in &self.core.hidden {
            out.push_trusted("<input type=\"hidden\"");
            out.push_attribute("name", name);
            out.push_attribute("value", value);
            out.push_trusted(">");
        }
        if let Some(text) = self.core.complaint("").filter(|_| !self.core.apart && self.core.shows("")) {
            out.push_trusted("<p class=\"problem\" role=\"alert\">");
            out.push_text(text);
            out.push_trusted("</p>");
        }
    }
}

impl<S> fmt::Debug for Form<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({} {})", self.core.method, self.core.action)
    }
}
