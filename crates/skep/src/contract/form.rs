//! Forms: typed fields, their controls, and what happens to a submission that is not accepted.
//!
//! A service declares the fields of its form, `#[form] author: Text<1, 80>`. Everything else follows from their types:
//! what the browser checks, what the server checks, and which element edits them. A submission that is not accepted is
//! answered with the page that holds the form (`page = ...`), status 422, with the messages beside the fields and what
//! was typed.
//!
//! ```
//! use skep::form::{MultilineText, Text};
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
//! struct Entry { #[form] author: Text<1, 80>, #[form] text: MultilineText<1, 10_000> }
//!
//! impl Handle for Entry {
//!     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::see_other(&GuestBook)) }
//! }
//!
//! let client = skep::test::Client::new(App::new().serve(services![GuestBook, Entry]));
//! let answer = client.post("/book", &[("author", ""), ("text", "Well kept.")]);
//! assert_eq!(answer.status(), 422);
//! assert!(answer.text().contains("Please fill this in.") && answer.text().contains("Well kept.</textarea>"));
//! ```
//!
//! Start reading at [`Form`]; what makes a type a field is [`Control`].

mod charset;
mod choice;
mod columns;
mod complete;
mod conflict;
mod control;
#[cfg(feature = "decimal")]
mod decimal;
mod field;
#[cfg(feature = "garde")]
mod garde;
mod info;
#[cfg(feature = "jiff")]
mod jiff;
mod json;
mod look;
mod multipart;
mod name;
mod number;
mod offer;
mod offered;
mod parameters;
mod parts;
mod receive;
mod refusal;
mod rows;
mod submission;
mod text;
mod time;
mod typed;
mod upload;

use std::any::TypeId;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

#[cfg(feature = "garde")]
#[doc(hidden)]
pub use self::garde::judge_by_garde;
#[cfg(feature = "jiff")]
pub use self::jiff::Fold;
pub use complete::{complete, written};
pub use conflict::Conflict;
pub use control::{Controlled, MessageOf};
pub use field::{Control, FormField, ManyOf, OfferedOption, Sent, Shape};
pub use info::{FieldInfo, body_of, info, query_info};
pub use look::{
    Area, Choose, ChooseMany, FitsChoice, FitsDatalist, FitsGroup, FitsInput, FitsRows, FitsSeveral, FitsTextarea,
    Grouped, Groups, Line, LineOrArea, Look, Offers, OffersMany, Pick, Several, Tick,
};
pub use name::{Name, NamePart};
pub use number::{Decimal, Whole};
pub use offer::{Among, ChosenFrom, Offer, Offered, OneOf};
pub use offered::ListedOption;
pub use refusal::Refusal;
#[doc = include_str!("form/group.md")]
pub use skep_macros::Group;
pub use text::{Email, Hidden, MultilineText, Password, Text, Url};
pub use time::{Date, DateTime, Time};
pub use upload::{AnyFile, FileKind, Received, Upload};

pub use skep_http::validation::{Expected, FieldError, InputError, Messages};

pub(crate) use json::take_refused;
pub(crate) use offer::load_offers;
pub(crate) use offered::{Offers as OfferedLists, has_offers};
pub(crate) use receive::{Parts, remove_old_uploads};
pub(crate) use submission::Submission;

use self::control::{Element, write_alert};
use self::name::Which;
use crate::base::percent;
use crate::context::cx::Cx;
use crate::contract::service::{BodyKind, Link, Service};
use crate::html::{Attributes, Buffer, NamedControls};
use crate::routing::param::FieldMap;

