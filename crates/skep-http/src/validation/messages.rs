//! The messages of forms and error pages, in the user's language.

use std::borrow::Cow;

use http::StatusCode;

use super::{Expected, InputError};

/// The messages of forms and error pages in one language. All fields must be given, so a translation that lacks one
/// does not compile. `App::languages` takes them.
///
/// ```
/// use skep::form::Messages;
///
/// const ENGLISH_FOR_BEES: Messages = Messages { missing: "Bzz: something must be in here.", ..Messages::ENGLISH };
/// assert_eq!(ENGLISH_FOR_BEES.language, "en");
/// ```
#[derive(Clone, Copy)]
pub struct Messages {
    /// The language as HTML's `lang` and `Accept-Language` name it: `en`, `pt-BR`.
    pub language: &'static str,
    /// A required field is empty.
    pub missing: &'static str,
    /// One value is expected, and several came.
    pub repeated: &'static str,
    /// The text is shorter than this many characters.
    pub too_short: fn(min: usize) -> String,
    /// The text is longer than `max` characters; it has `length`.
    pub too_long: fn(max: usize, length: usize) -> String,
    /// Line breaks and control characters do not fit here.
    pub not_one_line: &'static str,
    /// Control characters do not fit here.
    pub control_characters: &'static str,
    /// Not an e-mail address.
    pub not_email: &'static str,
    /// Not an address of the web.
    pub not_url: &'static str,
    /// Not a number.
    pub not_number: &'static str,
    /// Not a whole number.
    pub not_whole: &'static str,
    /// Less than this number or date.
    pub too_small: fn(min: &str) -> String,
    /// More than this number or date.
    pub too_large: fn(max: &str) -> String,
    /// More digits behind the point than these.
    pub too_precise: fn(places: u32) -> String,
    /// Not a date.
    pub not_date: &'static str,
    /// Not a time of day.
    pub not_time: &'static str,
    /// Not a date with a time.
    pub not_date_time: &'static str,
    /// None of the choices.
    pub not_choice: &'static str,
    /// The file has more than this many bytes.
    pub file_too_large: fn(limit: u64) -> String,
    /// The file is not of these kinds, as in the attribute `accept`.
    pub file_kind: fn(accept: &str) -> String,
    /// Not what a type of the application expects; it says what: "a whole number from 0 to 255".
    pub expected: fn(expected: &str) -> String,
    /// A form that is accepted once was shown too long ago, or its token is not ours: it is to be sent again.
    pub expired: &'static str,
    /// The browser kept no cookie, without which a form that is accepted once cannot be sent.
    pub no_cookie: &'static str,
    /// A form that is accepted once was sent a second time.
    pub spent: &'static str,
    /// What was edited was changed by somebody else meanwhile; the fields that differ say what they are now.
    pub conflict: &'static str,
    /// Somebody else gave the field this value meanwhile; it is empty where it has no text, such as that of a checkbox.
    pub changed: fn(now: &str) -> String,
    /// The clocks go forward and leave out this time, `from`: it is `to` by then. Both say the day where it differs.
    pub time_left_out: fn(from: &str, to: &str) -> String,
    /// The clocks go back and show this time twice.
    pub time_twice: fn(time: &str) -> String,
    /// The title of the page of an error with this status, and what there is to say if nothing else is.
    pub error: fn(status: u16) -> (Cow<'static, str>, Cow<'static, str>),
    /// What is wrong with a parameter or a JSON body.
    pub input: fn(error: &InputError, messages: &Self) -> String,
    /// What a parameter would have been, as it stands in a sentence.
    pub wanted: fn(expected: &Expected) -> String,
    /// The link from an error page to the first page of the site.
    pub to_first_page: &'static str,
}

impl Messages {
    /// English, which is what an application speaks that says nothing about languages.
    pub const ENGLISH: Self = Self {
        language: "en",
        missing: "Please fill this in.",
        repeated: "One value is expected here, and several came.",
        too_short: |min| format!("That is too short: at least {}.", characters(min)),
        too_long: |max, length| format!("That is too long: {} at most, and these are {length}.", characters(max)),
        not_one_line: "Line breaks and control characters do not fit in here.",
        control_characters: "Control characters do not fit in here.",
        not_email: "That is not an e-mail address: it looks like name@example.org.",
        not_url: "That is not an address of the web: it begins with https:// or http://.",
        not_number: "That is not a number.",
        not_whole: "That is not a whole number.",
        too_small: |min| format!("That is too little: {min} is the least."),
        too_large: |max| format!("That is too much: {max} is the most."),
        too_precise: |places| match places {
            0 => "No digits behind the point fit in here.".to_owned(),
            1 => "At most one digit behind the point fits in here.".to_owned(),
            _ => format!("At most {places} digits behind the point fit in here."),
        },
        not_date: "That is not a date: it looks like 2026-12-31.",
        not_time: "That is not a time of day: it looks like 18:30.",
        not_date_time: "That is not a date with a time: it looks like 2026-12-31T18:30.",
        not_choice: "Please choose one of those offered.",
        file_too_large: |limit| format!("That file is too large: {} at most.", bytes(limit)),
        file_kind: |accept| format!("A file of this kind does not fit here, but these do: {accept}."),
        expected: |expected| format!("This does not fit: {expected} is expected."),
        expired: "This form was shown too long ago. Please look it through and send it again.",
        no_cookie: "Your browser sent no cookie of this site, which this form needs. Please allow it, and send this again.",
        spent: "This form was sent before, and is accepted once only. Nothing was done a second time.",
        conflict: "Somebody else changed this while you were editing it, so nothing was saved. Please look it through: sending it again \
            replaces what is there now.",
        changed: |now| match now {
            "" => "Somebody else changed this.".to_owned(),
            _ => format!("Somebody else changed this to: {now}"),
        },
        time_left_out: |from, to| {
            format!("The clocks go forward that day, and {from} does not come: it is {to} by then.")
        },
        time_twice: |time| format!("The clocks go back that day, and {time} comes twice: which time do you mean?"),
        error: |status| (title(status).into(), explanation(status).into()),
        input: InputError::english,
        wanted: super::input::wanted,
        to_first_page: "To the first page",
    };
}

fn title(status: u16) -> &'static str {
    StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error")
}

fn explanation(status: u16) -> &'static str {
    match status {
        400 => "The request could not be understood.",
        401 => "You need to sign in to see this.",
        403 => "You may not see this.",
        404 => "There is no page at this address.",
        405 => "This page does not answer such requests.",
        408 => "The request took too long to arrive.",
        413 => "What was sent is too large.",
        414 => "The address is too long.",
        429 => "There were too many requests. Please try again in a moment.",
        431 => "The header of the request is too large.",
        503 => "The server is busy. Please try again in a moment.",
        500..=599 => "Something went wrong on our side. It has been noted.",
        _ => "The request could not be answered.",
    }
}

fn characters(count: usize) -> String {
    if count == 1 { "one character".to_owned() } else { format!("{count} characters") }
}

fn bytes(count: u64) -> String {
    match count {
        1 => "one byte".to_owned(),
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} kB", count / 1000),
        10_000_000..10_000_000_000 => format!("{} MB", count / 1_000_000),
        _ => format!("{} GB", count / 1_000_000_000),
    }
}

skep_units::opaque_debug!(Messages, language: language);
