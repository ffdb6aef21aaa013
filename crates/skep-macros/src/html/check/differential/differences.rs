//! The differences between the two checkers, with reasons.
//!
//! A difference that explains no tree fails the test. docs/reference/html.md summarises them.

/// The checker that rejects what the other accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Refused {
    /// Our checker.
    ByUs,
    /// The Nu Html Checker.
    ByThem,
}

#[derive(Debug)]
pub(super) struct Difference {
    pub(super) refused: Refused,
    /// Parts of the message.
    pub(super) message: &'static [&'static str],
    /// Part of the tree as text that is also required.
    pub(super) tree: &'static str,
    pub(super) reason: &'static str,
}

impl Difference {
    /// Does it explain the message about the tree?
    pub(super) fn explains(&self, refused: Refused, message: &str, tree: &str) -> bool {
        self.refused == refused && tree.contains(self.tree) && self.message.iter().all(|part| message.contains(part))
    }
}

const fn ours(message: &'static [&'static str], reason: &'static str) -> Difference {
    Difference { refused: Refused::ByUs, message, tree: "", reason }
}

const fn theirs(message: &'static [&'static str], reason: &'static str) -> Difference {
    Difference { refused: Refused::ByThem, message, tree: "", reason }
}

const ARIA: &str = "ARIA in HTML says which element has which role and states; we check their names and values only";
const FOREIGN: &str = "we know the elements of SVG and MathML, and check neither their content nor their attributes";
const TABLE_MODEL: &str = "the extent of cells (4.9.12) depends on data that a template does not have";
const CSS: &str = "we do not parse CSS";
const JSON: &str = "we do not parse the content of scripts";
const ELSEWHERE: &str = "other specifications define it (CSS Shadow Parts, UI Events, CSS Transitions and Animations, Fullscreen, \
                         Remote Playback, Picture-in-Picture, File and Directory Entries, Storage Access) and browsers support it";
const RDFA: &str =
    "RDFa adds it to every element; the HTML standard does not, and of RDFa we support `property` on `meta`";
const LAG: &str = "the standard forbids it, and they do not check it";
const TEMPLATE: &str = "they do not check the content of a `template`; the standard does (4.12.3)";
const PARSER: &str = "in a `template` a browser infers the context from the first tag and drops what does not fit: we do not check the \
                      content of a `template` as one text";

