//! The rules of HTML as data: the elements, their content models and attributes.
//!
//! Source: the HTML Living Standard of WHATWG as of 16 September 2026; the sections named in the table are its
//! sections. ARIA is WAI-ARIA 1.3. This module only states the rules; [`check`](super::check) applies them.
//!
//! Start reading at [`Rules`]; the table itself is in [`elements`].

pub(crate) mod aria;
pub(crate) mod attributes;
pub(crate) mod elements;
pub(crate) mod foreign;
pub(crate) mod input;
pub(crate) mod model;
pub(crate) mod obsolete;

pub(crate) use model::Model;

/// The rules of one element.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) name: &'static str,
    /// Section of the standard.
    #[expect(dead_code, reason = "lets readers compare the table with the standard")]
    pub(crate) section: &'static str,
    /// Its categories, whatever its attributes.
    pub(crate) categories: Categories,
    /// Additional categories if [a condition](Condition) holds.
    pub(crate) conditional: &'static [(Condition, Categories)],
    pub(crate) content: Content,
    /// Descendants that it forbids.
    pub(crate) excludes: Exclusions,
    /// Its own attributes, besides the [global ones](attributes::GLOBAL).
    pub(crate) attributes: &'static [(&'static str, Type)],
    /// Attributes that it always requires.
    pub(crate) required: &'static [&'static str],
}

/// A set of content categories (3.2.5.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Categories(u16);

impl Categories {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const METADATA: Self = Self(1);
    pub(crate) const FLOW: Self = Self(1 << 1);
    /// Phrasing content is also flow content.
    pub(crate) const PHRASING: Self = Self(1 << 2 | 1 << 1);
    pub(crate) const SECTIONING: Self = Self(1 << 3);
    pub(crate) const HEADING: Self = Self(1 << 4);
    pub(crate) const EMBEDDED: Self = Self(1 << 5);
    pub(crate) const INTERACTIVE: Self = Self(1 << 6);
    pub(crate) const LABELABLE: Self = Self(1 << 7);
    /// `script` and `template`: allowed almost everywhere.
    pub(crate) const SCRIPT_SUPPORTING: Self = Self(1 << 8);
    /// Elements of SVG and `MathML`.
    pub(crate) const FOREIGN: Self = Self(1 << 9);

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A condition for additional categories.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Condition {
    /// It has one of these attributes.
    Has(&'static [&'static str]),
    /// It is an `input` and its `type` is not `hidden`.
    NotHidden,
    /// It is a `link` with `itemprop`, or with a `rel` that is allowed in the body.
    LinkInBody,
}

/// The content of an element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Content {
    /// None, and there is no end tag (13.1.2).
    Void,
    /// The elements that the model allows, and these.
    Model(Model, &'static [&'static str]),
    /// The elements that the parent allows, and these.
    Transparent(&'static [&'static str]),
}

/// A set of kinds of elements that an ancestor may forbid at any depth.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Exclusions(u32);

impl Exclusions {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ANCHOR: Self = Self(1);
    pub(crate) const LABEL: Self = Self(1 << 1);
    pub(crate) const FORM: Self = Self(1 << 2);
    /// `header` and `footer`.
    pub(crate) const HEADER: Self = Self(1 << 3);
    pub(crate) const HEADING: Self = Self(1 << 4);
    pub(crate) const SECTIONING: Self = Self(1 << 5);
    pub(crate) const ADDRESS: Self = Self(1 << 6);
    pub(crate) const MAIN: Self = Self(1 << 7);
    pub(crate) const TABLE: Self = Self(1 << 8);
    pub(crate) const DFN: Self = Self(1 << 9);
    pub(crate) const MEDIA: Self = Self(1 << 10);
    pub(crate) const NOSCRIPT: Self = Self(1 << 11);
    pub(crate) const PROGRESS: Self = Self(1 << 12);
    pub(crate) const METER: Self = Self(1 << 13);
    pub(crate) const DATALIST: Self = Self(1 << 14);
    pub(crate) const OBJECT: Self = Self(1 << 15);
    pub(crate) const INTERACTIVE: Self = Self(1 << 16);
    /// Interactive content that a `canvas` does not allow (4.12.5).
    pub(crate) const NOT_IN_CANVAS: Self = Self(1 << 17);
    /// Anything with a `tabindex`.
    pub(crate) const TABINDEX: Self = Self(1 << 18);

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Each member, in the order of their declaration: the specific ones come first.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        (0..u32::BITS).map(move |bit| self.intersection(Self(1 << bit))).filter(|one| *one != Self::NONE)
    }
}

/// The type of an attribute value. Only literal values can be checked; [`check`](super::check) says what each accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Type {
    Text,
    NotEmpty,
    /// Present or not: written without a value, or toggled.
    Boolean,
    /// One of these words, ignoring case. `""` is the empty string.
    OneOf(&'static [&'static str]),
    /// One of these words, exactly.
    Exactly(&'static [&'static str]),
    Count,
    Positive,
    /// An integer in this inclusive range.
    Between(u16, u16),
    Integer,
    Float,
    Size,
    Step,
    /// The id of this element.
    Id,
    /// The id of another element.
    IdRef,
    /// Distinct ids of other elements.
    IdRefs,
    /// Ids of other elements; WAI-ARIA allows duplicates.
    IdList,
    Tokens,
    Words,
    /// Distinct words of this list.
    TokensOf(&'static [&'static str]),
    /// Words of this list; duplicates are allowed.
    ListOf(&'static [&'static str]),
    /// A URL; the empty URL is the current page.
    Url,
    Address,
    Addresses,
    ImageSet,
    /// A date, with or without a time (2.3.5.10).
    Moment,
    /// A value of `time` (4.5.14).
    Time,
    Mime,
    /// A language tag (BCP 47).
    Language,
    LanguageOrNone,
    MapName,
    /// Keys of `accesskey`.
    Keys,
    /// The name of a browsing context, or one of its keywords.
    Target,
    /// A name for a browsing context.
    Window,
    Floats,
    FileTypes,
    /// Code of an event handler.
    Handler,
    /// The name of a custom element.
    Custom,
    /// The command of a button (4.10.6).
    Command,
    /// Words of `autocomplete` (4.10.19.7.1).
    Autofill,
    /// Hashes of a file (Subresource Integrity, 3.5).
    Integrity,
    ItemTypes,
}

impl Rules {
    /// The type of an attribute of this element; global attributes are not included.
    pub(crate) fn attribute(&self, name: &str) -> Option<Type> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// The rules of an HTML element, by its lower-case name.
pub(crate) fn element(name: &str) -> Option<&'static Rules> {
    let table = elements::ELEMENTS;
    table.binary_search_by(|rules| rules.name.cmp(name)).ok().map(|at| &table[at])
}

/// Is it an element without content and end tag?
pub(crate) fn is_void(name: &str) -> bool {
    element(name).is_some_and(|rules| rules.content == Content::Void) || obsolete::VOID.contains(&name)
}

/// An autonomous custom element (4.13.3): lower-case first letter and a hyphen.
pub(crate) fn is_custom(name: &str) -> bool {
    name.contains('-')
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !foreign::RESERVED.contains(&name)
}

#[cfg(test)]
#[path = "../tests/unit/standard.rs"]
mod tests;
