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

    /// What is allowed: non-blank text, the elements of categories, further elements; and all of that for a message.
    const fn allowed(self) -> (bool, &'static [Categories], &'static [&'static str], &'static str) {
        const PHRASING: &[Categories] = &[Categories::PHRASING];
        const SCRIPTS: &[Categories] = &[Categories::SCRIPT_SUPPORTING];
        match self {
            Self::Root | Self::Anything => (true, &[], &[], "anything"),
            Self::Nothing => (false, &[], &[], "nothing"),
            Self::Text => (true, &[], &[], "text"),
            Self::Code => (true, &[], &[], "code"),
            Self::Flow => (true, &[Categories::FLOW], &[], "flow content (text, paragraphs, lists, sections, ...)"),
            Self::Phrasing => {
                (true, PHRASING, &[], "phrasing content (text, and elements such as `a`, `em`, `span`, `img`)")
            }
            Self::PhrasingAndHeadings => {
                let categories = &[Categories::PHRASING, Categories::HEADING];
                (true, categories, &[], "phrasing content (text, `em`, `span`, ...) and headings")
            }
            Self::Metadata => {
                let message = "metadata (`title`, `meta`, `link`, `style`, `script`, `base`, `noscript`, `template`), \
                               and no text";
                (false, &[Categories::METADATA], &[], message)
            }
            Self::HeadNoscript => (false, &[], &["link", "meta", "style"], "`link`, `style` and `meta`"),
            Self::Document => (false, &[], &["html"], "`html`"),
            Self::PageParts => (false, &[], &["head", "body"], "a `head` and then a `body`"),
            Self::Items => (false, SCRIPTS, &["li"], "`li`"),
            Self::Terms => {
                (false, SCRIPTS, &["dt", "dd", "div"], "groups of `dt` and `dd`, or `div` around each group")
            }
            Self::TermGroup => (false, SCRIPTS, &["dt", "dd"], "`dt` and then `dd`"),
            Self::TableParts => {
                let parts = &["caption", "colgroup", "thead", "tbody", "tr", "tfoot"];
                let order = "`caption`, `colgroup`, `thead`, `tbody` or `tr`, and `tfoot`, in this order";
                (false, SCRIPTS, parts, order)
            }
            Self::Rows => (false, SCRIPTS, &["tr"], "`tr`"),
            Self::Cells => (false, SCRIPTS, &["td", "th"], "`td` and `th`"),
            Self::Columns => (false, &[], &["col", "template"], "`col`"),
            Self::Options => {
                let elements = &["option", "optgroup", "hr", "noscript", "div"];
                (false, SCRIPTS, elements, "`option`, `optgroup` and `hr`")
            }
            Self::OptionContent => {
                (true, PHRASING, &["div"], "phrasing content (text, `em`, `span`, `img`, ...) and `div`")
            }
            Self::Suggestions => (true, PHRASING, &["option"], "`option`, or phrasing content"),
            Self::Picture => (false, SCRIPTS, &["source", "img"], "`source` elements and then one `img`"),
            Self::Sources => (false, &[], &["source", "track"], "`source` and `track`"),
            Self::HeadingGroup => {
                let elements = &["p", "h1", "h2", "h3", "h4", "h5", "h6"];
                (false, SCRIPTS, elements, "one heading (`h1` to `h6`), with `p` before and after it")
            }
            Self::Ruby => (true, PHRASING, &["rt", "rp"], "phrasing content, `rt` and `rp`"),
            Self::Foreign => (true, &[Categories::FOREIGN], &[], "elements of SVG or MathML"),
        }
    }

    /// Is non-blank text allowed?
    pub(crate) const fn takes_text(self) -> bool {
        self.allowed().0
    }

    /// What is allowed, for a message.
    pub(crate) const fn allows(self) -> &'static str {
        self.allowed().3
    }

    /// Is an element of this name and these categories allowed?
    pub(crate) fn takes(self, name: &str, categories: Categories) -> bool {
        let (_, allowed, elements, _) = self.allowed();
        matches!(self, Self::Root | Self::Anything)
            || self == Self::Foreign && foreign::is_foreign(name)
            || allowed.iter().any(|category| categories.contains(*category))
            || elements.contains(&name)
    }

    /// The models that allow the element.
    pub(crate) fn that_take(name: &str, categories: Categories) -> Vec<Self> {
        let also = [Self::Phrasing, Self::PhrasingAndHeadings, Self::TermGroup, Self::HeadingGroup];
        Self::KINDS.iter().copied().chain(also).filter(|model| model.takes(name, categories)).collect()
    }

    /// Is this element allowed, whatever its attributes?
    pub(crate) fn accepts(self, rules: &Rules) -> bool {
        self.takes(rules.name, rules.categories)
    }
}
