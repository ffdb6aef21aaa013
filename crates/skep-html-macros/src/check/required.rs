//! Checks attributes that are required or forbidden because of other attributes or the position of the element.
//!
//! Nothing is reported as missing if there is an attribute splice, which may add it.

use super::super::ast::Body;
use super::super::diagnostic::Diagnostic;
use super::super::names::{self, Url, UrlVerdict};
use super::super::standard::{Type, input};
use super::children::children;
use super::facts::{Facts, OpenElement, Presence};

pub(super) fn check<'t>(facts: Facts<'t>, open_elements: &[OpenElement<'t>], diagnostics: &mut Vec<Diagnostic>) {
    let Some(rules) = facts.rules else { return };
    let mut checker = Checker { facts, open_elements, diagnostics };
    for attribute in rules.required {
        checker.require(attribute);
    }
    match rules.name {
        "a" => checker.link_without_href(),
        "area" => checker.area(),
        "base" => checker.require_one_of(&["href", "target"]),
        "button" => checker.button(),
        "dialog" => checker.forbid(&["tabindex"], "a dialog takes the focus by itself"),
        "img" => checker.image(),
        "input" => checker.input(),
        "li" => checker.item(),
        "link" => checker.link(),
        "meta" => checker.meta(),
        "meter" => checker.ordered(&["min", "low", "high", "max"], &["value", "low", "high", "optimum"]),
        "optgroup" => checker.option_group(),
        "progress" => checker.ordered(&["max"], &["value"]),
        "script" => checker.script(),
        "source" => checker.source(),
        "textarea" => checker.textarea(),
        "track" => checker.track(),
        _ => {}
    }
    checker.microdata();
}

