//! Sample values of each type.

use crate::standard::{Type, elements};

/// Valid and invalid values: the checkers decide which is which.
pub(super) fn samples(element: &str, attribute: &str, kind: Type) -> Vec<String> {
    if let Some(own) = of_attribute(element, attribute) {
        return own.iter().map(|value| (*value).to_owned()).collect();
    }
    let fixed: &[&str] = match kind {
        Type::OneOf(words) | Type::Exactly(words) => return words_of(words, "nonsense"),
        Type::TokensOf(words) | Type::ListOf(words) => return tokens_of(words),
        Type::Text | Type::NotEmpty | Type::Handler => &["x", ""],
        Type::Boolean => &["", "true", "false", attribute],
        Type::Count | Type::Positive => &["1", "0", "40", "-1", "1.5", "1px", "50%", "+1", ""],
        Type::Between(_, 8) => &["0", "8", "9", "-1", "x"],
        Type::Between(..) => &["1", "0", "1000", "1001", "65534", "65535", "70000", "-1", "1.5", ""],
        Type::Integer => &["0", "-1", "12", "1.5", "+1", "x", ""],
        Type::Float => &["0", "0.5", "-1", ".5", "1e3", "1.", "+1", "x", ""],
        Type::Size => &["1", "0.5", "0", "-1", "x", ""],
        Type::Step => &["1", "0.5", "any", "0", "-1", "x", ""],
        Type::Id => &["x", "x1", "", "x y"],
        Type::IdRef | Type::IdRefs | Type::IdList => &["there", "", "missing", "there there"],
        Type::Tokens | Type::Words => &["x", "x y", "x x", ""],
        Type::Url | Type::Address => &[
            "/x",
            "https://example.org/",
            "x?y=z#w",
            "https://[::1]:80/",
            "mailto:x@y.z",
            "",
            "/x y",
            "//",
            "http://[x",
            "http:x",
            "x|y",
            "x%2",
        ],
        Type::ItemTypes => &["https://schema.org/Person", "https://a.b/ https://c.d/", "x", ""],
        Type::Addresses => &["/x", "/x /y"],
        Type::ImageSet => &["/x 1x", "/x 1x, /y 2x", "/x 1x, /y 1x", "/x 1y", "/x 100w, /y 2x", "/x -1x", ""],
        Type::Moment => &["2026-09-16", "2026-09-16T12:30Z", "2026-09-31", "12:30", "tomorrow", ""],
        Type::Time => {
            &["2026-09-16", "12:30", "2026-09", "09-16", "2026", "2026-W38", "PT5M", "4h 3m", "2026-13", "noon"]
        }
        Type::Mime => &["text/html", "text/html; charset=utf-8", "text", "text/", ""],
        Type::Language | Type::LanguageOrNone => &["en", "de-AT", "zh-Hant-TW", "english_uk", "e", ""],
        Type::MapName => &["#the-map", "the-map", "#", "#missing"],
        Type::Keys => &["a", "a b", "ab", "a a", ""],
        Type::Target => &["_blank", "_top", "_SELF", "open", "_new", ""],
        Type::Window => &["open", "_self", "_x", ""],
        Type::Command => &["show-modal", "--mine", "nonsense", ""],
        Type::Custom => &["my-x", "x", "My-x", ""],
        Type::Integrity => &["sha256-x", "sha384-x sha512-y", "md5-x", "x"],
        Type::Autofill => &[
            "on",
            "off",
            "name",
            "email",
            "new-password",
            "cc-exp",
            "work tel",
            "work name",
            "section-x shipping street-address",
            "shipping billing name",
            "username webauthn",
            "nonsense",
            "on off",
        ],
        Type::Floats => &["0,0,1,1", "0,0", "1;2;3", "x", ""],
        Type::FileTypes => &["image/*", ".pdf", ".pdf, image/png", "pdf", "text/*", ""],
    };
    fixed.iter().map(|value| (*value).to_owned()).collect()
}

/// Samples for attributes whose type alone does not determine validity.
fn of_attribute(element: &str, attribute: &str) -> Option<&'static [&'static str]> {
    Some(match (element, attribute) {
        ("label", "for") => &["control", "missing", "there", ""],
        (_, "form") => &["the-form", "missing", "there", ""],
        ("input", "list") => &["the-list", "missing", "there", ""],
        ("td" | "th", "headers") => &["the-head", "missing", "there"],
        ("link", "rel") => &["stylesheet", "icon", "alternate", "nonsense", ""],
        ("script", "type") => &["module", "text/javascript", "application/json", "importmap", "speculationrules", ""],
        ("meter" | "progress", "value") => &["0", "0.5", "1", "-1", "2", "x", ""],
        ("img", "sizes") => &["100vw", "(width < 40em) 100vw, 50vw", "wide", ""],
        ("link" | "source", "sizes" | "imagesizes") => &["100vw", "16x16", "any"],
        (_, "media") => &["print", "(min-width: 40em)", "(("],
        (_, "style") => &["color: red", "color: rd", ""],
        (_, "pattern") => &["[a-z]+", "[", ""],
        ("meta", "content") => &["x", ""],
        ("iframe", "srcdoc") => &["<p>x</p>", "<p><div></div>", ""],
        ("iframe", "allow") => &["camera", "camera *; fullscreen", ""],
        ("input" | "textarea", "dirname") => &["x.dir", ""],
        _ => return None,
    })
}

fn words_of(words: &[&str], wrong: &str) -> Vec<String> {
    let capital = words.first().map(|word| word.to_ascii_uppercase());
    let right = words.iter().map(|word| (*word).to_owned());
    right.chain(capital).chain([wrong.to_owned(), String::new()]).collect()
}

fn tokens_of(words: &[&str]) -> Vec<String> {
    let pair = words.get(..2).map(|pair| pair.join(" "));
    let twice = words.first().map(|word| format!("{word} {word}"));
    words_of(words, "nonsense").into_iter().chain(pair).chain(twice).collect()
}

/// The types of `input`.
pub(super) fn input_types() -> impl Iterator<Item = &'static str> {
    elements::INPUT_TYPES.iter().copied()
}
