//! Content models: which children an element may have.
//!
//! A model constrains the children of an element, and the roots of a piece of HTML. Order and number of children are
//! checked in [`check`](super::super::check).

use super::{Categories, Rules, foreign};

/// A content model.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Model {
    /// The top of a template whose kind is inferred (`piece!`).
    Root,
    /// Anything: in a `template`, and where the model is unknown.
    Anything,
    /// No child and no text.
    Nothing,
    /// Text only: a browser parses no tags here, or the standard forbids elements.
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
    /// A whole page: `html`.
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
    /// `source` and `track`, the first children of `audio` and `video`. Only a piece has this model, no element.
    Sources,
    /// In `hgroup`.
    HeadingGroup,
    /// In `ruby`.
    Ruby,
    /// In SVG and `MathML`, not checked.
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

    pub(crate) const fn contains(self, model: Model) -> bool {
        self.0 & 1 << model as u32 != 0
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Model {
    /// Kinds of pieces, the most frequent first. The kind of a piece is the first that all its roots fit.
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

    /// Is non-blank text allowed?
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

    /// The categories whose elements are allowed.
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

    /// Further elements that are allowed.
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

    /// Is an element of this name and these categories allowed?
    pub(crate) fn takes(self, name: &str, categories: Categories) -> bool {
        matches!(self, Self::Root | Self::Anything)
            || self == Self::Foreign && foreign::is_foreign(name)
            || self.categories().iter().any(|category| categories.contains(*category))
            || self.elements().contains(&name)
    }

    /// The models that allow the element.
    pub(crate) fn that_take(name: &str, categories: Categories) -> Models {
        let also = [Self::Phrasing, Self::PhrasingAndHeadings, Self::TermGroup, Self::HeadingGroup];
        let all = Self::KINDS.iter().copied().chain(also);
        all.filter(|model| model.takes(name, categories)).fold(Models::default(), Models::with)
    }

    /// What is allowed, for a message.
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
            Self::HeadingGroup => "one heading (`h1` to `h6`), with `p` before and after it",
            Self::Ruby => "phrasing content, `rt` and `rp`",
            Self::Foreign => "elements of SVG or MathML",
        }
    }

    /// Is this element allowed, whatever its attributes?
    pub(crate) fn accepts(self, rules: &Rules) -> bool {
        self.takes(rules.name, rules.categories)
    }
}
