//! The languages of the help-desk. Users choose one in their profile; others get what their browser prefers.

use skep::form::{Expected, InputError, Messages};
use skep::prelude::*;

use crate::texts::texts;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum Language {
    /// The one that others fall back to.
    #[param("en", label = "English")]
    English,
    /// The other one.
    #[param("de", label = "Deutsch")]
    German,
}

/// The messages of forms and error pages.
pub const GERMAN: Messages = Messages {
    language: "de",
    missing: "Bitte ausfüllen.",
    repeated: "Hier wird ein Wert erwartet, es kamen mehrere.",
    too_short: |min| format!("Das ist zu kurz: mindestens {min} Zeichen."),
    too_long: |max, length| format!("Das ist zu lang: höchstens {max} Zeichen, und dies sind {length}."),
    not_one_line: "Zeilenumbrüche und Steuerzeichen passen hier nicht.",
    control_characters: "Steuerzeichen passen hier nicht.",
    not_email: "Das ist keine E-Mail-Adresse: Sie sieht aus wie name@example.org.",
    not_url: "Das ist keine Webadresse: Sie beginnt mit https:// oder http://.",
    not_number: "Das ist keine Zahl.",
    not_whole: "Das ist keine ganze Zahl.",
    too_small: |min| format!("Das ist zu wenig: mindestens {min}."),
    too_large: |max| format!("Das ist zu viel: höchstens {max}."),
    too_precise: |places| format!("Höchstens {places} Nachkommastellen."),
    not_date: "Das ist kein Datum: Es sieht aus wie 2026-12-31.",
    not_time: "Das ist keine Uhrzeit: Sie sieht aus wie 18:30.",
    not_date_time: "Das ist kein Zeitpunkt: Er sieht aus wie 2026-12-31T18:30.",
    not_choice: "Bitte eines von denen wählen, die angeboten werden.",
    file_too_large: |limit| format!("Diese Datei ist zu groß: höchstens {} MB.", limit / 1_000_000),
    file_kind: |accept| format!("Eine Datei dieser Art passt hier nicht, aber diese: {accept}."),
    expected: |expected| format!("Das passt nicht. Erwartet wird: {expected}."),
    expired: "Dieses Formular wurde vor zu langer Zeit angezeigt. Bitte prüfen und noch einmal senden.",
    no_cookie: "Der Browser hat kein Cookie gesendet, das dieses Formular braucht.",
    spent: "Dieses Formular wurde schon gesendet. Es ist nichts ein zweites Mal geschehen.",
    conflict: "Jemand anderes hat dies inzwischen geändert, deshalb wurde nichts gespeichert. Bitte durchsehen: Noch einmal gesendet, \
        ersetzt es, was jetzt dort steht.",
    changed: |now| match now {
        "" => "Jemand anderes hat dies geändert.".to_owned(),
        _ => format!("Jemand anderes hat dies geändert in: {now}"),
    },
    time_left_out: |from, to| {
        format!("Die Uhren werden an diesem Tag vorgestellt, {from} gibt es nicht: Es ist dann schon {to}.")
    },
    time_twice: |time| {
        format!("Die Uhren werden an diesem Tag zurückgestellt, {time} gibt es zweimal: Welches Mal ist gemeint?")
    },
    error: |status| {
        let (title, explanation) = (texts("de").error)(StatusCode::from_u16(status).unwrap_or_default());
        (title.into(), explanation.into())
    },
    to_first_page: "Zur ersten Seite",
    input: |error, messages| match error {
        InputError::Missing { name, expected } => format!("{name} fehlt. Erwartet wird: {}", expected.text(messages)),
        InputError::Invalid { name, value, expected } => {
            format!("{name}: {value} passt nicht. Erwartet wird: {}", expected.text(messages))
        }
        InputError::MissingMember { name } => format!("Das Feld „{name}“ fehlt."),
        InputError::NotJson { line, column, .. } => {
            format!("Der Inhalt ist kein JSON (Zeile {line}, Spalte {column}).")
        }
        _ => "Ein Wert in dieser Anfrage passt nicht.".to_owned(),
    },
    wanted: |expected| match expected {
        Expected::Whole { min, max } => format!("eine ganze Zahl von {min} bis {max}"),
        Expected::Number => "eine Zahl".to_owned(),
        Expected::Choice(list) => list.replace(" or ", " oder "),
        other => other.text(&Messages::ENGLISH).into_owned(),
    },
};
