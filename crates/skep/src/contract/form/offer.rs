//! Choices that are not known when the program is compiled: rows of the database, or what code finds out.
//!
//! An [`Offer`] says what one request may choose from. Its field, [`OneOf`], is never read without asking for that, so
//! no handler gets a value that was not offered.

use std::any::TypeId;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::pin::Pin;

use super::Form;
use super::control::{Controlled, Element as Written};
use super::field::{Control, FormField, Shape, text_of};
use super::info::FieldInfo;
use super::look::{self, FitsDatalist};
use super::name::{Name, Which};
use super::offered::{Entry, Labels, ListedOption, Offers};
use crate::context::cx::Cx;
use crate::routing::param::{OfferInfo, Param, quoted_value};
use crate::sql::{Element, FromValue, ToValue, Unfit, Value};
use skep_http::error::Result;
use skep_http::validation::{Expected, FieldError};

/// What a request may choose from, where that is not known when the program is compiled: rows of a table, or what code
/// finds out.
///
/// A field of type [`OneOf<Trainers>`](OneOf), or an `Option`, a `Vec` or a `BTreeSet` of it, is one of that. The page
/// asks for the list and shows it: `select (Book::trainer.among(&trainers));`, also as `select` for several, as
/// `fieldset` of radio buttons or checkboxes, and as `input` with a `datalist`. When the form comes back, the server
/// asks for the list again, and refuses what is not in it.
///
/// ```
/// use skep::form::{Offer, Offered, OneOf};
/// use skep::prelude::*;
/// # struct Team(Vec<(i64, &'static str)>);
///
/// /// Who gives courses.
/// struct Trainers;
///
/// impl Offer for Trainers {
///     type Value = i64;
///
///     async fn offered(cx: &mut Cx<'_>) -> Result<Offered<Self>> {
///         // Of rows: `cx.db().all(sql!("select id, name from trainer order by name")).await?`
///         let rows = &cx.state::<Team>().0;
///         Ok(rows.iter().map(|(id, name)| (*id, *name)).collect())
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/courses/new")]
/// struct New;
///
/// impl Handle for New {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let trainers = Trainers::offered(cx).await?;
///         Ok(Response::html(html! {
///             form (Save::form(cx)) {
///                 label (Save::trainer) { "Trainer" }
///                 select (Save::trainer.among(&trainers));
///                 button { "Save" }
///             }
///         }))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/courses", page = New)]
/// struct Save { #[form] trainer: OneOf<Trainers> }
///
/// impl Handle for Save {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(format!("trainer {}", self.trainer.0))) }
/// }
///
/// let team = Team(vec![(7, "Ann"), (9, "Bob")]);
/// let client = skep::test::Client::new(App::new().serve(services![New, Save]).state(team));
/// let form = client.get("/courses/new").form::<Save>();
/// assert_eq!(form.set(Save::trainer, "9").submit().text(), "trainer 9");
///
/// let refused = client.post("/courses", &[("trainer", "8")]);
/// assert_eq!(refused.status(), 422);
/// ```
///
/// # Whose rows
/// `offered` runs after the guards of the service, and may ask one itself: `let user = User::check(cx).await?;`. Of its
/// value a [`Scope`](crate::guard::Scope) is made, so that a user is offered their own rows, and picks no others.
///
/// Offer what is stored, too, such as a trainer who retired since (`where retired = 0 or id = ?`): a value that is no
/// longer offered is shown as none.
///
/// One request asks for each list once, however many fields are chosen from it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` offers nothing to choose from",
    label = "`OneOf` needs a type that implements `skep::form::Offer`",
    note = "for an enum with `#[derive(Param)]`, write the enum itself"
)]
pub trait Offer: Sized + 'static {
    /// What is sent and stored: the key of a row, such as `i64` or `Slug`.
    type Value: Param;

    /// What this request may choose from. An error is the answer to the request.
    #[expect(async_fn_in_trait, reason = "it stays on the thread that accepted its connection")]
    async fn offered(cx: &mut Cx<'_>) -> Result<Offered<Self>>;
}

