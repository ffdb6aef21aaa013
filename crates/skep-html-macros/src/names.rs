//! The meaning of element and attribute names: the escaping and checks that a value needs there.
//!
//! Sources: WHATWG HTML (13.1.2 elements, attributes index), SVG 2, and the documentation of htmx and Alpine.

use super::standard;

/// The context that a value is written in. It decides which values are accepted and how they are escaped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutputContext {
    /// Between tags.
    Text,
    /// In an element that contains text only.
    PlainText,
    /// In a `<script>` or `<style>`.
    Raw,
    /// In an attribute whose value is plain text.
    Attribute,
    Url(Url),
    /// In an attribute whose value is executed.
    Script,
    /// In a `style` attribute.
    Style,
    /// In the URL of something that the page executes or applies: a script, frame, style sheet, base URL, redirect.
    CodeUrl,
    /// In `srcdoc`.
    Document,
}

/// The use of a URL. Variants are named as in `skep_html::UrlPlace`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Url {
    Link,
    Media,
    MediaSet,
}

/// SVG elements that are usually empty: `;` is accepted instead of `{}`.
pub(crate) const EMPTY_SVG: &[&str] = words!(
    "animate animateMotion animateTransform circle ellipse feBlend feColorMatrix feComposite feDropShadow feFlood
     feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMergeNode feMorphology feOffset feTile feTurbulence
     image line mpath path polygon polyline rect set stop use view"
);

/// Elements whose content is code.
pub(crate) const RAW: &[&str] = &["script", "style"];

/// Elements whose content is text: a browser parses no tags in them.
pub(crate) const PLAIN: &[&str] = &["textarea", "title"];

/// Elements whose first line feed a browser ignores.
pub(crate) const DROPS_NEWLINE: &[&str] = &["pre", "textarea", "listing"];

pub(crate) const CONTROL: &[&str] = &["if", "else", "for", "while", "match", "let", "fields"];

const URLS: &[&str] = words!(
    "action background cite codebase dynsrc formaction href longdesc lowsrc manifest ping poster src xlink:href
     hx-delete hx-get hx-patch hx-post hx-push-url hx-put hx-replace-url sse-connect ws-connect"
);

/// Elements whose `src` or `href` is displayed or played, not executed.
const MEDIA: &[&str] = &["audio", "feimage", "image", "img", "input", "link", "source", "track", "video"];

/// Attributes of htmx and hyperscript that are code, or text that may contain code: `hx-trigger="click[code]"`,
/// `hx-vals="js:code"`.
const SCRIPTS: &[&str] = words!("_ hx-headers hx-request hx-sse hx-trigger hx-vals hx-vars hx-ws");

/// Words of `rel` whose `link` neither applies nor preloads what it names.
const INERT_LINKS: &[&str] = words!(
    "alternate apple-touch-icon author bookmark canonical dns-prefetch help icon license mask-icon me next pingback
     preconnect prev privacy-policy search shortcut tag terms-of-service"
);

/// Attributes of Alpine that are not code.
const ALPINE_TEXT: &[&str] = &["x-cloak", "x-ignore", "x-ref", "x-teleport"];

/// Is the case of this element name valid? Only SVG has capital letters.
pub(crate) fn is_well_cased(element: &str) -> bool {
    !element.contains(|letter: char| letter.is_ascii_uppercase()) || standard::foreign::is_foreign(element)
}

pub(crate) fn content_context(element: &str) -> OutputContext {
    if RAW.contains(&element) {
        OutputContext::Raw
    } else if PLAIN.contains(&element) {
        OutputContext::PlainText
    } else {
        OutputContext::Text
    }
}