/// A form that leads to the service `S`, as one request sees it: `Comment::form(cx, page)` makes it, and
/// `form (here) { ... }` writes it.
///
/// It knows where it leads, what was typed in a submission that this request brought, and what is wrong with it. Inside
/// a literal `form (...) { }` the controls find it by themselves: `input (Comment::author);`. Elsewhere, such as in a
/// function that writes a part of a form, they are asked for: `input (form.input(Comment::author));`.
pub struct Form<S> {
    /// Shared with the parts of the form: what one of them has shown, another does not show again.
    core: Rc<Core>,
    /// The group whose fields these are, if this is a part of a form.
    group: Option<Cow<'static, str>>,
    /// It is a row that nobody has begun: none of its fields is required yet.
    is_spare: bool,
    service: PhantomData<fn() -> S>,
}

/// What does not hang on the type of the service.
#[derive(Clone, Default)]
pub(crate) struct Core {
    method: &'static str,
    action: String,
    multipart: bool,
    /// Hidden fields of our own.
    hidden: Vec<(&'static str, String)>,
    /// What was typed, if this request is a submission of this form.
    typed: Option<Rc<Submission>>,
    /// The messages for it, in the user's language.
    complaints: FieldMap<Cow<'static, str>, String>,
    /// What the author gave to be edited.
    given: FieldMap<String, String>,
    /// How many rows each list has, once counted.
    rows: RefCell<HashMap<String, usize>>,
    /// What the ids of the controls begin with.
    prefix: String,
    /// The language of choices: one of the application's, or none.
    language: &'static str,
    /// The author places the messages.
    apart: bool,
    /// The first wrong field has the focus.
    focused: Cell<bool>,
    /// The fields whose messages have been written.
    shown: RefCell<HashSet<String>>,
    /// What `@fields` promises that the form has, in debug builds; where its content begins.
    promised: RefCell<Vec<complete::Promise>>,
    start: Cell<usize>,
}

impl<S: Service> Form<S> {
    /// For `#[derive(Service)]`: a form whose submission changes something.
    #[doc(hidden)]
    #[must_use]
    pub fn of_post(cx: &Cx<'_>, write: impl FnOnce(&mut Link<'_>)) -> Self {
        let mut core = Core::new::<S>("post", write);
        core.multipart = S::ROUTE.body == BodyKind::Multipart;
        core.language = cx.messages().language;
        if S::ROUTE.is_external() {
            // Neither our token nor anything that was typed goes to another site.
            return Self::of(core);
        }
        core.hidden = cx.hidden_fields(S::ROUTE);
        core.language = cx.language();
        let is_this = |one: &Rc<Submission>| one.service == TypeId::of::<S>() && core.leads_to(cx.uri().path());
        if let Some(submission) = cx.submission().filter(is_this) {
            core.complaints = submission.complaints(cx.messages());
            core.typed = Some(submission);
        }
        Self::of(core)
    }

