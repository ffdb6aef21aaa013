//! HTML's own rules, as data: what each element is, what it holds, which attributes it takes.
//!
//! Source: the HTML Living Standard of WHATWG as of 16 September 2026; the sections named in the table are its sections.
//! ARIA is WAI-ARIA 1.3. This module says what the standard says and judges nothing: [`check`](super::check) does.
//!
//! Start reading at [`Rules`]; the table itself is in [`elements`].

pub(crate) mod aria;
pub(crate) mod attributes;
pub(crate) mod elements;
pub(crate) mod foreign;
pub(crate) mod input;
pub(crate) mod model;
pub(crate) mod obsolete;

pub(crate) use model::{Model, Models};

/// All that is known of one element.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) name: &'static str,
    /// Of the standard.
    #[expect(dead_code, reason = "for whoever reads the table beside the standard")]
    pub(crate) section: &'static str,
    /// What it is everywhere.
    pub(crate) categories: Categories,
    /// What it is besides, if [a condition](Condition) holds.
    pub(crate) conditional: Option<(Condition, Categories)>,
    pub(crate) content: Content,
    /// What may not stand in it, at any depth.
    pub(crate) excludes: Things,
    /// Its own attributes, besides the [global ones](attributes::GLOBAL).
    pub(crate) attributes: &'static [(&'static str, Type)],
    /// Attributes that it must have whatever else it has.
    pub(crate) required: &'static [&'static str],
}

/// Categories of content (3.2.5.2), as a set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Categories(u16);

impl Categories {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const METADATA: Self = Self(1);
    pub(crate) const FLOW: Self = Self(1 << 1);
    /// Phrasing content is flow content as well.
    pub(crate) const PHRASING: Self = Self(1 << 2 | 1 << 1);
    pub(crate) const SECTIONING: Self = Self(1 << 3);
    pub(crate) const HEADING: Self = Self(1 << 4);
    pub(crate) const EMBEDDED: Self = Self(1 << 5);
    pub(crate) const INTERACTIVE: Self = Self(1 << 6);
    pub(crate) const LABELABLE: Self = Self(1 << 7);
    /// `script` and `template`: they stand nearly everywhere.
    pub(crate) const SCRIPT_SUPPORTING: Self = Self(1 << 8);
    /// Elements of SVG and `MathML`, which are foreign to HTML.
    pub(crate) const FOREIGN: Self = Self(1 << 9);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// When an element is more than its name says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Condition {
    /// It has one of these attributes.
    Has(&'static [&'static str]),
    /// It is an `input` and its `type` is not `hidden`.
    NotHidden,
    /// It is a `link` with `itemprop`, or with a `rel` that may stand in the body.
    LinkInBody,
}

/// What an element's tags may have between them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Content {
    /// Nothing, and there is no end tag (13.1.2).
    Void,
    /// What the model allows, and beside it these elements.
    Model(Model, &'static [&'static str]),
    /// What the parent allows, and beside it these elements.
    Transparent(&'static [&'static str]),
}

/// What some ancestor may forbid at any depth, as a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Things(u32);

impl Things {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ANCHOR: Self = Self(1);
    pub(crate) const INTERACTIVE: Self = Self(1 << 1);
    /// Anything with a `tabindex`.
    pub(crate) const TABINDEX: Self = Self(1 << 2);
    pub(crate) const LABEL: Self = Self(1 << 3);
    pub(crate) const FORM: Self = Self(1 << 4);
    /// `header` and `footer`.
    pub(crate) const HEADER: Self = Self(1 << 5);
    pub(crate) const HEADING: Self = Self(1 << 6);
    pub(crate) const SECTIONING: Self = Self(1 << 7);
    pub(crate) const ADDRESS: Self = Self(1 << 8);
    pub(crate) const MAIN: Self = Self(1 << 9);
    pub(crate) const TABLE: Self = Self(1 << 10);
    pub(crate) const DFN: Self = Self(1 << 11);
    pub(crate) const MEDIA: Self = Self(1 << 12);
    pub(crate) const NOSCRIPT: Self = Self(1 << 13);
    pub(crate) const PROGRESS: Self = Self(1 << 14);
    pub(crate) const METER: Self = Self(1 << 15);
    pub(crate) const DATALIST: Self = Self(1 << 16);
    pub(crate) const OBJECT: Self = Self(1 << 17);
    /// Interactive content other than what a `canvas` may hold (4.12.5).
    pub(crate) const NOT_IN_CANVAS: Self = Self(1 << 18);

    /// Each thing, and how a message calls it.
    pub(crate) const NAMES: &[(Self, &str)] = &[
        (Self::ANCHOR, "an `a`"),
        (Self::LABEL, "a `label`"),
        (Self::FORM, "a `form`"),
        (Self::HEADER, "a `header` or `footer`"),
        (Self::HEADING, "a heading"),
        (Self::SECTIONING, "an `article`, `aside`, `nav` or `section`"),
        (Self::ADDRESS, "an `address`"),
        (Self::MAIN, "a `main`"),
        (Self::TABLE, "a `table`"),
        (Self::DFN, "a `dfn`"),
        (Self::MEDIA, "an `audio` or `video`"),
        (Self::NOSCRIPT, "a `noscript`"),
        (Self::PROGRESS, "a `progress`"),
        (Self::METER, "a `meter`"),
        (Self::DATALIST, "a `datalist`"),
        (Self::OBJECT, "an `object`"),
        (Self::INTERACTIVE, "interactive content"),
        (Self::NOT_IN_CANVAS, "this interactive content"),
        (Self::TABINDEX, "anything with `tabindex`"),
    ];

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One by one, in the order of [`Things::NAMES`].
    pub(crate) fn each(self) -> impl Iterator<Item = (Self, &'static str)> {
        Self::NAMES.iter().copied().filter(move |(thing, _)| !self.common(*thing).is_empty())
    }
}