/// The context of an attribute. `literal` returns the value of another attribute of the element, if it is literal.
/// Browsers ignore the case of names.
pub(crate) fn attribute_context(
    element: &str,
    attribute: &str,
    literal: impl Fn(&str) -> Option<String>,
) -> OutputContext {
    let attribute = attribute.to_ascii_lowercase();
    let extension =
        attribute.strip_prefix("data-").filter(|name| EXTENSIONS.iter().any(|start| name.starts_with(start)));
    let (element, attribute) = (element.to_ascii_lowercase(), extension.unwrap_or(&attribute));
    if loads_code(&element, attribute, literal) {
        return OutputContext::CodeUrl;
    }
    let element = element.as_str();
    match attribute {
        "style" => OutputContext::Style,
        "srcdoc" => OutputContext::Document,
        "srcset" | "imagesrcset" => OutputContext::Url(Url::MediaSet),
        name if is_script(name) => OutputContext::Script,
        name if URLS.contains(&name) => OutputContext::Url(url_kind(element, name)),
        _ => OutputContext::Attribute,
    }
}

/// Prefixes of attributes of htmx, which may follow `data-`.
const EXTENSIONS: [&str; 3] = ["hx-", "sse-", "ws-"];

fn loads_code(element: &str, attribute: &str, literal: impl Fn(&str) -> Option<String>) -> bool {
    match (element, attribute) {
        ("script" | "iframe" | "frame" | "embed", "src")
        | ("object", "data" | "codebase")
        | ("base" | "script", "href" | "xlink:href") => true,
        // Without a literal `rel` it may be a style sheet; with `itemprop` alone it is only data.
        ("link", "href") => match literal("rel") {
            Some(rel) => !rel.to_ascii_lowercase().split_ascii_whitespace().all(|word| INERT_LINKS.contains(&word)),
            None => literal("itemprop").is_none(),
        },
        ("meta", "content") => literal("http-equiv").is_some_and(|kind| kind.eq_ignore_ascii_case("refresh")),
        _ => false,
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

/// The result of classifying the literal start of a URL.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum UrlVerdict {
    Safe,
    /// Contains the forbidden scheme.
    Unsafe(&'static str),
    /// The scheme is not part of the literal.
    Unknown,
}

/// Classifies the start of a URL; `complete` means that nothing follows. `skep-html` applies the same rules at run
/// time.
pub(crate) fn classify_url(start: &str, complete: bool, url: Url) -> UrlVerdict {
    if url == Url::MediaSet {
        let is_break = |letter: char| letter == ',' || letter.is_ascii_whitespace();
        let unsafe_url = start.split(is_break).map(|candidate| classify_url(candidate, true, Url::Media));
        let unsafe_url = unsafe_url.into_iter().find(|verdict| matches!(verdict, UrlVerdict::Unsafe(_)));
        return unsafe_url.unwrap_or(if complete { UrlVerdict::Safe } else { UrlVerdict::Unknown });
    }
    let clean: String = start.chars().filter(|&letter| letter > ' ').collect::<String>().to_ascii_lowercase();
    let Some((scheme, rest)) = clean.split_once(':') else {
        let is_decided = clean.contains(['/', '?', '#', '.']);
        return if complete || is_decided { UrlVerdict::Safe } else { UrlVerdict::Unknown };
    };
    match scheme {
        "javascript" => UrlVerdict::Unsafe("javascript:"),
        "vbscript" => UrlVerdict::Unsafe("vbscript:"),
        "data" if url == Url::Media => classify_media(rest, complete),
        "data" => UrlVerdict::Unsafe("data:"),
        _ => UrlVerdict::Safe,
    }
}

fn classify_media(kind: &str, complete: bool) -> UrlVerdict {
    match kind.split_once('/') {
        // `data:,` is empty: a page writes it to say that it has no icon.
        None if complete && kind == "," => UrlVerdict::Safe,
        Some(("image" | "audio" | "video" | "font", _)) => UrlVerdict::Safe,
        None if !complete => UrlVerdict::Unknown,
        _ => UrlVerdict::Unsafe("data:"),
    }
}

#[cfg(test)]
#[path = "../tests/unit/names.rs"]
mod tests;