    /// For `#[derive(Service)]`: a form whose fields become a query.
    #[doc(hidden)]
    #[must_use]
    pub fn of_get(write: impl FnOnce(&mut Link<'_>)) -> Self {
        Self::of(Core::new::<S>("get", write))
    }

    fn of(core: Core) -> Self {
        Self { core: Rc::new(core), group: None, is_spare: false, service: PhantomData }
    }
}

impl<S> Form<S> {
    /// As it is sent.
    fn name_of<T>(&self, name: Name<S, T>) -> Cow<'static, str> {
        name::within(self.group.as_deref(), name.text())
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
        let (name, core) = (self.name_of(name), Rc::make_mut(&mut self.core));
        let given = &mut core.given;
        given.retain(|other| !other.strip_prefix(&*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
        value.give(&name, &mut |name, text| given.push(name, text));
        core.rows.take();
        self
    }

    /// Gives a field a text to be edited, also one that its type would refuse: what is stored may be older than the
    /// rule. What the user typed in a submission that was not accepted wins.
    ///
    /// ```
    /// use skep::form::Text;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/search")]
    /// struct Search { q: Option<Text<3, 80>> }
    /// # impl Handle for Search { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// let page = html! { form (Search::form().text(Search::q, "ab")) { input (Search::q) type="search"; } };
    /// assert!(page.as_str().contains(r#"value="ab""#));
    /// ```
    #[must_use]
    pub fn text<T: FormField>(mut self, name: Name<S, T>, text: impl Into<String>) -> Self {
        let (name, given) = (self.name_of(name), &mut Rc::make_mut(&mut self.core).given);
        given.retain(|other| *other != *name);
        given.push(name.into_owned(), text.into());
        self
    }

    /// Begins the ids of the controls with this, for a page that holds the form of one service more than once. If not
    /// said otherwise it is the service's name in small letters.
    #[must_use]
    pub fn prefixed(mut self, prefix: impl Into<String>) -> Self {
        Rc::make_mut(&mut self.core).prefix = prefix.into();
        self
    }

    /// Writes the choices of enums in this language, `cx.language()`. A form that changes something knows the language
    /// by itself; one whose fields become a query does not see the request.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Clone, Copy, Param)]
    /// enum State {
    ///     #[param(label(de = "Offen"))]
    ///     Open,
    /// }
    ///
    /// #[derive(Service)]
    /// #[service(GET "/search")]
    /// struct Search { state: Option<State> }
    /// # impl Handle for Search { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    ///
    /// let page = html! { form (Search::form().language("de")) { select (Search::state); } };
    /// assert!(page.as_str().contains("Offen"));
    /// ```
    #[must_use]
    pub fn language(mut self, language: &'static str) -> Self {
        Rc::make_mut(&mut self.core).language = language;
        self
    }

    /// Writes no message by itself: the author places them with [`message`](Self::message).
    #[must_use]
    pub fn messages_apart(mut self) -> Self {
        Rc::make_mut(&mut self.core).apart = true;
        self
    }

    /// Where it leads.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.core.action
    }

    fn control<T: FormField>(&self, name: Name<S, T>, which: &Which, element: Element) -> Controlled<'_> {
        let mut shape = T::shape();
        // A row may be left empty as a whole; the browser cannot know that, so what it must hold the server says.
        let is_there = |(list, row)| row < self.core.rows(&name::within(self.group.as_deref(), list));
        shape.required &= !self.is_spare && name.place().is_none_or(is_there);
        Controlled::new(&self.core, self.name_of(name), which, shape, element)
    }

    /// The attributes of the `input` for this field; behind it stands its message.
    pub fn input<T: FitsInput>(&self, name: Name<S, T>) -> Controlled<'_> {
        self.control(name, &Which::All, Element::Input)
    }

    /// The attributes of the `input` for a part of a field: one choice ([`Name::of`]), one value of a list
    /// ([`Name::at`]).
    pub fn part<T: FormField>(&self, part: &NamePart<S, T>) -> Controlled<'_> {
        self.control(part.name, &part.which, Element::Input)
    }

    /// The attributes and the text of the `textarea` for this field.
    pub fn textarea<T: FitsTextarea>(&self, name: Name<S, T>) -> Controlled<'_> {
        self.control(name, &Which::All, Element::Textarea)
    }

    /// The attributes and the options of the `select` for this field.
    pub fn select<T: FitsChoice>(&self, name: Name<S, T>) -> Controlled<'_> {
        self.control(name, &Which::All, Element::Select)
    }

    /// The radio buttons or checkboxes of the `fieldset` for this field. They stand behind what the author puts there,
    /// which begins with a `legend`.
    pub fn fieldset<T: FitsChoice>(&self, name: Name<S, T>) -> Controlled<'_> {
        self.control(name, &Which::All, Element::Fieldset)
    }

    /// The attributes of the `label` of this field.
    pub fn label<T: FormField>(&self, name: Name<S, T>) -> Controlled<'_> {
        self.control(name, &Which::All, Element::Label)
    }

    /// The name of the `button` that sends the form and says by its `value` which button it was.
    pub fn button<T: FormField>(&self, name: Name<S, T>) -> Controlled<'_> {
        self.control(name, &Which::All, Element::Button)
    }

    /// The attributes of the `label` of a part of a field.
    pub fn part_label<T: FormField>(&self, part: &NamePart<S, T>) -> Controlled<'_> {
        self.control(part.name, &part.which, Element::Label)
    }
}