/// The list that an [`Offer`] makes for one request: pairs of value and label, in the order in which people see them.
/// Triples begin with the label of a group; consecutive ones of the same group stand together.
///
/// ```
/// use skep::form::{Offer, Offered};
/// # use skep::prelude::*;
/// # struct Rooms;
/// # impl Offer for Rooms {
/// #     type Value = i64;
/// #     async fn offered(_cx: &mut Cx<'_>) -> Result<Offered<Self>> { Ok(Offered::new()) }
/// # }
///
/// let rooms: Offered<Rooms> = [("First floor", 11, "Hall"), ("First floor", 12, "Study"), ("Attic", 31, "Loft")].into_iter().collect();
/// assert_eq!(rooms.label(&12), Some("Study"));
/// assert_eq!(rooms.options().map(|option| option.group.unwrap_or_default()).last(), Some("Attic"));
/// ```
pub struct Offered<O> {
    options: Vec<Entry>,
    offer: PhantomData<fn() -> O>,
}

impl<O: Offer> Offered<O> {
    /// Nothing to choose from.
    #[must_use]
    pub fn new() -> Self {
        Self { options: Vec::new(), offer: PhantomData }
    }

    /// Adds an option.
    pub fn push(&mut self, value: &O::Value, label: impl Into<String>) {
        self.options.push(Entry { group: None, value: text_of(value), label: label.into() });
    }

    /// Adds an option of this group.
    pub fn push_in(&mut self, group: impl Into<String>, value: &O::Value, label: impl Into<String>) {
        self.options.push(Entry { group: Some(group.into()), value: text_of(value), label: label.into() });
    }

    /// What people read for this value, if it is offered.
    #[must_use]
    pub fn label(&self, value: &O::Value) -> Option<&str> {
        let value = text_of(value);
        self.options.iter().find(|option| option.value == value).map(|option| option.label.as_str())
    }

    /// All of them, in order.
    pub fn options(&self) -> impl Iterator<Item = ListedOption<'_>> {
        self.options.iter().map(Entry::listed)
    }
}

impl<O: Offer> Default for Offered<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: Offer, L: Into<String>> FromIterator<(O::Value, L)> for Offered<O> {
    fn from_iter<I: IntoIterator<Item = (O::Value, L)>>(options: I) -> Self {
        let mut offered = Self::new();
        options.into_iter().for_each(|(value, label)| offered.push(&value, label));
        offered
    }
}

impl<O: Offer, G: Into<String>, L: Into<String>> FromIterator<(G, O::Value, L)> for Offered<O> {
    fn from_iter<I: IntoIterator<Item = (G, O::Value, L)>>(options: I) -> Self {
        let mut offered = Self::new();
        options.into_iter().for_each(|(group, value, label)| offered.push_in(group, &value, label));
        offered
    }
}

impl<O> fmt::Debug for Offered<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.options).finish()
    }
}

/// One of what `O` [offers](Offer), as a field of a form or of a query, and as a column.
///
/// The server reads none that was not offered to this request. Code may make any: to show what is stored,
/// `form.value(Save::trainer, &OneOf(course.trainer))`. In a path or a header it does not compile, since nothing is
/// offered there.
pub struct OneOf<O: Offer>(pub O::Value);

impl<O: Offer> Param for OneOf<O> {
    const IS_SECRET: bool = O::Value::IS_SECRET;
    const OFFER: Option<OfferInfo> =
        Some(OfferInfo { id: TypeId::of::<O>(), quoted: quoted_value::<O::Value>, load: &Load(load::<O>) });

    fn expected() -> Cow<'static, str> {
        O::Value::expected()
    }
    fn expectation() -> Expected {
        O::Value::expectation()
    }
    /// An empty text is what is sent for none, whatever the type: nobody checks whether it is offered.
    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() { None } else { O::Value::parse(text).map(Self) }
    }
    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

impl<O: Offer> Control for OneOf<O> {
    type Look = look::Offers;

    fn shape() -> Shape {
        Shape { kind: "radio", ..Shape::default() }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() { Err(FieldError::Missing) } else { Self::parse(text).ok_or(FieldError::NotChoice) }
    }
}

/// How the code that reads fields comes by what an [`Offer`] offers: [`OfferInfo::load`].
struct Load(for<'c> fn(&'c mut Cx<'_>) -> Loading<'c>);

type Loading<'c> = Pin<Box<dyn Future<Output = Result<Labels>> + 'c>>;

