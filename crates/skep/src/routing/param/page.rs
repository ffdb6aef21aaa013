//! Where a page of a list begins, as links have it: numbers of pages, and cursors.

use std::borrow::Cow;

use super::{Expected, Param};
use crate::sql::{Cursor, CursorKey, PageNumber};

/// Neither needs an escape in a URL.
const SEPARATOR: char = '~';
const ESCAPE: char = '!';

impl Param for PageNumber {
    fn expected() -> Cow<'static, str> {
        format!("the number of a page, from 1 to {}", Self::LAST).into()
    }

    fn expectation() -> Expected {
        Expected::Whole { min: "1".to_owned(), max: Self::LAST.to_string() }
    }

    fn parse(text: &str) -> Option<Self> {
        u32::parse(text).and_then(Self::new)
    }

    fn write(&self, out: &mut String) {
        self.get().write(out);
    }
}

impl<K: CursorKey + CursorText> Param for Cursor<K> {
    fn expected() -> Cow<'static, str> {
        "a place in the list, as its links to other pages have it".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let (direction, values) = text.split_once(SEPARATOR)?;
        let values = values.split(SEPARATOR).map(plain).collect::<Option<Vec<_>>>()?;
        let key = K::of_texts(&values)?;
        match direction {
            "after" => Some(Self::After(key)),
            "before" => Some(Self::Before(key)),
            _ => None,
        }
    }

    fn write(&self, out: &mut String) {
        let (direction, key) = match self {
            Self::After(key) => ("after", key),
            Self::Before(key) => ("before", key),
        };
        out.push_str(direction);
        key.each_text(&mut |value| {
            out.push(SEPARATOR);
            out.extend(value.chars().map(escaped).flat_map(|(first, second)| std::iter::once(first).chain(second)));
        });
    }
}

fn escaped(character: char) -> (char, Option<char>) {
    match character {
        SEPARATOR => (ESCAPE, Some('s')),
        ESCAPE => (ESCAPE, Some('e')),
        other => (other, None),
    }
}

fn plain(text: &str) -> Option<String> {
    let (mut plain, mut characters) = (String::with_capacity(text.len()), text.chars());
    while let Some(character) = characters.next() {
        plain.push(match character {
            ESCAPE => match characters.next()? {
                's' => SEPARATOR,
                'e' => ESCAPE,
                _ => return None,
            },
            other => other,
        });
    }
    Some(plain)
}

/// A [`CursorKey`] that a link can have: a [`Param`], or a tuple of up to four.
#[doc(hidden)]
pub trait CursorText: Sized {
    fn of_texts(values: &[String]) -> Option<Self>;

    fn each_text(&self, value: &mut dyn FnMut(&str));
}

fn write_value(param: &impl Param, value: &mut dyn FnMut(&str)) {
    let mut text = String::new();
    param.write(&mut text);
    value(&text);
}

impl<T: Param> CursorText for T {
    fn of_texts(values: &[String]) -> Option<Self> {
        let [value] = values else { return None };
        T::parse(value)
    }

    fn each_text(&self, value: &mut dyn FnMut(&str)) {
        write_value(self, value);
    }
}

macro_rules! tuples {
    ($($($name:ident $text:ident),+;)+) => {$(
        impl<$($name: Param),+> CursorText for ($($name,)+) {
            fn of_texts(values: &[String]) -> Option<Self> {
                let [$($text),+] = values else { return None };
                Some(($($name::parse($text)?,)+))
            }

            fn each_text(&self, value: &mut dyn FnMut(&str)) {
                let ($($text,)+) = self;
                $(write_value($text, value);)+
            }
        }
    )+};
}

tuples! {
    A a, B b;
    A a, B b, C c;
    A a, B b, C c, D d;
}

#[cfg(test)]
#[path = "../../../tests/unit/param_page.rs"]
mod tests;
