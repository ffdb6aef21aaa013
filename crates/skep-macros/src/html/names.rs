//! What HTML calls its elements and attributes, and what an attribute's value is for.
//!
//! Sources: WHATWG HTML (13.1.2 elements, attributes index), SVG 2, and the documentation of htmx and Alpine.

use super::standard;

/// Where a value stands, which decides what may stand there and how it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// Between tags.
    Text,
    /// In an element that holds text only.
    PlainText,
    /// In a `<script>` or `<style>`.
    Raw,
    /// In an attribute that is just text.
    Attribute,
    Url(Url),
    /// In an attribute that is run as code.
    Script,
    /// In `srcdoc`.
    Document,
}

/// What a URL is for. Has the names of `skep::html::UrlPlace`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Url {
    Link,
    Media,
    MediaSet,
}

/// Elements of SVG whose content is usually nothing: here `;` stands for `{}`.
const EMPTY_SVG: &[&str] = &[
    "animate",
    "animateMotion",
    "animateTransform",
    "circle",
    "ellipse",
    "feBlend",
    "feColorMatrix",
    "feComposite",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feImage",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "feTile",
    "feTurbulence",
    "image",
    "line",
    "mpath",
    "path",
    "polygon",
    "polyline",
    "rect",
    "set",
    "stop",
    "use",
    "view",
];

/// Elements whose content is code.
pub(crate) const RAW: &[&str] = &["script", "style"];

/// Elements whose content is text, in which a browser sees no tags.
pub(crate) const PLAIN: &[&str] = &["textarea", "title"];

/// Elements whose first line feed a browser drops.
pub(crate) const DROPS_NEWLINE: &[&str] = &["pre", "textarea", "listing"];

pub(crate) const CONTROL: &[&str] = &["if", "else", "for", "while", "match", "let"];

const URLS: &[&str] = &[
    "action",
    "background",
    "cite",
    "codebase",
    "dynsrc",
    "formaction",
    "href",
    "hx-get",
    "longdesc",
    "lowsrc",
    "manifest",
    "ping",
    "poster",
    "src",
    "xlink:href",
];

/// Elements whose `src` or `href` is looked at or listened to, not run.
const MEDIA: &[&str] = &["audio", "feimage", "image", "img", "input", "link", "source", "track", "video"];

/// Attributes of htmx and hyperscript that are code, or JSON that may become code.
const SCRIPTS: &[&str] = &["_", "hx-headers", "hx-request", "hx-vals", "hx-vars"];

/// Attributes of Alpine that are no code.
const ALPINE_TEXT: &[&str] = &["x-cloak", "x-ignore", "x-ref", "x-teleport"];

pub(crate) fn may_be_empty(element: &str) -> bool {
    EMPTY_SVG.contains(&element)
}

/// Is this the name of an element, as to its letters? Capital ones are for SVG only.
pub(crate) fn is_well_cased(element: &str) -> bool {
    !element.contains(|letter: char| letter.is_ascii_uppercase()) || standard::foreign::is_foreign(element)
}

pub(crate) fn content_place(element: &str) -> Place {
    if RAW.contains(&element) {
        Place::Raw
    } else if PLAIN.contains(&element) {
        Place::PlainText
    } else {
        Place::Text
    }
}

/// What the attribute is for. Its name may be in capital letters: a browser does not mind.
pub(crate) fn attribute_place(element: &str, attribute: &str) -> Place {
    let attribute = attribute.to_ascii_lowercase();
    let attribute = attribute.strip_prefix("data-hx-").map_or(attribute.clone(), |name| format!("hx-{name}"));
    match attribute.as_str() {
        "srcdoc" => Place::Document,
        "srcset" | "imagesrcset" => Place::Url(Url::MediaSet),
        "data" if element == "object" => Place::Url(Url::Link),
        name if is_script(name) => Place::Script,
        name if URLS.contains(&name) => Place::Url(url_kind(element, name)),
        _ => Place::Attribute,
    }
}

fn url_kind(element: &str, attribute: &str) -> Url {
    let is_source = matches!(attribute, "src" | "href" | "xlink:href");
    let is_media = matches!(attribute, "poster" | "background" | "lowsrc" | "dynsrc")
        || is_source && MEDIA.contains(&element.to_ascii_lowercase().as_str());
    if is_media { Url::Media } else { Url::Link }
}

