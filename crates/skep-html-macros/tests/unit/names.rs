//! Unit tests of `names`.

use super::*;

#[test]
fn element_and_attribute_determine_the_context() {
    for (element, attribute, context) in [
        ("a", "href", OutputContext::Url(Url::Link)),
        ("a", "HREF", OutputContext::Url(Url::Link)),
        ("use", "xlink:href", OutputContext::Url(Url::Link)),
        ("img", "src", OutputContext::Url(Url::Media)),
        ("iframe", "src", OutputContext::CodeUrl),
        ("SCRIPT", "SRC", OutputContext::CodeUrl),
        ("script", "xlink:href", OutputContext::CodeUrl),
        ("base", "href", OutputContext::CodeUrl),
        ("p", "style", OutputContext::Style),
        ("p", "hx-trigger", OutputContext::Script),
        ("p", "data-hx-post", OutputContext::Url(Url::Link)),
        ("p", "sse-connect", OutputContext::Url(Url::Link)),
        ("img", "srcset", OutputContext::Url(Url::MediaSet)),
        ("object", "data", OutputContext::CodeUrl),
        ("time", "data", OutputContext::Attribute),
        ("iframe", "srcdoc", OutputContext::Document),
        ("p", "onclick", OutputContext::Script),
        ("p", "OnClick", OutputContext::Script),
        ("p", "@click", OutputContext::Script),
        ("p", "x-on:click.prevent", OutputContext::Script),
        ("p", "x-transition:enter", OutputContext::Attribute),
        ("p", "data-hx-on:click", OutputContext::Script),
        ("p", "data-hx-get", OutputContext::Url(Url::Link)),
        ("p", "hx-target", OutputContext::Attribute),
        ("p", "title", OutputContext::Attribute),
    ] {
        assert_eq!(attribute_context(element, attribute, |_| None), context, "{element} {attribute}");
    }
}

#[test]
fn a_link_loads_code_unless_its_rel_is_harmless() {
    let context = |rel: Option<&str>| attribute_context("link", "href", |_| rel.map(str::to_owned));
    for rel in [None, Some("stylesheet"), Some("alternate stylesheet"), Some("modulepreload"), Some("manifest")] {
        assert_eq!(context(rel), OutputContext::CodeUrl, "{rel:?}");
    }
    for rel in ["icon", "canonical", "Shortcut ICON", "alternate"] {
        assert_eq!(context(Some(rel)), OutputContext::Url(Url::Media), "{rel}");
    }
    let refresh = |kind: &str| attribute_context("meta", "content", |_| Some(kind.to_owned()));
    assert_eq!((refresh("Refresh"), refresh("x")), (OutputContext::CodeUrl, OutputContext::Attribute));
}

#[test]
fn a_literal_start_classifies_a_url() {
    assert_eq!(classify_url("/x", false, Url::Link), UrlVerdict::Safe);
    assert_eq!(classify_url("https:", false, Url::Link), UrlVerdict::Safe);
    assert_eq!(classify_url("java", false, Url::Link), UrlVerdict::Unknown);
    assert_eq!(classify_url("java", true, Url::Link), UrlVerdict::Safe);
    assert_eq!(classify_url(" \u{1}Java\tScript\n:x", false, Url::Link), UrlVerdict::Unsafe("javascript:"));
    assert_eq!(classify_url("data:image/png,", false, Url::Media), UrlVerdict::Safe);
    assert_eq!(classify_url("data:", false, Url::Media), UrlVerdict::Unknown);
    assert_eq!(classify_url("data:,", true, Url::Media), UrlVerdict::Safe);
    assert_eq!(classify_url("data:,", false, Url::Media), UrlVerdict::Unknown);
    assert_eq!(classify_url("data:,x", true, Url::Media), UrlVerdict::Unsafe("data:"));
    assert_eq!(classify_url("data:image/png,", false, Url::Link), UrlVerdict::Unsafe("data:"));
    assert_eq!(classify_url("/a 1x,\njavascript:x", true, Url::MediaSet), UrlVerdict::Unsafe("javascript:"));
    assert_eq!(classify_url("/a 1x, ", false, Url::MediaSet), UrlVerdict::Unknown);
}
