//! Attributes and roles of WAI-ARIA 1.3 and its publishing and graphics modules.

use super::Type::{self, Count, Float, IdList, IdRef, Integer, ListOf, OneOf, Positive, Text};

/// States and properties (WAI-ARIA 1.3, 6.6).
pub(crate) const ATTRIBUTES: &[(&str, Type)] = &[
    ("aria-actions", IdList),
    ("aria-activedescendant", IdRef),
    ("aria-atomic", OneOf(&["true", "false"])),
    ("aria-autocomplete", OneOf(&["inline", "list", "both", "none"])),
    ("aria-braillelabel", Text),
    ("aria-brailleroledescription", Text),
    ("aria-busy", OneOf(&["true", "false"])),
    ("aria-checked", OneOf(&["true", "false", "mixed", "undefined"])),
    ("aria-colcount", Integer),
    ("aria-colindex", Positive),
    ("aria-colindextext", Text),
    ("aria-colspan", Positive),
    ("aria-controls", IdList),
    ("aria-current", OneOf(&["page", "step", "location", "date", "time", "true", "false"])),
    ("aria-describedby", IdList),
    ("aria-description", Text),
    ("aria-details", IdList),
    ("aria-disabled", OneOf(&["true", "false"])),
    ("aria-dropeffect", ListOf(&["copy", "execute", "link", "move", "none", "popup"])),
    ("aria-errormessage", IdList),
    ("aria-expanded", OneOf(&["true", "false", "undefined"])),
    ("aria-flowto", IdList),
    ("aria-grabbed", OneOf(&["true", "false", "undefined"])),
    ("aria-haspopup", OneOf(&["false", "true", "menu", "listbox", "tree", "grid", "dialog"])),
    ("aria-hidden", OneOf(&["true", "false", "undefined"])),
    ("aria-invalid", OneOf(&["grammar", "false", "spelling", "true"])),
    ("aria-keyshortcuts", Text),
    ("aria-label", Text),
    ("aria-labelledby", IdList),
    ("aria-level", Positive),
    ("aria-live", OneOf(&["assertive", "off", "polite"])),
    ("aria-modal", OneOf(&["true", "false"])),
    ("aria-multiline", OneOf(&["true", "false"])),
    ("aria-multiselectable", OneOf(&["true", "false"])),
    ("aria-orientation", OneOf(&["vertical", "undefined", "horizontal"])),
    ("aria-owns", IdList),
    ("aria-placeholder", Text),
    ("aria-posinset", Positive),
    ("aria-pressed", OneOf(&["true", "false", "mixed", "undefined"])),
    ("aria-readonly", OneOf(&["true", "false"])),
    ("aria-relevant", ListOf(&["additions", "all", "removals", "text"])),
    ("aria-required", OneOf(&["true", "false"])),
    ("aria-roledescription", Text),
    ("aria-rowcount", Integer),
    ("aria-rowindex", Positive),
    ("aria-rowindextext", Text),
    ("aria-rowspan", Count),
    ("aria-selected", OneOf(&["true", "false", "undefined"])),
    ("aria-setsize", Integer),
    ("aria-sort", OneOf(&["ascending", "descending", "none", "other"])),
    ("aria-valuemax", Float),
    ("aria-valuemin", Float),
    ("aria-valuenow", Float),
    ("aria-valuetext", Text),
];

/// Non-abstract roles (WAI-ARIA 1.3, 5.4; DPUB-ARIA 1.1; Graphics-ARIA 1.0).
pub(crate) const ROLES: &[&str] = words!(
    "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
     comment complementary contentinfo definition deletion dialog directory doc-abstract doc-acknowledgments
     doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography doc-biblioref doc-chapter doc-colophon
     doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph
     doc-epilogue doc-errata doc-example doc-footnote doc-foreword doc-glossary doc-glossref doc-index
     doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part
     doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc document emphasis feed figure form
     generic graphics-document graphics-object graphics-symbol grid gridcell group heading image img insertion link
     list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter
     navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader
     scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong subscript
     suggestion superscript switch tab table tablist tabpanel term text textbox time timer toolbar tooltip tree
     treegrid treeitem"
);