fn is_script(attribute: &str) -> bool {
    let is_alpine = attribute.starts_with("x-") || attribute.starts_with("v-");
    let is_alpine_text = ALPINE_TEXT.contains(&attribute) || attribute.starts_with("x-transition");
    attribute.starts_with("on")
        || attribute.starts_with(['@', ':'])
        || attribute.starts_with("hx-on")
        || SCRIPTS.contains(&attribute)
        || is_alpine && !is_alpine_text
}

/// What a literal at the start of a URL tells about the whole.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Harmless,
    /// With the scheme that is refused.
    Refused(&'static str),
    /// The scheme, if there is one, comes later.
    Unknown,
}

/// Judges the start of a URL: `complete` says that nothing follows. At run time `skep::html` judges by the same rules.
pub(crate) fn judge(start: &str, complete: bool, url: Url) -> Verdict {
    if url == Url::MediaSet {
        let is_break = |letter: char| letter == ',' || letter.is_ascii_whitespace();
        let refused = start.split(is_break).map(|candidate| judge(candidate, true, Url::Media));
        let refused = refused.into_iter().find(|verdict| matches!(verdict, Verdict::Refused(_)));
        return refused.unwrap_or(if complete { Verdict::Harmless } else { Verdict::Unknown });
    }
    let clean: String = start.chars().filter(|&letter| letter > ' ').collect::<String>().to_ascii_lowercase();
    let Some((scheme, rest)) = clean.split_once(':') else {
        let is_decided = clean.contains(['/', '?', '#', '.']);
        return if complete || is_decided { Verdict::Harmless } else { Verdict::Unknown };
    };
    match scheme {
        "javascript" => Verdict::Refused("javascript:"),
        "vbscript" => Verdict::Refused("vbscript:"),
        "data" if url == Url::Media => judge_media(rest, complete),
        "data" => Verdict::Refused("data:"),
        _ => Verdict::Harmless,
    }
}

fn judge_media(kind: &str, complete: bool) -> Verdict {
    match kind.split_once('/') {
        // Empty, which is how a page says that it has no icon.
        None if complete && kind == "," => Verdict::Harmless,
        Some(("image" | "audio" | "video" | "font", _)) => Verdict::Harmless,
        None if !complete => Verdict::Unknown,
        _ => Verdict::Refused("data:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_follows_from_element_and_attribute() {
        for (element, attribute, place) in [
            ("a", "href", Place::Url(Url::Link)),
            ("a", "HREF", Place::Url(Url::Link)),
            ("use", "xlink:href", Place::Url(Url::Link)),
            ("img", "src", Place::Url(Url::Media)),
            ("iframe", "src", Place::Url(Url::Link)),
            ("img", "srcset", Place::Url(Url::MediaSet)),
            ("object", "data", Place::Url(Url::Link)),
            ("time", "data", Place::Attribute),
            ("iframe", "srcdoc", Place::Document),
            ("p", "onclick", Place::Script),
            ("p", "OnClick", Place::Script),
            ("p", "@click", Place::Script),
            ("p", "x-on:click.prevent", Place::Script),
            ("p", "x-transition:enter", Place::Attribute),
            ("p", "data-hx-on:click", Place::Script),
            ("p", "data-hx-get", Place::Url(Url::Link)),
            ("p", "hx-target", Place::Attribute),
            ("p", "title", Place::Attribute),
        ] {
            assert_eq!(attribute_place(element, attribute), place, "{element} {attribute}");
        }
    }

    #[test]
    fn a_literal_start_decides_where_it_can() {
        assert_eq!(judge("/x", false, Url::Link), Verdict::Harmless);
        assert_eq!(judge("https:", false, Url::Link), Verdict::Harmless);
        assert_eq!(judge("java", false, Url::Link), Verdict::Unknown);
        assert_eq!(judge("java", true, Url::Link), Verdict::Harmless);
        assert_eq!(judge(" \u{1}Java\tScript\n:x", false, Url::Link), Verdict::Refused("javascript:"));
        assert_eq!(judge("data:image/png,", false, Url::Media), Verdict::Harmless);
        assert_eq!(judge("data:", false, Url::Media), Verdict::Unknown);
        assert_eq!(judge("data:,", true, Url::Media), Verdict::Harmless);
        assert_eq!(judge("data:,", false, Url::Media), Verdict::Unknown);
        assert_eq!(judge("data:,x", true, Url::Media), Verdict::Refused("data:"));
        assert_eq!(judge("data:image/png,", false, Url::Link), Verdict::Refused("data:"));
        assert_eq!(judge("/a 1x,\njavascript:x", true, Url::MediaSet), Verdict::Refused("javascript:"));
        assert_eq!(judge("/a 1x, ", false, Url::MediaSet), Verdict::Unknown);
    }
}
