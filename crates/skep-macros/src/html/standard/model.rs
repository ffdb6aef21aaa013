//! Content models: what may stand directly in an element.
//!
//! A model is what a parent asks of its children, and, for a piece of HTML, what all of its roots fit in. What is
//! asked of order and number, [`check`](super::super::check) knows.

use super::{Categories, Rules, foreign};

/// What may stand at a place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Model {
    /// Whatever the piece of HTML is that this is the top of (`piece!` learns it from its type).
    Root,
    /// Anything: in a `template`, which is no part of the page yet, and where nothing is known.
    Anything,
    /// No child and no text.
    Nothing,
    /// Text alone: a browser would see tags here as text, or the standard forbids elements.
    Text,
    /// Text that is code: in `script` and `style`.
    Code,
    Flow,
    Phrasing,
    /// Phrasing content and headings: `legend`, `summary`.
    PhrasingAndHeadings,
    /// In `head`.
    Metadata,
    /// In `noscript` in `head`.
    HeadNoscript,
    /// A page: `html`.
    Document,
    /// In `html`: `head` and `body`.
    PageParts,
    /// In `ul`, `ol`, `menu`.
    Items,
    /// In `dl`.
    Terms,
    /// In `div` in `dl`.
    TermGroup,
    /// In `table`.
    TableParts,
    /// In `thead`, `tbody`, `tfoot`.
    Rows,
    /// In `tr`.
    Cells,
    /// In `colgroup`.
    Columns,
    /// In `select`, `optgroup`, and in `div` and `noscript` in these.
    Options,
    /// In `option`: phrasing content and `div`.
    OptionContent,
    /// In `datalist`: phrasing content, or options.
    Suggestions,
    /// In `picture`.
    Picture,
    /// `source` and `track`, which `audio` and `video` begin with. No element holds only these: a piece may.
    Sources,
    /// In `hgroup`.
    HeadingGroup,
    /// In `ruby`.
    Ruby,
    /// In SVG and `MathML`, whose content is not checked.
    Foreign,
}

/// A set of models.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Models(u32);

impl Models {
    pub(crate) const ALL: Self = Self(u32::MAX);

    pub(crate) const fn with(self, model: Model) -> Self {
        Self(self.0 | 1 << model as u32)
    }

    pub(crate) const fn has(self, model: Model) -> bool {
        self.0 & 1 << model as u32 != 0
    }

    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Model {
    /// What the roots of a piece of HTML can make it, the most usual first: the first that all of them fit is its kind.
    pub(crate) const KINDS: &[Self] = &[
        Self::Flow,
        Self::Metadata,
        Self::Document,
        Self::PageParts,
        Self::Items,
        Self::Terms,
        Self::Rows,
        Self::Cells,
        Self::TableParts,
        Self::Columns,
        Self::Options,
        Self::Sources,
        Self::Picture,
        Self::Ruby,
        Self::Foreign,
    ];

    /// Is text other than white space allowed?
    pub(crate) const fn takes_text(self) -> bool {
        matches!(
            self,
            Self::Root
                | Self::Anything
                | Self::Text
                | Self::Code
                | Self::Flow
                | Self::Phrasing
                | Self::PhrasingAndHeadings
                | Self::OptionContent
                | Self::Suggestions
                | Self::Ruby
                | Self::Foreign
        )
    }

    /// The categories of which any element may stand here.
    const fn categories(self) -> &'static [Categories] {
        match self {
            Self::Flow => &[Categories::FLOW],
            Self::Phrasing | Self::OptionContent | Self::Suggestions | Self::Ruby => &[Categories::PHRASING],
            Self::PhrasingAndHeadings => &[Categories::PHRASING, Categories::HEADING],
            Self::Metadata => &[Categories::METADATA],
            Self::Items
            | Self::Terms
            | Self::TermGroup
            | Self::TableParts
            | Self::Rows
            | Self::Cells
            | Self::Options
            | Self::Picture
            | Self::HeadingGroup => &[Categories::SCRIPT_SUPPORTING],
            Self::Foreign => &[Categories::FOREIGN],
            _ => &[],
        }
    }