/// What an attribute's value must look like. Only literal values can be judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Type {
    /// Anything.
    Text,
    /// At least one character.
    NotEmpty,
    /// Present or not: written without a value, or toggled.
    Boolean,
    /// One of these words, in small or capital letters. `""` is the empty string.
    OneOf(&'static [&'static str]),
    /// One of these words, exactly.
    Exactly(&'static [&'static str]),
    /// An integer that is not negative.
    Count,
    /// An integer greater than zero.
    Positive,
    /// An integer from this to that.
    Between(u16, u16),
    Integer,
    Float,
    /// A number greater than zero.
    Size,
    /// A number greater than zero, or `any`.
    Step,
    /// An id that it gives to this element.
    Id,
    /// The id of another element.
    IdRef,
    /// Different ids of other elements, between spaces.
    IdRefs,
    /// Ids of other elements, between spaces: to WAI-ARIA one may stand there twice.
    IdList,
    /// Different words between spaces.
    Tokens,
    /// At least one word.
    Words,
    /// Different words of these between spaces.
    TokensOf(&'static [&'static str]),
    /// Words of these between spaces: one may stand there twice.
    ListOf(&'static [&'static str]),
    /// May be empty: then it is this page.
    Url,
    /// A URL that is not empty.
    Address,
    /// URLs between spaces.
    Addresses,
    /// URLs with sizes, between commas.
    ImageSet,
    /// A date, with or without a time (2.3.5.10).
    Moment,
    /// Anything `time` can say: month, date, time, zone, week, year, duration.
    Time,
    Mime,
    /// A language tag (BCP 47).
    Language,
    /// A language tag, or empty.
    LanguageOrNone,
    /// `#` and the name of a `map`.
    MapName,
    /// Different single characters between spaces.
    Keys,
    /// The name of a window, or `_blank`, `_self`, `_parent`, `_top`.
    Target,
    /// A name for a window, which does not begin with `_`.
    Window,
    /// Numbers between commas.
    Floats,
    /// MIME types, `audio/*` and the like, `.ending`: between commas.
    FileTypes,
    /// Code that an event runs.
    Handler,
    /// The name of a custom element.
    Custom,
    /// What a button does, or a name of one's own that begins with `--` (4.10.6).
    Command,
    /// `on`, `off`, or what a browser may fill in (4.10.19.7.1).
    Autofill,
    /// Hashes of a file between spaces (Subresource Integrity, 3.5).
    Integrity,
    /// Absolute URLs between spaces, at least one.
    ItemTypes,
}

impl Rules {
    const fn new(name: &'static str, section: &'static str, categories: Categories, content: Content) -> Self {
        let (conditional, excludes) = (None, Things::NONE);
        Self { name, section, categories, conditional, content, excludes, attributes: &[], required: &[] }
    }

    const fn when(mut self, condition: Condition, categories: Categories) -> Self {
        self.conditional = Some((condition, categories));
        self
    }

    const fn excluding(mut self, things: Things) -> Self {
        self.excludes = things;
        self
    }

    const fn with(mut self, attributes: &'static [(&'static str, Type)]) -> Self {
        self.attributes = attributes;
        self
    }

    const fn requiring(mut self, attributes: &'static [&'static str]) -> Self {
        self.required = attributes;
        self
    }

    pub(crate) fn is_void(&self) -> bool {
        self.content == Content::Void
    }

    /// The type of an attribute that belongs to this element alone.
    pub(crate) fn attribute(&self, name: &str) -> Option<Type> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// An element of HTML. Its name has small letters.
pub(crate) fn element(name: &str) -> Option<&'static Rules> {
    let table = elements::ELEMENTS;
    table.binary_search_by(|rules| rules.name.cmp(name)).ok().map(|at| &table[at])
}

/// Does the element have neither content nor an end tag?
pub(crate) fn is_void(name: &str) -> bool {
    element(name).is_some_and(Rules::is_void) || obsolete::VOID.contains(&name)
}

/// An autonomous custom element (4.13.3): a hyphen in its name, which begins with a small letter.
pub(crate) fn is_custom(name: &str) -> bool {
    name.contains('-') && name.starts_with(|first: char| first.is_ascii_lowercase()) && !foreign::is_reserved(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_sorted_and_has_no_name_twice() {
        let elements: Vec<&str> = elements::ELEMENTS.iter().map(|rules| rules.name).collect();
        let global: Vec<&str> = attributes::GLOBAL.iter().map(|(name, _)| *name).collect();
        let aria: Vec<&str> = aria::ATTRIBUTES.iter().map(|(name, _)| *name).collect();
        for names in
            [elements.as_slice(), &global, &aria, attributes::HANDLERS, aria::ROLES, foreign::SVG, foreign::MATHML]
        {
            assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
        }
    }

    #[test]
    fn every_element_is_known_by_its_name_and_has_what_it_requires() {
        for rules in elements::ELEMENTS {
            assert_eq!(element(rules.name).map(|found| found.name), Some(rules.name));
            for required in rules.required {
                assert!(rules.attribute(required).is_some(), "{} {required}", rules.name);
            }
        }
        assert_eq!(elements::ELEMENTS.len(), 115);
    }
}
