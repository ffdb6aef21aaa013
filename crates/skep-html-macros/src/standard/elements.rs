//! The elements of HTML (4), sorted by name.
//!
//! Includes attributes that other specifications define and browsers support: `property` on `meta` (`RDFa`), `capture`
//! (HTML Media Capture) and `webkitdirectory` (File and Directory Entries) on `input`, `controlslist`,
//! `disablepictureinpicture` and `disableremoteplayback` (Remote Playback, Picture-in-Picture) on media.

use super::Condition::{Has, LinkInBody, NotHidden};
use super::Type::{
    self, Address, Addresses, Autofill, Between, Boolean, Command, Count, Exactly, FileTypes, Float, Floats, IdRef,
    IdRefs, ImageSet, Integer, Integrity, Language, MapName, Mime, Moment, NotEmpty, OneOf, Positive, Size, Step,
    Target, Text, Time, Tokens, TokensOf, Url, Window,
};
use super::{Categories, Content, Exclusions, Model, Rules};

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

/// A row is an element: its name, section, categories and content; then, for some, further categories on a condition,
/// what it excludes, which attributes it requires, and its own attributes with their types.
macro_rules! elements {
    ($(
        $name:literal $section:literal [$($category:ident)*] ($($content:tt)+)
        $(, when $condition:expr => [$($more:ident)+])?
        $(, excludes [$($exclusion:ident)+])?
        $(, requires [$($required:literal)+])?
        $(, with $($attribute:literal: $kind:expr),+)?;
    )+) => {
        &[$(Rules {
            name: $name,
            section: $section,
            categories: Categories::NONE$(.union(Categories::$category))*,
            conditional: &[$(($condition, Categories::NONE$(.union(Categories::$more))+))?],
            content: content!($($content)+),
            excludes: Exclusions::NONE$($(.union(Exclusions::$exclusion))+)?,
            required: &[$($($required),+)?],
            attributes: &[$($(($attribute, $kind)),+)?],
        }),+]
    };
}

/// `Void`, `Transparent` or a model, and the elements that are allowed besides.
macro_rules! content {
    (Void) => {
        Content::Void
    };
    (Transparent $($also:literal)*) => {
        Content::Transparent(&[$($also),*])
    };
    ($model:ident $($also:literal)*) => {
        Content::Model(Model::$model, &[$($also),*])
    };
}