pub(super) const DIFFERENCES: &[Difference] = &[
    theirs(&["\"aria-"], ARIA),
    theirs(&["\"role\""], ARIA),
    theirs(&["\"role="], ARIA),
    theirs(&["attribute \"role\""], ARIA),
    theirs(&["on element \"svg\""], FOREIGN),
    theirs(&["on element \"math\""], FOREIGN),
    theirs(&["not allowed as child of element \"svg\""], FOREIGN),
    theirs(&["not allowed as child of element \"math\""], FOREIGN),
    theirs(&["completely-unknown element"], FOREIGN),
    theirs(&["Text not allowed in element \"svg\""], FOREIGN),
    theirs(&["Text not allowed in element \"math\""], FOREIGN),
    theirs(&["Element \"mfrac\" is missing a required instance"], FOREIGN),
    Difference { tree: "<svg", ..theirs(&["Attribute \"blocking\" not allowed on element \"style\""], FOREIGN) },
    theirs(&["Table column"], TABLE_MODEL),
    theirs(&["row group established by"], TABLE_MODEL),
    theirs(&["The \"headers\" attribute", "in the same table"], "we look for the `th` on the page, not in the table"),
    theirs(
        &["the element is not a property of any item"],
        "the item may be around the function that makes this, or name it by `itemref`",
    ),
    theirs(&["CSS:"], CSS),
    theirs(&["attribute \"media\"", "Parse Error"], CSS),
    theirs(&["must have valid JSON content"], JSON),
    theirs(&["Attribute \"exportparts\" not allowed"], ELSEWHERE),
    theirs(&["Attribute \"part\" not allowed"], ELSEWHERE),
    theirs(&["Attribute \"on"], ELSEWHERE),
    theirs(&["Attribute \"controlslist\" not allowed"], ELSEWHERE),
    theirs(&["Attribute \"disableremoteplayback\" not allowed"], ELSEWHERE),
    theirs(&["Attribute \"disablepictureinpicture\" not allowed"], ELSEWHERE),
    theirs(&["Attribute \"webkitdirectory\" not allowed"], ELSEWHERE),
    theirs(&["attribute \"sandbox\"", "is not a valid keyword"], ELSEWHERE),
    theirs(&["Attribute \"href\" not allowed on element \"embed\""], "`embed` takes any attribute (4.8.6)"),
    theirs(
        &["The element \"a\" must not appear as a descendant of the \"button\" element"],
        "an `a` without `href` is not interactive content (4.5.1), and a `button` forbids no other",
    ),
    theirs(
        &["The element \"dialog\" must not appear as a descendant of the \"a\""],
        "a `dialog` is not interactive content (4.11.4)",
    ),
    theirs(&["\"SYNC\" for attribute \"decoding\""], "keywords may have capital letters (2.3.3)"),
    theirs(&["Bad value \"\" for attribute \"blocking\""], "a set of words may be empty (2.3.7)"),
    theirs(&["Bad value \"\"", "An IDREFS value must contain"], "a set of words may be empty (2.3.7)"),
    theirs(
        &["attribute \"step\"", "Expected a digit but saw \".\""],
        "a step of days or weeks may be a fraction (4.10.5.3.8)",
    ),
    theirs(&["\"button\" must have non-empty attribute \"value\""], "the words on a button may be none (4.10.5.1.21)"),
    theirs(&["Start tag \"rp\" seen without a \"ruby\""], PARSER),
    theirs(&["Start tag \"rt\" seen without a \"ruby\""], PARSER),
    Difference { tree: "<template", ..theirs(&["Stray "], PARSER) },
    Difference { tree: "<template", ..theirs(&["seen in \"table\""], PARSER) },
    Difference { tree: "<template", ..ours(&[" is obsolete: "], TEMPLATE) },
    Difference { tree: "<template", ..ours(&["HTML has no element"], TEMPLATE) },
    ours(
        &["contains text only"],
        "a tag in it is text in HTML, so what they see has no such element (`script`, `style`, `title`, `textarea`)",
    ),
    ours(&["belongs in the `button` at the start of a `select`"], LAG),
    ours(&["has no attribute `property`"], RDFA),
    ours(&["has no attribute `content`"], RDFA),
    ours(&["has no attribute `rel`"], RDFA),
    ours(&["HTML has no attribute `rev`"], RDFA),
    ours(&["`rev` on `link` is obsolete"], RDFA),
    ours(&["nothing with `tabindex` is allowed there"], LAG),
    ours(&["is not allowed in `canvas`: of interactive content"], LAG),
    ours(&["is not allowed in `option`: no interactive content"], LAG),
    ours(&["is not allowed in `option`, at any depth"], LAG),
    ours(
        &["`style` is not allowed in"],
        "they take a `style` that is the first in its parent, which the standard does not",
    ),
    ours(&["`aside` is not allowed in"], LAG),
    ours(&["`audio` is not allowed in"], LAG),
    ours(
        &["`img` is not allowed in"],
        "they do not know that an `img` with `controls` is interactive content (3.2.5.2.7)",
    ),
    ours(&["`video` is not allowed in"], LAG),
    ours(&["is obsolete:"], "they warn, or do not know that it was HTML's"),
    ours(&["has no attribute `size`: it belongs to the types"], LAG),
    ours(&["refers to the id"], LAG),
    ours(&["expected an email address"], LAG),
    theirs(&["\"autocomplete\""], "we check its words, not their order, nor whether the control fits them"),
    ours(&["or what a browser may fill in"], "they let the types without a field of their own have any words"),
    ours(&["a dialog takes the focus by itself"], LAG),
    ours(&["`main` is not allowed in `search`"], LAG),
    ours(&["expected a language tag"], LAG),
    ours(&["of `aria-dropeffect`"], "WAI-ARIA discourages it, and they do not look"),
    ours(&["`aria-grabbed`"], "WAI-ARIA discourages it, and they do not look"),
    ours(&["`x x` is not a valid value of `rel`"], LAG),
    ours(&["`there there` is not a valid value of `for`"], LAG),
    ours(&["is not a valid value of `accept`"], LAG),
    ours(&["`button` must be the first child of `select`"], LAG),
    ours(&["text is not allowed in `noscript`, which takes `option`"], LAG),
    ours(
        &["`ruby` starts with the text"],
        "to the letter the text may be nothing (4.5.10); then the annotation is of nothing",
    ),
];
