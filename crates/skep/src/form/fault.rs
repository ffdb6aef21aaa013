//! What is wrong with a field, and how a handler says so.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use http::StatusCode;

use super::field::Name;
use super::messages::Messages;
use crate::error::{Error, Result, Wrong};

/// What is wrong with what was sent for a field. Its text comes from [`Messages`], in the user's language.
///
/// ```
/// use skep::form::{Control, Fault, Text};
///
/// assert_eq!(Text::<1, 3>::check("four").unwrap_err(), Fault::TooLong { max: 3, length: 4 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing was given, and something must be.
    Missing,
    /// More than one value was sent for a field that has one.
    Repeated,
    /// Shorter than this, in UTF-16 code units, as browsers count.
    TooShort {
        /// The fewest code units.
        min: usize,
    },
    /// Longer than this, in UTF-16 code units, as browsers count.
    TooLong {
        /// The most code units.
        max: usize,
        /// What it has.
        length: usize,
    },
    /// A line break or a control character.
    NotOneLine,
    /// A control character in a text of several lines.
    ControlCharacters,
    /// Not an e-mail address.
    NotEmail,
    /// Not an address of the web.
    NotUrl,
    /// Not a number.
    NotNumber,
    /// A number, but not a whole one.
    NotWhole,
    /// Less than this.
    TooSmall {
        /// The least.
        min: String,
    },
    /// More than this.
    TooLarge {
        /// The most.
        max: String,
    },
    /// More digits behind the point than this.
    TooPrecise {
        /// The most digits behind the point.
        places: u32,
    },
    /// Not a date.
    NotDate,
    /// Not a time of day.
    NotTime,
    /// Not a date with a time of day.
    NotDateTime,
    /// None of the choices.
    NotChoice,
    /// A file larger than this.
    FileTooLarge {
        /// The most bytes.
        limit: u64,
    },
    /// A file of another kind.
    FileKind {
        /// The kinds that are taken.
        accept: &'static str,
    },
    /// What the type expects, in its own words: [`Param::expected`](crate::param::Param::expected).
    Expected(Cow<'static, str>),
    /// The form was shown too long ago, or its token is not ours.
    Expired,
    /// The browser kept no cookie, without which a form that is accepted once cannot be sent.
    NoCookie,
    /// A form that is accepted once was accepted before.
    Spent,
    /// Something is wrong in a row of a list, and said there.
    #[doc(hidden)]
    InRow,
    /// What the application says, in its own words.
    Own(Cow<'static, str>),
}

impl Fault {
    /// The message for the user.
    #[must_use]
    pub fn text(&self, messages: &Messages) -> Cow<'static, str> {
        match self {
            Self::Missing => messages.missing.into(),
            Self::Repeated => messages.repeated.into(),
            Self::TooShort { min } => (messages.too_short)(*min).into(),
            Self::TooLong { max, length } => (messages.too_long)(*max, *length).into(),
            Self::NotOneLine => messages.not_one_line.into(),
            Self::ControlCharacters => messages.control_characters.into(),
            Self::NotEmail => messages.not_email.into(),
            Self::NotUrl => messages.not_url.into(),
            Self::NotNumber => messages.not_number.into(),
            Self::NotWhole => messages.not_whole.into(),
            Self::TooSmall { min } => (messages.too_small)(min).into(),
            Self::TooLarge { max } => (messages.too_large)(max).into(),
            Self::TooPrecise { places } => (messages.too_precise)(*places).into(),
            Self::NotDate => messages.not_date.into(),
            Self::NotTime => messages.not_time.into(),
            Self::NotDateTime => messages.not_date_time.into(),
            Self::NotChoice => messages.not_choice.into(),
            Self::FileTooLarge { limit } => (messages.file_too_large)(*limit).into(),
            Self::FileKind { accept } => (messages.file_kind)(accept).into(),
            Self::Expected(expected) => (messages.expected)(expected).into(),
            Self::Expired => messages.expired.into(),
            Self::NoCookie => messages.no_cookie.into(),
            Self::Spent => messages.spent.into(),
            Self::InRow => Cow::Borrowed(""),
            Self::Own(text) => text.clone(),
        }
    }
}

/// In English; [`Fault::text`] knows other languages.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&Messages::ENGLISH))
    }
}

impl std::error::Error for Fault {}

/// A fault and the field it is in; the empty name stands for the form as a whole.
pub(crate) type Named = (Cow<'static, str>, Fault);

/// Why a submission is not accepted, from rules that no single type can know: fields that contradict each other, a name that
/// is taken. The user gets the form's page again, as with any other fault: status 422, messages beside the fields,
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
/// let client = skep::test::Client::new(App::new().serve::<(Stay,)>());
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
        self.fault(name, Fault::Own(message.into()));
    }

    /// This is wrong with this field.
    pub fn fault<T>(&mut self, name: Name<S, T>, fault: Fault) {
        self.named(name.text(), fault);
    }

    pub(super) fn named(&mut self, name: Cow<'static, str>, fault: Fault) {
        self.faults.push((name, fault));
    }

    /// Something is wrong with the form as a whole: the message stands at its start.
    pub fn whole(&mut self, message: impl Into<Cow<'static, str>>) {
        self.named(Cow::Borrowed(""), Fault::Own(message.into()));
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

impl Error {
    /// 422 with faults of a form: its page is shown again.
    pub(crate) fn refused(faults: Vec<Named>, messages: &Messages) -> Self {
        let told: Vec<_> = faults.iter().map(|(name, fault)| (name.clone(), fault.text(messages))).collect();
        let text = |(name, text): &(Cow<'_, str>, Cow<'_, str>)| match &**name {
            "" => text.to_string(),
            name => format!("{name}: {text}"),
        };
        let texts: Vec<String> = told.iter().map(text).collect();
        let wrong = told.into_iter().map(|(name, text)| Wrong::Field(name, text)).collect();
        Self::new(StatusCode::UNPROCESSABLE_ENTITY).with_message(texts.join(" ")).with_faults(faults, wrong)
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
    /// let client = skep::test::Client::new(App::new().serve::<(Register,)>());
    /// assert_eq!(client.post("/names", &[("name", "bee")]).status(), 422);
    /// ```
    #[must_use]
    pub fn refuse(self, message: impl Into<Cow<'static, str>>) -> Error {
        Error::refused(vec![(self.text(), Fault::Own(message.into()))], &Messages::ENGLISH)
    }
}