fn load<'c, O: Offer>(cx: &'c mut Cx<'_>) -> Loading<'c> {
    Box::pin(async move {
        let offered = O::offered(cx).await?;
        Ok(offered.options.into_iter().map(|option| (option.value, option.label)).collect())
    })
}

/// Asks for all lists that these fields are chosen from.
pub(crate) async fn load_offers(offers: &Offers, cx: &mut Cx<'_>, fields: &[FieldInfo]) -> Result<()> {
    let mut wanted = Vec::new();
    collect_offers(fields, &mut wanted);
    for OfferInfo { id, load, .. } in wanted {
        if !offers.0.borrow().contains_key(&id) {
            let Load(load) = load.downcast_ref().expect("`OneOf` has put it there");
            let labels = load(cx).await?;
            offers.0.borrow_mut().insert(id, labels);
        }
    }
    Ok(())
}

/// Those of groups and their rows, too.
fn collect_offers(fields: &[FieldInfo], found: &mut Vec<OfferInfo>) {
    for field in fields {
        found.extend(field.offer);
        collect_offers(field.group, found);
    }
}

/// A field that is one of what `O` offers.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` is not chosen from this list",
    label = "the field is of another type",
    note = "where `Trainers::offered(cx)` made the list, the field is `OneOf<Trainers>`, or an `Option`, a `Vec` or a `BTreeSet` of that"
)]
pub trait ChosenFrom<O>: FormField {}

#[diagnostic::do_not_recommend]
impl<O: Offer, T: FormField<One = OneOf<O>>> ChosenFrom<O> for T {}

/// A field together with its options: `select (Save::trainer.among(&trainers));`. [`Name::among`] makes it.
pub struct Among<'o, S, T> {
    pub(super) name: Name<S, T>,
    pub(super) options: &'o [Entry],
}

impl<S, T> Name<S, T> {
    /// This field with its options, for a `select`, a `fieldset` or an `input`. An example is at [`Offer`].
    #[must_use]
    pub fn among<O>(self, offered: &Offered<O>) -> Among<'_, S, T>
    where
        T: ChosenFrom<O>,
    {
        Among { name: self, options: &offered.options }
    }
}

impl<S> Form<S> {
    /// As [`select`](Self::select), for a field that is chosen [`among`](Name::among) what is offered.
    pub fn select_among<'f, T: FormField>(&'f self, among: Among<'f, S, T>) -> Controlled<'f> {
        self.control(among.name, &Which::All, Written::Select).among(among.options)
    }

    /// As [`fieldset`](Self::fieldset), for a field that is chosen [`among`](Name::among) what is offered.
    pub fn fieldset_among<'f, T: FormField>(&'f self, among: Among<'f, S, T>) -> Controlled<'f> {
        self.control(among.name, &Which::All, Written::Fieldset).among(among.options)
    }

    /// An `input` with a `datalist` behind it, of what is offered: for values that people type, such as names.
    pub fn input_among<'f, T: FitsDatalist>(&'f self, among: Among<'f, S, T>) -> Controlled<'f> {
        self.control(among.name, &Which::All, Written::Datalist).among(among.options)
    }
}

impl<S, T> fmt::Debug for Among<'_, S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Among").field(&self.name).field(&self.options).finish()
    }
}

impl<O: Offer<Value: Clone>> Clone for OneOf<O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<O: Offer<Value: Copy>> Copy for OneOf<O> {}

impl<O: Offer<Value: PartialEq>> PartialEq for OneOf<O> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<O: Offer<Value: Eq>> Eq for OneOf<O> {}

impl<O: Offer<Value: Ord>> PartialOrd for OneOf<O> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<O: Offer<Value: Ord>> Ord for OneOf<O> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<O: Offer<Value: Hash>> Hash for OneOf<O> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<O: Offer<Value: fmt::Debug>> fmt::Debug for OneOf<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<O: Offer<Value: fmt::Display>> fmt::Display for OneOf<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<O: Offer<Value: ToValue>> ToValue for OneOf<O> {
    type Sql = <O::Value as ToValue>::Sql;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        self.0.to_value()
    }
}

impl<O: Offer<Value: FromValue>> FromValue for OneOf<O> {
    type Sql = <O::Value as FromValue>::Sql;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        O::Value::from_value(value).map(Self)
    }
}

impl<O: Offer<Value: Element>> Element for OneOf<O> {
    type Sql = <O::Value as Element>::Sql;
}