struct Checker<'t, 'd> {
    facts: Facts<'t>,
    open_elements: &'d [OpenElement<'t>],
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'t> Checker<'t, '_> {
    fn name(&self) -> &str {
        self.facts.name()
    }

    fn is_missing(&self, attribute: &str) -> bool {
        self.facts.has(attribute) == Presence::No
    }

    fn is_there(&self, attribute: &str) -> bool {
        self.facts.has(attribute) == Presence::Yes
    }

    fn report(&mut self, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::on(&self.facts.element.name, message));
    }

    fn report_on(&mut self, attribute: &str, message: impl Into<String>) {
        let name = self.facts.attribute(attribute).unwrap_or(&self.facts.element.name);
        self.diagnostics.push(Diagnostic::on(name, message));
    }

    fn require(&mut self, attribute: &str) {
        if self.is_missing(attribute) {
            self.report(format!("`{}` needs the attribute `{attribute}`", self.name()));
        }
    }

    fn require_one_of(&mut self, attributes: &[&str]) {
        if attributes.iter().all(|attribute| self.is_missing(attribute)) {
            self.report(format!("`{}` needs one of the attributes {}", self.name(), super::content::list(attributes)));
        }
    }

    /// Reports the attributes that are present.
    fn forbid(&mut self, attributes: &[&str], reason: &str) {
        let facts = self.facts;
        for attribute in attributes.iter().filter(|attribute| facts.has(attribute) == Presence::Yes) {
            let message = format!("`{attribute}` is not allowed on this `{}`: {reason}", self.name());
            self.report_on(attribute, message);
        }
    }

    fn parent(&self) -> Option<Facts<'t>> {
        self.open_elements.last().map(|open| open.facts)
    }

    /// 4.5.1.
    fn link_without_href(&mut self) {
        if self.is_missing("href") {
            let attributes = ["target", "download", "ping", "rel", "hreflang", "type", "referrerpolicy"];
            self.forbid(&attributes, "it describes a link, and without `href` this is not a link");
        }
    }

    fn area(&mut self) {
        self.link_without_href();
        if self.is_there("href") && self.is_missing("alt") {
            self.report("`area` with `href` needs an `alt`: the text of this link");
        }
        if self.is_missing("href") {
            self.forbid(&["alt"], "without `href` the area is not a link");
        }
        self.shape();
        let is_page = self.open_elements.first().is_some_and(|open| open.facts.name() == "html");
        if is_page && !self.open_elements.iter().any(|open| matches!(open.facts.name(), "map" | "template")) {
            self.report("`area` belongs in a `map`");
        }
    }

    /// 4.8.13: the number of `coords`. Without `shape` it is a rectangle.
    fn shape(&mut self) {
        let is_unsaid = self.is_missing("shape");
        let written = self.facts.literal("shape").map(|shape| shape.to_ascii_lowercase());
        let Some(shape) = written.or_else(|| is_unsaid.then(|| "rect".to_owned())) else { return };
        let numbers = self.facts.literal("coords").map(|coords| coords.split(',').count());
        let message = match (shape.as_str(), numbers) {
            ("default", Some(_)) => "`shape=\"default\"` is all of the image: leave `coords` out",
            ("circle", Some(numbers)) if numbers != 3 => "a circle has three `coords`: x, y and radius",
            ("poly", Some(numbers)) if numbers < 6 || numbers % 2 != 0 => {
                "a polygon has at least three points in `coords`, each an x and a y"
            }
            ("rect", Some(numbers)) if numbers != 4 => "a rectangle has four `coords`: left, top, right, bottom",
            (_, None) if !self.is_missing("coords") => return,
            ("rect", None) if is_unsaid => "`area` needs `coords`, or `shape=\"default\"`",
            ("circle" | "poly" | "rect", None) => "this shape needs `coords`",
            _ => return,
        };
        self.report(message);
    }

    /// 4.10.6: only submit buttons send a form.
    fn button(&mut self) {
        let kind = self.facts.literal("type").map(|kind| kind.to_ascii_lowercase());
        if matches!(kind.as_deref(), Some("reset" | "button")) {
            let attributes = ["formaction", "formenctype", "formmethod", "formnovalidate", "formtarget"];
            self.forbid(&attributes, "this button does not submit a form");
        }
    }

    /// 4.8.3, 4.8.4.4: `alt` may be missing if a title or caption describes the image.
    fn image(&mut self) {
        self.require_one_of(&["src", "srcset"]);
        let is_captioned =
            self.open_elements.iter().any(|open| open.facts.name() == "figure" && has_caption(open.facts));
        let is_titled = self.facts.has("title") != Presence::No
            && self.facts.literal("title").is_none_or(|title| !title.is_empty());
        if self.is_missing("alt") && !is_captioned && !is_titled {
            self.report("`img` needs an `alt`: text that replaces the image, or `alt=\"\"` if it is decorative");
        }
        let is_link = |open: &OpenElement<'_>| open.facts.name() == "a" && open.facts.has("href") != Presence::No;
        if self.is_there("ismap") && !self.open_elements.is_empty() && !self.open_elements.iter().any(is_link) {
            let reason = "it sends the position of a click on a link, and no `a` with `href` contains this image";
            self.forbid(&["ismap"], reason);
        }
        if self.is_missing("srcset") {
            self.forbid(&["sizes"], "it chooses from `srcset`");
        }
        let Some(set) = self.facts.literal("srcset") else { return };
        let has_widths = set.split(',').any(|image| image.trim_ascii().ends_with('w'));
        if !has_widths {
            self.forbid(&["sizes"], "it chooses by width, as in `srcset=\"/a 100w, /b 200w\"`");
        } else if self.is_missing("sizes") && self.is_missing("loading") {
            self.report("`img` with widths in `srcset` needs `sizes`: how wide it is shown");
        }
    }

    fn input(&mut self) {
        let kind = self.facts.literal("type").unwrap_or_default().to_ascii_lowercase();
        match kind.as_str() {
            "image" => {
                self.require("src");
                self.require("alt");
                self.forbid(&["value"], "an image button sends where it was clicked");
            }
            "file" => self.forbid(&["value"], "the user chooses the file"),
            "hidden" => {
                let turns = self.facts.literal("autocomplete").map(|words| words.trim_ascii().to_ascii_lowercase());
                if matches!(turns.as_deref(), Some("on" | "off")) {
                    self.forbid(&["autocomplete"], "the user does not fill in a hidden field");
                }
            }
            "button" if self.is_missing("value") => {
                self.report("`input` with `type=\"button\"` needs a `value`: its label");
            }
            _ => {}
        }
        self.typed_value(&kind);
        self.lengths();
        self.bounds(&kind);
    }

    /// 4.10.5.1: the syntax of values by type.
    fn typed_value(&mut self, kind: &str) {
        for attribute in ["value", "min", "max"] {
            // An empty `value` is allowed; an empty bound is not.
            let is_bound = attribute != "value" && input::types(attribute).is_some_and(|types| types.contains(&kind));
            let found = self.facts.literal(attribute).filter(|value| is_bound || kind == "range" || !value.is_empty());
            let Some(value) = found else { continue };
            if let Some(allowed) = super::value::of_input(kind, &value) {
                let message = format!(
                    "`{value}` is not a valid {attribute} of an `input` with `type=\"{kind}\"`: expected {allowed}"
                );
                self.report_on(attribute, message);
            }
        }
    }

    fn lengths(&mut self) {
        let length = |name: &str| self.facts.literal(name).and_then(|length| length.parse::<u64>().ok());
        if let (Some(least), Some(most)) = (length("minlength"), length("maxlength"))
            && least > most
        {
            self.report_on("minlength", format!("`minlength` is {least} and `maxlength` {most}: no text fits"));
        }
    }

    /// 4.10.5.3.7. Ranges of `time` may cross midnight.
    fn bounds(&mut self, kind: &str) {
        let (Some(least), Some(most)) = (self.facts.literal("min"), self.facts.literal("max")) else { return };
        let is_empty = match kind {
            "number" | "range" => {
                matches!((least.parse::<f64>(), most.parse::<f64>()), (Ok(least), Ok(most)) if least > most)
            }
            // Values of the same length compare as text; years of five digits are not checked.
            "date" | "month" | "week" | "datetime-local" => least.len() == most.len() && least > most,
            _ => false,
        };
        if is_empty {
            self.report_on("min", format!("`min` is {least} and `max` {most}: no value is between"));
        }
    }

    /// 4.4.8.
    fn item(&mut self) {
        if self.parent().is_some_and(|parent| matches!(parent.name(), "ul" | "menu")) {
            self.forbid(&["value"], "only the items of an `ol` have numbers");
        }
    }

    /// 4.2.4.
    fn link(&mut self) {
        self.require_one_of(&["href", "imagesrcset"]);
        self.require_one_of(&["rel", "itemprop"]);
        if self.is_there("rel") && self.is_there("itemprop") {
            self.forbid(&["itemprop"], "a `link` has `rel` or `itemprop`, not both");
        }
        let Some(rel) = self.facts.literal("rel").map(|rel| rel.to_ascii_lowercase()) else { return };
        let has = |word: &str| rel.split_ascii_whitespace().any(|token| token == word);
        if has("preload") && self.is_missing("as") {
            self.report("`link` with `rel=\"preload\"` needs `as`: what it loads, such as `as=\"font\"`");
        }
        for (attribute, owner, another) in [
            ("as", "preload", "modulepreload"),
            ("imagesrcset", "preload", ""),
            ("imagesizes", "preload", ""),
            ("sizes", "icon", "apple-touch-icon"),
            ("color", "mask-icon", ""),
            ("disabled", "stylesheet", ""),
        ] {
            if !has(owner) && !has(another) {
                self.forbid(&[attribute], &format!("it belongs to `rel=\"{owner}\"`"));
            }
        }
    }

    /// 4.2.5.
    fn meta(&mut self) {
        let kinds = ["name", "http-equiv", "charset", "itemprop", "property"];
        self.require_one_of(&kinds);
        let there: Vec<&str> = kinds.into_iter().filter(|kind| self.is_there(kind)).collect();
        // `property` of RDFa may accompany the others.
        let strict: Vec<&str> = there.iter().copied().filter(|kind| *kind != "property").collect();
        if let [first, second, ..] = strict.as_slice() {
            let kinds = "`name`, `http-equiv`, `charset` and `itemprop`";
            self.report_on(second, format!("`meta` has one of {kinds}, and this one has `{first}`"));
        }
        if there == ["charset"] {
            self.forbid(&["content"], "`charset` needs no `content`");
        } else if !there.is_empty() && self.is_missing("content") {
            self.report(format!("`meta` with `{}` needs a `content`", there[0]));
        }
        if self.facts.literal("name").is_some_and(|name| !name.eq_ignore_ascii_case("theme-color")) {
            self.forbid(&["media"], "it belongs to `name=\"theme-color\"`");
        }
        self.refresh();
    }

    /// 4.2.5.3: seconds, optionally with a URL.
    fn refresh(&mut self) {
        let is_refresh = self.facts.literal("http-equiv").is_some_and(|kind| kind.eq_ignore_ascii_case("refresh"));
        let Some(content) = self.facts.literal("content").filter(|_| is_refresh) else { return };
        let (seconds, address) = content.split_once(';').map_or((content.as_str(), None), |(seconds, address)| {
            let (name, url) = address.trim_ascii_start().split_once('=').unwrap_or_default();
            (seconds, Some(url).filter(|_| name.trim_ascii_end().eq_ignore_ascii_case("url")))
        });
        let has_seconds = !seconds.is_empty() && seconds.bytes().all(|digit| digit.is_ascii_digit());
        let goes = address.is_some() || !content.contains(';');
        if !has_seconds || !goes {
            let message = "`content` of a refresh must be seconds, or seconds and a URL: `5; url=/next`";
            return self.report_on("content", message);
        }
        let Some(url) = address.map(str::trim_ascii) else { return };
        if let UrlVerdict::Unsafe(scheme) = names::classify_url(url.trim_matches(['"', '\'']), true, Url::Link) {
            self.report_on("content", format!("a `{scheme}` URL runs code: a refresh leads to a page"));
        } else if url.starts_with(['"', '\'']) || super::value::expected_instead(Type::Address, url).is_some() {
            let message = format!("`{url}` is not a valid URL, or is in quotes, which are not allowed here");
            self.report_on("content", message);
        }
    }

    /// 4.10.9: a label, or a `legend` child.
    fn option_group(&mut self) {
        let Body::Nodes(nodes, _) = &self.facts.element.body else { return };
        let is_labelled = children(nodes).iter().any(|child| child.name() == "legend" || child.element().is_none());
        if self.is_missing("label") && !is_labelled {
            self.report("`optgroup` needs a `label`: write `label=\"...\"`, or a `legend` inside");
        }
    }

    /// 4.10.13, 4.10.14: `names` are in ascending order, and `inside` lie between the bounds.
    fn ordered(&mut self, names: &[&str], inside: &[&str]) {
        let facts = self.facts;
        let number = |name: &str| facts.literal(name).and_then(|number| number.parse::<f64>().ok());
        let numbers: Vec<(&str, f64)> = names.iter().filter_map(|name| Some((*name, number(name)?))).collect();
        if let Some([(low, _), (high, _)]) = numbers.array_windows().find(|[low, high]| low.1 > high.1) {
            return self.report_on(low, format!("`{low}` is greater than `{high}`"));
        }
        let bound = |name: &str, default: f64| if self.is_missing(name) { Some(default) } else { number(name) };
        let (least, most) = (bound("min", 0.0), bound("max", 1.0));
        for name in inside {
            let Some(number) = number(name) else { continue };
            if least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most) {
                let range = format!("{} to {}", least.unwrap_or_default(), most.unwrap_or_default());
                self.report_on(name, format!("`{name}` is {number}, outside its range {range}: write `min` and `max`"));
                return;
            }
        }
    }

    /// 4.12.1: attributes of external or classic scripts.
    fn script(&mut self) {
        let kind = self.facts.literal("type").map(|kind| kind.trim_ascii().to_ascii_lowercase());
        let is_classic = self.is_missing("type") || matches!(kind.as_deref(), Some("" | "text/javascript"));
        if self.is_missing("src") {
            let external: &[&str] = if is_classic { &["async", "defer", "blocking", "fetchpriority"] } else { &[] };
            self.forbid(external, "it belongs to a `script` with `src`");
            return self.forbid(&["integrity"], "it belongs to a `script` with `src`");
        }
        match kind.as_deref() {
            Some("module") => {
                self.forbid(&["defer"], "a module is always deferred");
                self.forbid(&["nomodule"], "it is for browsers without modules");
            }
            Some("importmap" | "speculationrules") => self.forbid(&["src"], "an import map must be inline"),
            _ => {}
        }
    }

    /// 4.8.2: the attributes depend on the parent.
    fn source(&mut self) {
        match self.parent().map(|parent| parent.name()) {
            Some("picture") if self.is_there("src") => self.forbid(&["src"], "in `picture` it is written `srcset`"),
            Some("picture") => self.require("srcset"),
            Some("audio" | "video") if self.is_there("srcset") => {
                self.forbid(&["srcset"], "in `audio` and `video` it is written `src`");
            }
            Some("audio" | "video") => {
                self.require("src");
                self.forbid(&["sizes", "width", "height"], "it belongs to a `source` in `picture`");
            }
            _ => {}
        }
    }

    fn textarea(&mut self) {
        self.lengths();
        let is_hard = self.facts.literal("wrap").is_some_and(|wrap| wrap.eq_ignore_ascii_case("hard"));
        if is_hard && self.is_missing("cols") {
            self.report("`textarea` with `wrap=\"hard\"` needs `cols`: where it breaks lines");
        }
    }

    fn track(&mut self) {
        let is_subtitles = self.is_missing("kind")
            || self.facts.literal("kind").is_some_and(|kind| kind.eq_ignore_ascii_case("subtitles"));
        if is_subtitles && self.is_missing("srclang") {
            self.report("`track` with subtitles needs `srclang`: their language");
        }
    }

    /// 5.2.2: attributes of items.
    fn microdata(&mut self) {
        if self.is_missing("itemscope") {
            self.forbid(&["itemtype", "itemref"], "it belongs to an element with `itemscope`");
        }
        if self.is_missing("itemscope") || self.is_missing("itemtype") {
            self.forbid(&["itemid"], "it belongs to an element with `itemscope` and `itemtype`");
        }
    }
}

/// May there be a `figcaption`?
fn has_caption(figure: Facts<'_>) -> bool {
    let Body::Nodes(nodes, _) = &figure.element.body else { return false };
    children(nodes).iter().any(|child| child.is_splice() || child.name() == "figcaption")
}