    /// The elements that may stand here besides.
    const fn elements(self) -> &'static [&'static str] {
        match self {
            Self::HeadNoscript => &["link", "meta", "style"],
            Self::Document => &["html"],
            Self::PageParts => &["head", "body"],
            Self::Items => &["li"],
            Self::Terms => &["dt", "dd", "div"],
            Self::TermGroup => &["dt", "dd"],
            Self::TableParts => &["caption", "colgroup", "thead", "tbody", "tr", "tfoot"],
            Self::Rows => &["tr"],
            Self::Cells => &["td", "th"],
            Self::Columns => &["col", "template"],
            Self::Options => &["option", "optgroup", "hr", "noscript", "div"],
            Self::OptionContent => &["div"],
            Self::Suggestions => &["option"],
            Self::Picture => &["source", "img"],
            Self::Sources => &["source", "track"],
            Self::HeadingGroup => &["p", "h1", "h2", "h3", "h4", "h5", "h6"],
            Self::Ruby => &["rt", "rp"],
            _ => &[],
        }
    }

    /// May an element of this name and these categories stand here?
    pub(crate) fn takes(self, name: &str, categories: Categories) -> bool {
        matches!(self, Self::Root | Self::Anything)
            || self == Self::Foreign && foreign::is_foreign(name)
            || self.categories().iter().any(|category| categories.has(*category))
            || self.elements().contains(&name)
    }

    /// Every kind of piece that the element could be a root of.
    pub(crate) fn that_take(name: &str, categories: Categories) -> Models {
        let also = [Self::Phrasing, Self::PhrasingAndHeadings, Self::TermGroup, Self::HeadingGroup];
        let all = Self::KINDS.iter().copied().chain(also);
        all.filter(|model| model.takes(name, categories)).fold(Models::default(), Models::with)
    }

    /// What may stand here, for a message.
    pub(crate) const fn allows(self) -> &'static str {
        match self {
            Self::Root | Self::Anything => "anything",
            Self::Nothing => "nothing",
            Self::Text => "text",
            Self::Code => "code",
            Self::Flow => "flow content (text, paragraphs, lists, sections, ...)",
            Self::Phrasing => "phrasing content (text, and elements such as `a`, `em`, `span`, `img`)",
            Self::PhrasingAndHeadings => "phrasing content (text, `em`, `span`, ...) and headings",
            Self::Metadata => {
                "metadata (`title`, `meta`, `link`, `style`, `script`, `base`, `noscript`, `template`), and no text"
            }
            Self::HeadNoscript => "`link`, `style` and `meta`",
            Self::Document => "`html`",
            Self::PageParts => "a `head` and then a `body`",
            Self::Items => "`li`",
            Self::Terms => "groups of `dt` and `dd`, or `div` around each group",
            Self::TermGroup => "`dt` and then `dd`",
            Self::TableParts => "`caption`, `colgroup`, `thead`, `tbody` or `tr`, and `tfoot`, in this order",
            Self::Rows => "`tr`",
            Self::Cells => "`td` and `th`",
            Self::Columns => "`col`",
            Self::Options => "`option`, `optgroup` and `hr`",
            Self::OptionContent => "phrasing content (text, `em`, `span`, `img`, ...) and `div`",
            Self::Suggestions => "`option`, or phrasing content",
            Self::Picture => "`source` elements and then one `img`",
            Self::Sources => "`source` and `track`",
            Self::HeadingGroup => "one heading (`h1` to `h6`), and `p` before and behind it",
            Self::Ruby => "phrasing content, `rt` and `rp`",
            Self::Foreign => "elements of SVG or MathML",
        }
    }

    /// May this element stand here, whatever its attributes?
    pub(crate) fn accepts(self, rules: &Rules) -> bool {
        self.takes(rules.name, rules.categories)
    }
}