pub(crate) const ELEMENTS: &[Rules] = elements! {
    "a" "4.5.1" [PHRASING] (Transparent), when Has(&["href"]) => [INTERACTIVE], excludes [INTERACTIVE ANCHOR TABINDEX],
        with "download": Text, "href": Url, "hreflang": Language, "ping": Addresses, "referrerpolicy": POLICY,
            "rel": Tokens, "target": Target, "type": Mime;
    "abbr" "4.5.9" [PHRASING] (Phrasing);
    "address" "4.3.10" [FLOW] (Flow), excludes [HEADING SECTIONING HEADER ADDRESS];
    "area" "4.8.13" [PHRASING] (Void),
        with "alt": Text, "coords": Floats, "download": Text, "href": Url, "hreflang": Language, "ping": Addresses,
            "referrerpolicy": POLICY, "rel": Tokens, "shape": OneOf(&["circle", "default", "poly", "rect"]),
            "target": Target, "type": Mime;
    "article" "4.3.2" [FLOW SECTIONING] (Flow);
    "aside" "4.3.5" [FLOW SECTIONING] (Flow);
    "audio" "4.8.9" [PHRASING EMBEDDED] (Transparent "source" "track"), when Has(&["controls"]) => [INTERACTIVE],
        excludes [MEDIA],
        with "autoplay": Boolean, "controls": Boolean,
            "controlslist": TokensOf(&["nodownload", "nofullscreen", "noremoteplayback"]), "crossorigin": CORS,
            "disableremoteplayback": Boolean, "loading": LOADING, "loop": Boolean, "muted": Boolean,
            "preload": PRELOAD_MEDIA, "src": Address;
    "b" "4.5.21" [PHRASING] (Phrasing);
    "base" "4.2.3" [METADATA] (Void), with "href": Url, "target": Target;
    "bdi" "4.5.24" [PHRASING] (Phrasing);
    "bdo" "4.5.25" [PHRASING] (Phrasing), requires ["dir"], with "dir": OneOf(&["ltr", "rtl"]);
    "blockquote" "4.4.4" [FLOW] (Flow), with "cite": Url;
    "body" "4.3.1" [] (Flow);
    "br" "4.5.27" [PHRASING] (Void);
    "button" "4.10.6" [PHRASING INTERACTIVE LABELABLE] (Phrasing), excludes [INTERACTIVE TABINDEX],
        with "command": Command, "commandfor": IdRef, "disabled": Boolean, "form": IdRef, "formaction": Address,
            "formenctype": ENCTYPE, "formmethod": METHOD, "formnovalidate": Boolean, "formtarget": Target,
            "name": NotEmpty, "popovertarget": IdRef, "popovertargetaction": OneOf(&["toggle", "show", "hide"]),
            "type": OneOf(&["submit", "reset", "button"]), "value": Text;
    "canvas" "4.12.5" [PHRASING EMBEDDED] (Transparent), excludes [NOT_IN_CANVAS], with "height": Count, "width": Count;
    "caption" "4.9.2" [] (Flow), excludes [TABLE];
    "cite" "4.5.6" [PHRASING] (Phrasing);
    "code" "4.5.15" [PHRASING] (Phrasing);
    "col" "4.9.4" [] (Void), with "span": Between(1, 1000);
    "colgroup" "4.9.3" [] (Columns), with "span": Between(1, 1000);
    "data" "4.5.13" [PHRASING] (Phrasing), requires ["value"], with "value": Text;
    "datalist" "4.10.8" [PHRASING] (Suggestions);
    "dd" "4.4.11" [] (Flow);
    "del" "4.7.2" [PHRASING] (Transparent), with "cite": Url, "datetime": Moment;
    "details" "4.11.1" [FLOW INTERACTIVE] (Flow "summary"), with "name": NotEmpty, "open": Boolean;
    "dfn" "4.5.8" [PHRASING] (Phrasing), excludes [DFN];
    "dialog" "4.11.4" [FLOW] (Flow), with "closedby": OneOf(&["any", "closerequest", "none"]), "open": Boolean;
    "div" "4.4.16" [FLOW] (Flow);
    "dl" "4.4.9" [FLOW] (Terms);
    "dt" "4.4.10" [] (Flow), excludes [HEADER SECTIONING HEADING];
    "em" "4.5.2" [PHRASING] (Phrasing);
    "embed" "4.8.6" [PHRASING EMBEDDED INTERACTIVE] (Void),
        with "height": Count, "src": Address, "type": Mime, "width": Count;
    "fieldset" "4.10.15" [FLOW] (Flow "legend"), with "disabled": Boolean, "form": IdRef, "name": NotEmpty;
    "figcaption" "4.4.13" [] (Flow);
    "figure" "4.4.12" [FLOW] (Flow "figcaption");
    "footer" "4.3.9" [FLOW] (Flow), excludes [HEADER];
    "form" "4.10.3" [FLOW] (Flow), excludes [FORM],
        with "accept-charset": OneOf(&["utf-8"]), "action": Address, "autocomplete": OneOf(&["on", "off"]),
            "enctype": ENCTYPE, "method": METHOD, "name": NotEmpty, "novalidate": Boolean, "rel": Tokens,
            "target": Target;
    "h1" "4.3.6" [FLOW HEADING] (Phrasing);
    "h2" "4.3.6" [FLOW HEADING] (Phrasing);
    "h3" "4.3.6" [FLOW HEADING] (Phrasing);
    "h4" "4.3.6" [FLOW HEADING] (Phrasing);
    "h5" "4.3.6" [FLOW HEADING] (Phrasing);
    "h6" "4.3.6" [FLOW HEADING] (Phrasing);
    "head" "4.2.1" [] (Metadata);
    "header" "4.3.8" [FLOW] (Flow), excludes [HEADER];
    "hgroup" "4.3.7" [FLOW HEADING] (HeadingGroup);
    "hr" "4.4.2" [FLOW] (Void);
    "html" "4.1.1" [] (PageParts);
    "i" "4.5.20" [PHRASING] (Phrasing);
    "iframe" "4.8.5" [PHRASING EMBEDDED INTERACTIVE] (Nothing),
        with "allow": Text, "allowfullscreen": Boolean, "height": Count, "loading": LOADING, "name": Window,
            "referrerpolicy": POLICY, "sandbox": TokensOf(SANDBOX), "src": Address, "srcdoc": Text, "width": Count;
    "img" "4.8.3" [PHRASING EMBEDDED] (Void), when Has(&["usemap", "controls"]) => [INTERACTIVE],
        with "alt": Text, "controls": Boolean, "crossorigin": CORS, "decoding": OneOf(&["sync", "async", "auto"]),
            "fetchpriority": PRIORITY, "height": Count, "ismap": Boolean, "loading": LOADING,
            "referrerpolicy": POLICY, "sizes": Text, "src": Address, "srcset": ImageSet, "usemap": MapName,
            "width": Count;
    "input" "4.10.5" [PHRASING] (Void), when NotHidden => [INTERACTIVE LABELABLE],
        with "accept": FileTypes, "alpha": Boolean, "alt": NotEmpty, "autocomplete": Autofill,
            "capture": OneOf(&["user", "environment"]), "checked": Boolean,
            "colorspace": OneOf(&["limited-srgb", "display-p3"]), "dirname": NotEmpty, "disabled": Boolean,
            "form": IdRef, "formaction": Address, "formenctype": ENCTYPE, "formmethod": METHOD,
            "formnovalidate": Boolean, "formtarget": Target, "height": Count, "list": IdRef, "max": Text,
            "maxlength": Count, "min": Text, "minlength": Count, "multiple": Boolean, "name": NotEmpty,
            "pattern": Text, "placeholder": Text, "popovertarget": IdRef,
            "popovertargetaction": OneOf(&["toggle", "show", "hide"]), "readonly": Boolean, "required": Boolean,
            "size": Positive, "src": Address, "step": Step, "type": OneOf(INPUT_TYPES), "value": Text,
            "webkitdirectory": Boolean, "width": Count;
    "ins" "4.7.1" [PHRASING] (Transparent), with "cite": Url, "datetime": Moment;
    "kbd" "4.5.18" [PHRASING] (Phrasing);
    "label" "4.10.4" [PHRASING INTERACTIVE] (Phrasing), excludes [LABEL], with "for": IdRef;
    "legend" "4.10.16" [] (PhrasingAndHeadings);
    "li" "4.4.8" [] (Flow), with "value": Integer;
    "link" "4.2.4" [METADATA] (Void), when LinkInBody => [PHRASING],
        with "as": PRELOAD, "blocking": TokensOf(&["render"]), "color": Text, "crossorigin": CORS,
            "disabled": Boolean, "fetchpriority": PRIORITY, "href": Address, "hreflang": Language, "imagesizes": Text,
            "imagesrcset": ImageSet, "integrity": Integrity, "media": Text, "referrerpolicy": POLICY, "rel": Tokens,
            "sizes": Tokens, "type": Mime;
    "main" "4.4.14" [FLOW] (Flow);
    "map" "4.8.12" [PHRASING] (Transparent), requires ["name"], with "name": NotEmpty;
    "mark" "4.5.23" [PHRASING] (Phrasing);
    "math" "4.8.15" [PHRASING EMBEDDED FOREIGN] (Foreign);
    "menu" "4.4.7" [FLOW] (Items);
    "meta" "4.2.5" [METADATA] (Void), when Has(&["itemprop"]) => [PHRASING],
        with "charset": OneOf(&["utf-8"]), "content": Text,
            "http-equiv":
                OneOf(&["content-type", "default-style", "refresh", "x-ua-compatible", "content-security-policy"]),
            "media": Text, "name": NotEmpty, "property": Text;
    "meter" "4.10.14" [PHRASING LABELABLE] (Phrasing), excludes [METER], requires ["value"],
        with "high": Float, "low": Float, "max": Float, "min": Float, "optimum": Float, "value": Float;
    "nav" "4.3.4" [FLOW SECTIONING] (Flow);
    "noscript" "4.12.2" [METADATA PHRASING] (Transparent), excludes [NOSCRIPT];
    "object" "4.8.7" [PHRASING EMBEDDED] (Transparent), requires ["data"],
        with "data": Address, "form": IdRef, "height": Count, "name": Window, "type": Mime, "width": Count;
    "ol" "4.4.5" [FLOW] (Items),
        with "reversed": Boolean, "start": Integer, "type": Exactly(&["1", "a", "A", "i", "I"]);
    "optgroup" "4.10.9" [] (Options "legend"), with "disabled": Boolean, "label": Text;
    "option" "4.10.10" [] (OptionContent), excludes [INTERACTIVE DATALIST OBJECT TABINDEX],
        with "disabled": Boolean, "label": NotEmpty, "selected": Boolean, "value": Text;
    "output" "4.10.12" [PHRASING LABELABLE] (Phrasing), with "for": IdRefs, "form": IdRef, "name": NotEmpty;
    "p" "4.4.1" [FLOW] (Phrasing);
    "picture" "4.8.1" [PHRASING EMBEDDED] (Picture);
    "pre" "4.4.3" [FLOW] (Phrasing);
    "progress" "4.10.13" [PHRASING LABELABLE] (Phrasing), excludes [PROGRESS], with "max": Size, "value": Float;
    "q" "4.5.7" [PHRASING] (Phrasing), with "cite": Url;
    "rp" "4.5.12" [] (Text);
    "rt" "4.5.11" [] (Phrasing);
    "ruby" "4.5.10" [PHRASING] (Ruby);
    "s" "4.5.5" [PHRASING] (Phrasing);
    "samp" "4.5.17" [PHRASING] (Phrasing);
    "script" "4.12.1" [METADATA PHRASING SCRIPT_SUPPORTING] (Code),
        with "async": Boolean, "blocking": TokensOf(&["render"]), "crossorigin": CORS, "defer": Boolean,
            "fetchpriority": PRIORITY, "integrity": Integrity, "nomodule": Boolean, "referrerpolicy": POLICY,
            "src": Address, "type": Text;
    "search" "4.4.15" [FLOW] (Flow);
    "section" "4.3.3" [FLOW SECTIONING] (Flow);
    "select" "4.10.7" [PHRASING INTERACTIVE LABELABLE] (Options "button"),
        with "autocomplete": Autofill, "disabled": Boolean, "form": IdRef, "multiple": Boolean, "name": NotEmpty,
            "required": Boolean, "size": Positive;
    "selectedcontent" "4.10.17" [PHRASING] (Nothing);
    "slot" "4.12.4" [PHRASING] (Transparent), with "name": Text;
    "small" "4.5.4" [PHRASING] (Phrasing);
    "source" "4.8.2" [] (Void),
        with "height": Count, "media": Text, "sizes": Text, "src": Address, "srcset": ImageSet, "type": Mime,
            "width": Count;
    "span" "4.5.26" [PHRASING] (Phrasing);
    "strong" "4.5.3" [PHRASING] (Phrasing);
    "style" "4.2.6" [METADATA] (Code), with "blocking": TokensOf(&["render"]), "media": Text;
    "sub" "4.5.19" [PHRASING] (Phrasing);
    "summary" "4.11.2" [] (PhrasingAndHeadings);
    "sup" "4.5.19" [PHRASING] (Phrasing);
    "svg" "4.8.16" [PHRASING EMBEDDED FOREIGN] (Foreign);
    "table" "4.9.1" [FLOW] (TableParts);
    "tbody" "4.9.5" [] (Rows);
    "td" "4.9.9" [] (Flow), with "colspan": Between(1, 1000), "headers": IdRefs, "rowspan": Between(0, 65_534);
    "template" "4.12.3" [METADATA PHRASING SCRIPT_SUPPORTING] (Anything),
        with "for": Text, "shadowrootclonable": Boolean, "shadowrootcustomelementregistry": Boolean,
            "shadowrootdelegatesfocus": Boolean, "shadowrootmode": OneOf(&["open", "closed"]),
            "shadowrootserializable": Boolean, "shadowrootslotassignment": OneOf(&["named", "manual"]);
    "textarea" "4.10.11" [PHRASING INTERACTIVE LABELABLE] (Text),
        with "autocomplete": Autofill, "cols": Positive, "dirname": NotEmpty, "disabled": Boolean, "form": IdRef,
            "maxlength": Count, "minlength": Count, "name": NotEmpty, "placeholder": Text, "readonly": Boolean,
            "required": Boolean, "rows": Positive, "wrap": OneOf(&["soft", "hard"]);
    "tfoot" "4.9.7" [] (Rows);
    "th" "4.9.10" [] (Flow), excludes [HEADER SECTIONING HEADING],
        with "abbr": Text, "colspan": Between(1, 1000), "headers": IdRefs, "rowspan": Between(0, 65_534),
            "scope": OneOf(&["row", "col", "rowgroup", "colgroup"]);
    "thead" "4.9.6" [] (Rows);
    "time" "4.5.14" [PHRASING] (Phrasing), with "datetime": Time;
    "title" "4.2.2" [METADATA] (Text);
    "tr" "4.9.8" [] (Cells);
    "track" "4.8.10" [] (Void), requires ["src"],
        with "default": Boolean, "kind": OneOf(&["subtitles", "captions", "descriptions", "chapters", "metadata"]),
            "label": NotEmpty, "src": Address, "srclang": Language;
    "u" "4.5.22" [PHRASING] (Phrasing);
    "ul" "4.4.6" [FLOW] (Items);
    "var" "4.5.16" [PHRASING] (Phrasing);
    "video" "4.8.8" [PHRASING EMBEDDED] (Transparent "source" "track"), when Has(&["controls"]) => [INTERACTIVE],
        excludes [MEDIA],
        with "autoplay": Boolean, "controls": Boolean,
            "controlslist": TokensOf(&["nodownload", "nofullscreen", "noremoteplayback"]), "crossorigin": CORS,
            "disablepictureinpicture": Boolean, "disableremoteplayback": Boolean, "height": Count, "loading": LOADING,
            "loop": Boolean, "muted": Boolean, "playsinline": Boolean, "poster": Address, "preload": PRELOAD_MEDIA,
            "src": Address, "width": Count;
    "wbr" "4.5.28" [PHRASING] (Void);
};
