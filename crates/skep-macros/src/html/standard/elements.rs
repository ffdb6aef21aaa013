//! The elements of HTML (4), sorted by name.
//!
//! Includes attributes that other specifications define and browsers support: `property` on `meta` (`RDFa`), `capture`
//! (HTML Media Capture) and `webkitdirectory` (File and Directory Entries) on `input`, `controlslist`,
//! `disablepictureinpicture` and `disableremoteplayback` (Remote Playback, Picture-in-Picture) on media.

use super::Type::{
    self, Address, Addresses, Autofill, Between, Boolean, Command, Count, Exactly, FileTypes, Float, Floats, IdRef,
    IdRefs, ImageSet, Integer, Integrity, Language, MapName, Mime, Moment, NotEmpty, OneOf, Positive, Size, Step,
    Target, Text, Time, Tokens, TokensOf, Url, Window,
};
use super::{Categories, Condition, Content, Exclusions, Model, Rules};

const CORS: Type = OneOf(&["anonymous", "use-credentials", ""]);
const LOADING: Type = OneOf(&["lazy", "eager"]);
const PRIORITY: Type = OneOf(&["auto", "high", "low"]);
const ENCTYPE: Type = OneOf(&["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]);
const METHOD: Type = OneOf(&["get", "post", "dialog"]);
const PRELOAD_MEDIA: Type = OneOf(&["none", "metadata", "auto", ""]);

/// Destinations of `rel=preload` and `rel=modulepreload` (Fetch, 2.2.7).
const PRELOAD: Type = OneOf(words!(
    "audio audioworklet document embed fetch font open iframe image json manifest object paintworklet report script
     serviceworker sharedworker style text track video webidentity worker xslt"
));

/// Referrer Policy, 3.
const POLICY: Type = OneOf(&[
    "",
    "no-referrer",
    "no-referrer-when-downgrade",
    "same-origin",
    "origin",
    "strict-origin",
    "origin-when-cross-origin",
    "strict-origin-when-cross-origin",
    "unsafe-url",
]);

const SANDBOX: &[&str] = words!(
    "allow-downloads allow-forms allow-modals allow-orientation-lock allow-pointer-lock allow-popups
     allow-popups-to-escape-sandbox allow-presentation allow-same-origin allow-scripts allow-top-navigation
     allow-top-navigation-by-user-activation allow-top-navigation-to-custom-protocols
     allow-storage-access-by-user-activation"
);

/// 4.10.5.
pub(crate) const INPUT_TYPES: &[&str] = words!(
    "hidden text search tel url email password date month week time datetime-local number range color checkbox radio
     file submit image reset button"
);

/// The words of `autocomplete`, besides `section-*` (4.10.19.7.1).
pub(crate) const AUTOFILL: &[&str] = words!(
    "on off shipping billing home work mobile fax pager webauthn
     name honorific-prefix given-name additional-name family-name honorific-suffix nickname
     username new-password current-password one-time-code organization-title organization
     street-address address-line1 address-line2 address-line3
     address-level4 address-level3 address-level2 address-level1 country country-name postal-code
     cc-name cc-given-name cc-additional-name cc-family-name cc-number cc-exp cc-exp-month cc-exp-year cc-csc cc-type
     transaction-currency transaction-amount language bday bday-day bday-month bday-year sex url photo
     tel tel-country-code tel-national tel-area-code tel-local tel-local-prefix tel-local-suffix tel-extension email impp"
);

pub(crate) const ELEMENTS: &[Rules] = &[
    Rules::new("a", "4.5.1", Categories::PHRASING, Content::Transparent(&[]))
        .when(Condition::Has(&["href"]), Categories::INTERACTIVE)
        .excluding(Exclusions::INTERACTIVE.union(Exclusions::ANCHOR).union(Exclusions::TABINDEX))
        .with(&[
            ("download", Text),
            ("href", Url),
            ("hreflang", Language),
            ("ping", Addresses),
            ("referrerpolicy", POLICY),
            ("rel", Tokens),
            ("target", Target),
            ("type", Mime),
        ]),
    Rules::new("abbr", "4.5.9", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("address", "4.3.10", Categories::FLOW, Content::Model(Model::Flow, &[])).excluding(
        Exclusions::HEADING.union(Exclusions::SECTIONING).union(Exclusions::HEADER).union(Exclusions::ADDRESS),
    ),
    Rules::new("area", "4.8.13", Categories::PHRASING, Content::Void).with(&[
        ("alt", Text),
        ("coords", Floats),
        ("download", Text),
        ("href", Url),
        ("hreflang", Language),
        ("ping", Addresses),
        ("referrerpolicy", POLICY),
        ("rel", Tokens),
        ("shape", OneOf(&["circle", "default", "poly", "rect"])),
        ("target", Target),
        ("type", Mime),
    ]),
    Rules::new("article", "4.3.2", Categories::FLOW.union(Categories::SECTIONING), Content::Model(Model::Flow, &[])),
    Rules::new("aside", "4.3.5", Categories::FLOW.union(Categories::SECTIONING), Content::Model(Model::Flow, &[])),
    Rules::new(
        "audio",
        "4.8.9",
        Categories::PHRASING.union(Categories::EMBEDDED),
        Content::Transparent(&["source", "track"]),
    )
    .when(Condition::Has(&["controls"]), Categories::INTERACTIVE)
    .excluding(Exclusions::MEDIA)
    .with(&[
        ("autoplay", Boolean),
        ("controls", Boolean),
        ("controlslist", TokensOf(&["nodownload", "nofullscreen", "noremoteplayback"])),
        ("crossorigin", CORS),
        ("disableremoteplayback", Boolean),
        ("loading", LOADING),
        ("loop", Boolean),
        ("muted", Boolean),
        ("preload", PRELOAD_MEDIA),
        ("src", Address),
    ]),
    Rules::new("b", "4.5.21", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("base", "4.2.3", Categories::METADATA, Content::Void).with(&[("href", Url), ("target", Target)]),
    Rules::new("bdi", "4.5.24", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("bdo", "4.5.25", Categories::PHRASING, Content::Model(Model::Phrasing, &[]))
        .with(&[("dir", OneOf(&["ltr", "rtl"]))])
        .requiring(&["dir"]),
    Rules::new("blockquote", "4.4.4", Categories::FLOW, Content::Model(Model::Flow, &[])).with(&[("cite", Url)]),
    Rules::new("body", "4.3.1", Categories::NONE, Content::Model(Model::Flow, &[])),
    Rules::new("br", "4.5.27", Categories::PHRASING, Content::Void),
    Rules::new(
        "button",
        "4.10.6",
        Categories::PHRASING.union(Categories::INTERACTIVE).union(Categories::LABELABLE),
        Content::Model(Model::Phrasing, &[]),
    )
    .excluding(Exclusions::INTERACTIVE.union(Exclusions::TABINDEX))
    .with(&[
        ("command", Command),
        ("commandfor", IdRef),
        ("disabled", Boolean),
        ("form", IdRef),
        ("formaction", Address),
        ("formenctype", ENCTYPE),
        ("formmethod", METHOD),
        ("formnovalidate", Boolean),
        ("formtarget", Target),
        ("name", NotEmpty),
        ("popovertarget", IdRef),
        ("popovertargetaction", OneOf(&["toggle", "show", "hide"])),
        ("type", OneOf(&["submit", "reset", "button"])),
        ("value", Text),
    ]),
    Rules::new("canvas", "4.12.5", Categories::PHRASING.union(Categories::EMBEDDED), Content::Transparent(&[]))
        .excluding(Exclusions::NOT_IN_CANVAS)
        .with(&[("height", Count), ("width", Count)]),
    Rules::new("caption", "4.9.2", Categories::NONE, Content::Model(Model::Flow, &[])).excluding(Exclusions::TABLE),
    Rules::new("cite", "4.5.6", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("code", "4.5.15", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("col", "4.9.4", Categories::NONE, Content::Void).with(&[("span", Between(1, 1000))]),
    Rules::new("colgroup", "4.9.3", Categories::NONE, Content::Model(Model::Columns, &[]))
        .with(&[("span", Between(1, 1000))]),
    Rules::new("data", "4.5.13", Categories::PHRASING, Content::Model(Model::Phrasing, &[]))
        .with(&[("value", Text)])
        .requiring(&["value"]),
    Rules::new("datalist", "4.10.8", Categories::PHRASING, Content::Model(Model::Suggestions, &[])),
    Rules::new("dd", "4.4.11", Categories::NONE, Content::Model(Model::Flow, &[])),
    Rules::new("del", "4.7.2", Categories::PHRASING, Content::Transparent(&[]))
        .with(&[("cite", Url), ("datetime", Moment)]),
    Rules::new(
        "details",
        "4.11.1",
        Categories::FLOW.union(Categories::INTERACTIVE),
        Content::Model(Model::Flow, &["summary"]),
    )
    .with(&[("name", NotEmpty), ("open", Boolean)]),
    Rules::new("dfn", "4.5.8", Categories::PHRASING, Content::Model(Model::Phrasing, &[])).excluding(Exclusions::DFN),
    Rules::new("dialog", "4.11.4", Categories::FLOW, Content::Model(Model::Flow, &[]))
        .with(&[("closedby", OneOf(&["any", "closerequest", "none"])), ("open", Boolean)]),
    Rules::new("div", "4.4.16", Categories::FLOW, Content::Model(Model::Flow, &[])),
    Rules::new("dl", "4.4.9", Categories::FLOW, Content::Model(Model::Terms, &[])),
    Rules::new("dt", "4.4.10", Categories::NONE, Content::Model(Model::Flow, &[]))
        .excluding(Exclusions::HEADER.union(Exclusions::SECTIONING).union(Exclusions::HEADING)),
    Rules::new("em", "4.5.2", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "embed",
        "4.8.6",
        Categories::PHRASING.union(Categories::EMBEDDED).union(Categories::INTERACTIVE),
        Content::Void,
    )
    .with(&[("height", Count), ("src", Address), ("type", Mime), ("width", Count)]),
    Rules::new("fieldset", "4.10.15", Categories::FLOW, Content::Model(Model::Flow, &["legend"])).with(&[
        ("disabled", Boolean),
        ("form", IdRef),
        ("name", NotEmpty),
    ]),
    Rules::new("figcaption", "4.4.13", Categories::NONE, Content::Model(Model::Flow, &[])),
    Rules::new("figure", "4.4.12", Categories::FLOW, Content::Model(Model::Flow, &["figcaption"])),
    Rules::new("footer", "4.3.9", Categories::FLOW, Content::Model(Model::Flow, &[])).excluding(Exclusions::HEADER),
    Rules::new("form", "4.10.3", Categories::FLOW, Content::Model(Model::Flow, &[])).excluding(Exclusions::FORM).with(
        &[
            ("accept-charset", OneOf(&["utf-8"])),
            ("action", Address),
            ("autocomplete", OneOf(&["on", "off"])),
            ("enctype", ENCTYPE),
            ("method", METHOD),
            ("name", NotEmpty),
            ("novalidate", Boolean),
            ("rel", Tokens),
            ("target", Target),
        ],
    ),
    Rules::new("h1", "4.3.6", Categories::FLOW.union(Categories::HEADING), Content::Model(Model::Phrasing, &[])),
    Rules::new("h2", "4.3.6", Categories::FLOW.union(Categories::HEADING), Content::Model(Model::Phrasing, &[])),
    Rules::new("h3", "4.3.6", Categories::FLOW.union(Categories::HEADING), Content::Model(Model::Phrasing, &[])),
    Rules::new("h4", "4.3.6", Categories::FLOW.union(Categories::HEADING), Content::Model(Model::Phrasing, &[])),
    Rules::new("h5", "4.3.6", Categories::FLOW.union(Categories::HEADING), Content::Model(Model::Phrasing, &[])),
    Rules::new("h6", "4.3.6", Categories::FLOW.union(Categories::HEADING), Content::Model(Model::Phrasing, &[])),
    Rules::new("head", "4.2.1", Categories::NONE, Content::Model(Model::Metadata, &[])),
    Rules::new("header", "4.3.8", Categories::FLOW, Content::Model(Model::Flow, &[])).excluding(Exclusions::HEADER),
    Rules::new(
        "hgroup",
        "4.3.7",
        Categories::FLOW.union(Categories::HEADING),
        Content::Model(Model::HeadingGroup, &[]),
    ),
    Rules::new("hr", "4.4.2", Categories::FLOW, Content::Void),
    Rules::new("html", "4.1.1", Categories::NONE, Content::Model(Model::PageParts, &[])),
    Rules::new("i", "4.5.20", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "iframe",
        "4.8.5",
        Categories::PHRASING.union(Categories::EMBEDDED).union(Categories::INTERACTIVE),
        Content::Model(Model::Nothing, &[]),
    )
    .with(&[
        ("allow", Text),
        ("allowfullscreen", Boolean),
        ("height", Count),
        ("loading", LOADING),
        ("name", Window),
        ("referrerpolicy", POLICY),
        ("sandbox", TokensOf(SANDBOX)),
        ("src", Address),
        ("srcdoc", Text),
        ("width", Count),
    ]),
    Rules::new("img", "4.8.3", Categories::PHRASING.union(Categories::EMBEDDED), Content::Void)
        .when(Condition::Has(&["usemap", "controls"]), Categories::INTERACTIVE)
        .with(&[
            ("alt", Text),
            ("controls", Boolean),
            ("crossorigin", CORS),
            ("decoding", OneOf(&["sync", "async", "auto"])),
            ("fetchpriority", PRIORITY),
            ("height", Count),
            ("ismap", Boolean),
            ("loading", LOADING),
            ("referrerpolicy", POLICY),
            ("sizes", Text),
            ("src", Address),
            ("srcset", ImageSet),
            ("usemap", MapName),
            ("width", Count),
        ]),
    Rules::new("input", "4.10.5", Categories::PHRASING, Content::Void)
        .when(Condition::NotHidden, Categories::INTERACTIVE.union(Categories::LABELABLE))
        .with(&[
            ("accept", FileTypes),
            ("alpha", Boolean),
            ("alt", NotEmpty),
            ("autocomplete", Autofill),
            ("capture", OneOf(&["user", "environment"])),
            ("checked", Boolean),
            ("colorspace", OneOf(&["limited-srgb", "display-p3"])),
            ("dirname", NotEmpty),
            ("disabled", Boolean),
            ("form", IdRef),
            ("formaction", Address),
            ("formenctype", ENCTYPE),
            ("formmethod", METHOD),
            ("formnovalidate", Boolean),
            ("formtarget", Target),
            ("height", Count),
            ("list", IdRef),
            ("max", Text),
            ("maxlength", Count),
            ("min", Text),
            ("minlength", Count),
            ("multiple", Boolean),
            ("name", NotEmpty),
            ("pattern", Text),
            ("placeholder", Text),
            ("popovertarget", IdRef),
            ("popovertargetaction", OneOf(&["toggle", "show", "hide"])),
            ("readonly", Boolean),
            ("required", Boolean),
            ("size", Positive),
            ("src", Address),
            ("step", Step),
            ("type", OneOf(INPUT_TYPES)),
            ("value", Text),
            ("webkitdirectory", Boolean),
            ("width", Count),
        ]),
    Rules::new("ins", "4.7.1", Categories::PHRASING, Content::Transparent(&[]))
        .with(&[("cite", Url), ("datetime", Moment)]),
    Rules::new("kbd", "4.5.18", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "label",
        "4.10.4",
        Categories::PHRASING.union(Categories::INTERACTIVE),
        Content::Model(Model::Phrasing, &[]),
    )
    .excluding(Exclusions::LABEL)
    .with(&[("for", IdRef)]),
    Rules::new("legend", "4.10.16", Categories::NONE, Content::Model(Model::PhrasingAndHeadings, &[])),
    Rules::new("li", "4.4.8", Categories::NONE, Content::Model(Model::Flow, &[])).with(&[("value", Integer)]),
    Rules::new("link", "4.2.4", Categories::METADATA, Content::Void)
        .when(Condition::LinkInBody, Categories::PHRASING)
        .with(&[
            ("as", PRELOAD),
            ("blocking", TokensOf(&["render"])),
            ("color", Text),
            ("crossorigin", CORS),
            ("disabled", Boolean),
            ("fetchpriority", PRIORITY),
            ("href", Address),
            ("hreflang", Language),
            ("imagesizes", Text),
            ("imagesrcset", ImageSet),
            ("integrity", Integrity),
            ("media", Text),
            ("referrerpolicy", POLICY),
            ("rel", Tokens),
            ("sizes", Tokens),
            ("type", Mime),
        ]),
    Rules::new("main", "4.4.14", Categories::FLOW, Content::Model(Model::Flow, &[])),
    Rules::new("map", "4.8.12", Categories::PHRASING, Content::Transparent(&[]))
        .with(&[("name", NotEmpty)])
        .requiring(&["name"]),
    Rules::new("mark", "4.5.23", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "math",
        "4.8.15",
        Categories::PHRASING.union(Categories::EMBEDDED).union(Categories::FOREIGN),
        Content::Model(Model::Foreign, &[]),
    ),
    Rules::new("menu", "4.4.7", Categories::FLOW, Content::Model(Model::Items, &[])),
    Rules::new("meta", "4.2.5", Categories::METADATA, Content::Void)
        .when(Condition::Has(&["itemprop"]), Categories::PHRASING)
        .with(&[
            ("charset", OneOf(&["utf-8"])),
            ("content", Text),
            (
                "http-equiv",
                OneOf(&["content-type", "default-style", "refresh", "x-ua-compatible", "content-security-policy"]),
            ),
            ("media", Text),
            ("name", NotEmpty),
            ("property", Text),
        ]),
    Rules::new(
        "meter",
        "4.10.14",
        Categories::PHRASING.union(Categories::LABELABLE),
        Content::Model(Model::Phrasing, &[]),
    )
    .excluding(Exclusions::METER)
    .with(&[("high", Float), ("low", Float), ("max", Float), ("min", Float), ("optimum", Float), ("value", Float)])
    .requiring(&["value"]),
    Rules::new("nav", "4.3.4", Categories::FLOW.union(Categories::SECTIONING), Content::Model(Model::Flow, &[])),
    Rules::new("noscript", "4.12.2", Categories::METADATA.union(Categories::PHRASING), Content::Transparent(&[]))
        .excluding(Exclusions::NOSCRIPT),
    Rules::new("object", "4.8.7", Categories::PHRASING.union(Categories::EMBEDDED), Content::Transparent(&[]))
        .with(&[
            ("data", Address),
            ("form", IdRef),
            ("height", Count),
            ("name", Window),
            ("type", Mime),
            ("width", Count),
        ])
        .requiring(&["data"]),
    Rules::new("ol", "4.4.5", Categories::FLOW, Content::Model(Model::Items, &[])).with(&[
        ("reversed", Boolean),
        ("start", Integer),
        ("type", Exactly(&["1", "a", "A", "i", "I"])),
    ]),
    Rules::new("optgroup", "4.10.9", Categories::NONE, Content::Model(Model::Options, &["legend"]))
        .with(&[("disabled", Boolean), ("label", Text)]),
    Rules::new("option", "4.10.10", Categories::NONE, Content::Model(Model::OptionContent, &[]))
        .excluding(
            Exclusions::INTERACTIVE.union(Exclusions::DATALIST).union(Exclusions::OBJECT).union(Exclusions::TABINDEX),
        )
        .with(&[("disabled", Boolean), ("label", NotEmpty), ("selected", Boolean), ("value", Text)]),
    Rules::new(
        "output",
        "4.10.12",
        Categories::PHRASING.union(Categories::LABELABLE),
        Content::Model(Model::Phrasing, &[]),
    )
    .with(&[("for", IdRefs), ("form", IdRef), ("name", NotEmpty)]),
    Rules::new("p", "4.4.1", Categories::FLOW, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "picture",
        "4.8.1",
        Categories::PHRASING.union(Categories::EMBEDDED),
        Content::Model(Model::Picture, &[]),
    ),
    Rules::new("pre", "4.4.3", Categories::FLOW, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "progress",
        "4.10.13",
        Categories::PHRASING.union(Categories::LABELABLE),
        Content::Model(Model::Phrasing, &[]),
    )
    .excluding(Exclusions::PROGRESS)
    .with(&[("max", Size), ("value", Float)]),
    Rules::new("q", "4.5.7", Categories::PHRASING, Content::Model(Model::Phrasing, &[])).with(&[("cite", Url)]),
    Rules::new("rp", "4.5.12", Categories::NONE, Content::Model(Model::Text, &[])),
    Rules::new("rt", "4.5.11", Categories::NONE, Content::Model(Model::Phrasing, &[])),
    Rules::new("ruby", "4.5.10", Categories::PHRASING, Content::Model(Model::Ruby, &[])),
    Rules::new("s", "4.5.5", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("samp", "4.5.17", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "script",
        "4.12.1",
        Categories::METADATA.union(Categories::PHRASING).union(Categories::SCRIPT_SUPPORTING),
        Content::Model(Model::Code, &[]),
    )
    .with(&[
        ("async", Boolean),
        ("blocking", TokensOf(&["render"])),
        ("crossorigin", CORS),
        ("defer", Boolean),
        ("fetchpriority", PRIORITY),
        ("integrity", Integrity),
        ("nomodule", Boolean),
        ("referrerpolicy", POLICY),
        ("src", Address),
        ("type", Text),
    ]),
    Rules::new("search", "4.4.15", Categories::FLOW, Content::Model(Model::Flow, &[])),
    Rules::new("section", "4.3.3", Categories::FLOW.union(Categories::SECTIONING), Content::Model(Model::Flow, &[])),
    Rules::new(
        "select",
        "4.10.7",
        Categories::PHRASING.union(Categories::INTERACTIVE).union(Categories::LABELABLE),
        Content::Model(Model::Options, &["button"]),
    )
    .with(&[
        ("autocomplete", Autofill),
        ("disabled", Boolean),
        ("form", IdRef),
        ("multiple", Boolean),
        ("name", NotEmpty),
        ("required", Boolean),
        ("size", Positive),
    ]),
    Rules::new("selectedcontent", "4.10.17", Categories::PHRASING, Content::Model(Model::Nothing, &[])),
    Rules::new("slot", "4.12.4", Categories::PHRASING, Content::Transparent(&[])).with(&[("name", Text)]),
    Rules::new("small", "4.5.4", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("source", "4.8.2", Categories::NONE, Content::Void).with(&[
        ("height", Count),
        ("media", Text),
        ("sizes", Text),
        ("src", Address),
        ("srcset", ImageSet),
        ("type", Mime),
        ("width", Count),
    ]),
    Rules::new("span", "4.5.26", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("strong", "4.5.3", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("style", "4.2.6", Categories::METADATA, Content::Model(Model::Code, &[]))
        .with(&[("blocking", TokensOf(&["render"])), ("media", Text)]),
    Rules::new("sub", "4.5.19", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("summary", "4.11.2", Categories::NONE, Content::Model(Model::PhrasingAndHeadings, &[])),
    Rules::new("sup", "4.5.19", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "svg",
        "4.8.16",
        Categories::PHRASING.union(Categories::EMBEDDED).union(Categories::FOREIGN),
        Content::Model(Model::Foreign, &[]),
    ),
    Rules::new("table", "4.9.1", Categories::FLOW, Content::Model(Model::TableParts, &[])),
    Rules::new("tbody", "4.9.5", Categories::NONE, Content::Model(Model::Rows, &[])),
    Rules::new("td", "4.9.9", Categories::NONE, Content::Model(Model::Flow, &[])).with(&[
        ("colspan", Between(1, 1000)),
        ("headers", IdRefs),
        ("rowspan", Between(0, 65_534)),
    ]),
    Rules::new(
        "template",
        "4.12.3",
        Categories::METADATA.union(Categories::PHRASING).union(Categories::SCRIPT_SUPPORTING),
        Content::Model(Model::Anything, &[]),
    )
    .with(&[
        ("for", Text),
        ("shadowrootclonable", Boolean),
        ("shadowrootcustomelementregistry", Boolean),
        ("shadowrootdelegatesfocus", Boolean),
        ("shadowrootmode", OneOf(&["open", "closed"])),
        ("shadowrootserializable", Boolean),
        ("shadowrootslotassignment", OneOf(&["named", "manual"])),
    ]),
    Rules::new(
        "textarea",
        "4.10.11",
        Categories::PHRASING.union(Categories::INTERACTIVE).union(Categories::LABELABLE),
        Content::Model(Model::Text, &[]),
    )
    .with(&[
        ("autocomplete", Autofill),
        ("cols", Positive),
        ("dirname", NotEmpty),
        ("disabled", Boolean),
        ("form", IdRef),
        ("maxlength", Count),
        ("minlength", Count),
        ("name", NotEmpty),
        ("placeholder", Text),
        ("readonly", Boolean),
        ("required", Boolean),
        ("rows", Positive),
        ("wrap", OneOf(&["soft", "hard"])),
    ]),
    Rules::new("tfoot", "4.9.7", Categories::NONE, Content::Model(Model::Rows, &[])),
    Rules::new("th", "4.9.10", Categories::NONE, Content::Model(Model::Flow, &[]))
        .excluding(Exclusions::HEADER.union(Exclusions::SECTIONING).union(Exclusions::HEADING))
        .with(&[
            ("abbr", Text),
            ("colspan", Between(1, 1000)),
            ("headers", IdRefs),
            ("rowspan", Between(0, 65_534)),
            ("scope", OneOf(&["row", "col", "rowgroup", "colgroup"])),
        ]),
    Rules::new("thead", "4.9.6", Categories::NONE, Content::Model(Model::Rows, &[])),
    Rules::new("time", "4.5.14", Categories::PHRASING, Content::Model(Model::Phrasing, &[]))
        .with(&[("datetime", Time)]),
    Rules::new("title", "4.2.2", Categories::METADATA, Content::Model(Model::Text, &[])),
    Rules::new("tr", "4.9.8", Categories::NONE, Content::Model(Model::Cells, &[])),
    Rules::new("track", "4.8.10", Categories::NONE, Content::Void)
        .with(&[
            ("default", Boolean),
            ("kind", OneOf(&["subtitles", "captions", "descriptions", "chapters", "metadata"])),
            ("label", NotEmpty),
            ("src", Address),
            ("srclang", Language),
        ])
        .requiring(&["src"]),
    Rules::new("u", "4.5.22", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new("ul", "4.4.6", Categories::FLOW, Content::Model(Model::Items, &[])),
    Rules::new("var", "4.5.16", Categories::PHRASING, Content::Model(Model::Phrasing, &[])),
    Rules::new(
        "video",
        "4.8.8",
        Categories::PHRASING.union(Categories::EMBEDDED),
        Content::Transparent(&["source", "track"]),
    )
    .when(Condition::Has(&["controls"]), Categories::INTERACTIVE)
    .excluding(Exclusions::MEDIA)
    .with(&[
        ("autoplay", Boolean),
        ("controls", Boolean),
        ("controlslist", TokensOf(&["nodownload", "nofullscreen", "noremoteplayback"])),
        ("crossorigin", CORS),
        ("disablepictureinpicture", Boolean),
        ("disableremoteplayback", Boolean),
        ("height", Count),
        ("loading", LOADING),
        ("loop", Boolean),
        ("muted", Boolean),
        ("playsinline", Boolean),
        ("poster", Address),
        ("preload", PRELOAD_MEDIA),
        ("src", Address),
        ("width", Count),
    ]),
    Rules::new("wbr", "4.5.28", Categories::PHRASING, Content::Void),
];