impl Core {
    fn new<S: Service>(method: &'static str, write: impl FnOnce(&mut Link<'_>)) -> Self {
        let mut action = String::new();
        write(&mut Link::new(&mut action));
        Self { method, action, prefix: S::ROUTE.service.to_ascii_lowercase(), ..Self::default() }
    }

    /// A page may hold a form of this service for each of several things; a submission belongs to one of them.
    fn leads_to(&self, path: &str) -> bool {
        let own = self.action.split('?').next().unwrap_or_default();
        percent::normalise_path(own) == percent::normalise_path(path)
    }

    /// The texts that a field shows: those that were typed, else those that the author gave.
    fn texts(&self, name: &str) -> Vec<&str> {
        match &self.typed {
            Some(submission) => submission.texts(name),
            None => self.given.get(name).map(String::as_str).collect(),
        }
    }

    /// How many rows of a list were typed or given.
    fn rows(&self, list: &str) -> usize {
        if let Some(rows) = self.rows.borrow().get(list) {
            return *rows;
        }
        let rows = match &self.typed {
            Some(submission) => submission.rows(list),
            None => rows::count(self.given.iter().map(|(name, _)| name), list),
        };
        self.rows.borrow_mut().insert(list.to_owned(), rows);
        rows
    }

    fn complaint(&self, name: &str) -> Option<&str> {
        self.complaints.get(name).next().map(String::as_str)
    }

    /// True for the first who asks: a message is written once.
    fn shows(&self, name: &str) -> bool {
        self.shown.borrow_mut().insert(name.to_owned())
    }
}

impl<S: Service> Attributes for Form<S> {
    fn write_attributes(&self, out: &mut Buffer) {
        out.push_attribute("method", self.core.method);
        out.push_link("action", self.core.action.as_str());
        if self.core.multipart {
            out.push_attribute("enctype", "multipart/form-data");
        }
    }

    fn write_content(&self, out: &mut Buffer) {
        self.core.start.set(out.len());
        for (name, value) in &self.core.hidden {
            out.push_trusted("<input type=\"hidden\"");
            out.push_attribute("name", name);
            out.push_attribute("value", value);
            out.push_trusted(">");
        }
        if let Some(text) = self.core.complaint("").filter(|_| !self.core.apart && self.core.shows("")) {
            write_alert(text, out);
        }
    }

    /// What is wrong with a field that has no control here, or with a list as a whole, must not go unsaid.
    fn write_end(&self, out: &mut Buffer) {
        for (name, text) in self.core.complaints.iter().filter(|_| !self.core.apart) {
            if self.core.shows(name) {
                write_alert(text, out);
            }
        }
        if cfg!(debug_assertions) {
            self.core.check_promises(out.as_str());
        }
    }

    fn expect_controls<C: NamedControls>(&self) {
        const { complete(S::ROUTE.service, S::FIELDS, &[], C::NAMES, &[]) }
    }
}

impl<S> fmt::Debug for Form<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({} {})", self.core.method, self.core.action)
    }
}

/// For `#[derive(Service)]`: the rules of `garde` on its fields.
#[cfg(feature = "garde")]
#[doc(hidden)]
#[macro_export]
macro_rules! __judge_by_garde {
    ($service:expr, $refusal:expr) => {
        $crate::form::judge_by_garde($service, $refusal)
    };
}

#[cfg(not(feature = "garde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __judge_by_garde {
    ($service:expr, $refusal:expr) => {
        ::core::compile_error!(
            "nobody would ask these rules: skep has them asked with its feature `garde` (in Cargo.toml: \
             skep = { version = \"...\", features = [\"garde\"] })"
        )
    };
}
