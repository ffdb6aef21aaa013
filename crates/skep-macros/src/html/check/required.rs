//! Attributes that an element must have, or must not have, for what else it has or where it stands.
//!
//! Nothing is missed on an element with an attribute splice: the value may bring it.

use super::super::ast::Body;
use super::super::diagnostic::Diagnostic;
use super::super::names::{self, Url, Verdict};
use super::super::standard::{Type, input};
use super::facts::{Facts, Presence};
use super::kids::kids;
use super::walk::Frame;

pub(super) fn check<'t>(facts: Facts<'t>, frames: &[Frame<'t>], diagnostics: &mut Vec<Diagnostic>) {
    let Some(rules) = facts.rules else { return };
    let mut judge = Judge { facts, frames, diagnostics };
    for attribute in rules.required {
        judge.needs(attribute);
    }
    match rules.name {
        "a" => judge.link_without_href(),
        "area" => judge.area(),
        "base" => judge.one_of(&["href", "target"]),
        "button" => judge.button(),
        "dialog" => judge.never("tabindex", "a dialog takes the focus by itself"),
        "img" => judge.image(),
        "input" => judge.input(),
        "li" => judge.item(),
        "link" => judge.link(),
        "meta" => judge.meta(),
        "meter" => judge.ordered(&["min", "low", "high", "max"], &["value", "low", "high", "optimum"]),
        "optgroup" => judge.option_group(),
        "progress" => judge.ordered(&["max"], &["value"]),
        "script" => judge.script(),
        "select" => judge.select(),
        "source" => judge.source(),
        "textarea" => judge.textarea(),
        "track" => judge.track(),
        _ => {}
    }
    judge.microdata();
}

struct Judge<'t, 'd> {
    facts: Facts<'t>,
    frames: &'d [Frame<'t>],
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'t> Judge<'t, '_> {
    fn name(&self) -> &str {
        self.facts.name()
    }

    fn is_missing(&self, attribute: &str) -> bool {
        self.facts.has(attribute) == Presence::No
    }

    fn is_there(&self, attribute: &str) -> bool {
        self.facts.has(attribute) == Presence::Yes
    }

    fn say(&mut self, message: String) {
        self.diagnostics.push(Diagnostic::on(&self.facts.element.name, message));
    }

    fn say_at(&mut self, attribute: &str, message: String) {
        let name = self.facts.attribute(attribute).unwrap_or(&self.facts.element.name);
        self.diagnostics.push(Diagnostic::on(name, message));
    }

    fn needs(&mut self, attribute: &str) {
        if self.is_missing(attribute) {
            self.say(format!("`{}` needs the attribute `{attribute}`", self.name()));
        }
    }

    fn one_of(&mut self, attributes: &[&str]) {
        if attributes.iter().all(|attribute| self.is_missing(attribute)) {
            self.say(format!("`{}` needs one of the attributes {}", self.name(), super::content::list(attributes)));
        }
    }

    /// With a reason.
    fn never(&mut self, attribute: &str, reason: &str) {
        if self.is_there(attribute) {
            self.say_at(attribute, format!("`{}` takes no `{attribute}` here: {reason}", self.name()));
        }
    }

    fn parent(&self) -> Option<Facts<'t>> {
        self.frames.last().map(|frame| frame.facts)
    }

    /// 4.5.1.
    fn link_without_href(&mut self) {
        if !self.is_missing("href") {
            return;
        }
        for attribute in ["target", "download", "ping", "rel", "hreflang", "type", "referrerpolicy"] {
            self.never(attribute, "it says something of a link, and without `href` this is none");
        }
    }

    fn area(&mut self) {
        self.link_without_href();
        if self.is_there("href") && self.is_missing("alt") {
            self.say("`area` with `href` needs an `alt`: the text of this link".into());
        }
        if self.is_missing("href") {
            self.never("alt", "without `href` the area is no link");
        }
        let shape = self.facts.literal("shape").map(|shape| shape.to_ascii_lowercase());
        let coords = self.facts.literal("coords").map(|coords| coords.split(',').count());
        let is_rect = shape.is_none() && self.is_missing("shape");
        let wrong = match (shape.as_deref(), coords) {
            (Some("default"), Some(_)) => Some("`shape=\"default\"` is all of the image: leave `coords` out"),
            (Some("circle"), Some(numbers)) if numbers != 3 => Some("a circle has three `coords`: x, y and radius"),
            (Some("poly"), Some(numbers)) if numbers < 6 || numbers % 2 != 0 => {
                Some("a polygon has at least three points in `coords`, each an x and a y")
            }
            (Some("rect"), Some(numbers)) if numbers != 4 => {
                Some("a rectangle has four `coords`: left, top, right, bottom")
            }
            (None, Some(numbers)) if is_rect && numbers != 4 => {
                Some("a rectangle has four `coords`: left, top, right, bottom")
            }
            (Some("circle" | "poly" | "rect"), None) if self.is_missing("coords") => Some("this shape needs `coords`"),
            (None, None) if is_rect && self.is_missing("coords") => {
                Some("`area` needs `coords`, or `shape=\"default\"`")
            }
            _ => None,
        };
        if let Some(message) = wrong {
            self.say(message.into());
        }
        let is_page = self.frames.first().is_some_and(|frame| frame.facts.name() == "html");
        if is_page && !self.frames.iter().any(|frame| matches!(frame.facts.name(), "map" | "template")) {
            self.say("`area` stands in a `map`".into());
        }
    }

    /// 4.10.6: what submits and what does not.
    fn button(&mut self) {
        let kind = self.facts.literal("type").map(|kind| kind.to_ascii_lowercase());
        if matches!(kind.as_deref(), Some("reset" | "button")) {
            for attribute in ["formaction", "formenctype", "formmethod", "formnovalidate", "formtarget"] {
                self.never(attribute, "this button sends no form");
            }
        }
    }

    /// 4.8.3 and 4.8.4.4: `alt`, unless a title or a caption says what the image shows.
    fn image(&mut self) {
        self.one_of(&["src", "srcset"]);
        let is_captioned = self.frames.iter().any(|frame| frame.facts.name() == "figure" && has_caption(frame.facts));
        let is_titled = self.facts.has("title") != Presence::No
            && self.facts.literal("title").is_none_or(|title| !title.is_empty());
        if self.is_missing("alt") && !is_captioned && !is_titled {
            self.say(
                "`img` needs an `alt`: what to say in place of the image, or `alt=\"\"` if it only decorates".into(),
            );
        }
        let is_link = |frame: &Frame<'_>| frame.facts.name() == "a" && frame.facts.has("href") != Presence::No;
        if self.is_there("ismap") && !self.frames.is_empty() && !self.frames.iter().any(is_link) {
            self.never("ismap", "it sends where a link was clicked, and there is no `a` with `href` around");
        }
        if self.is_missing("srcset") {
            self.never("sizes", "it chooses from `srcset`");
        }
        let Some(set) = self.facts.literal("srcset") else { return };
        let has_widths = set.split(',').any(|image| image.trim_ascii().ends_with('w'));
        if !has_widths {
            self.never("sizes", "it chooses by width, as in `srcset=\"/a 100w, /b 200w\"`");
        } else if self.is_missing("sizes") && self.is_missing("loading") {
            self.say("`img` with widths in `srcset` needs `sizes`: how wide it is shown".into());
        }
    }

    fn input(&mut self) {
        let kind = self.facts.literal("type").unwrap_or_default().to_ascii_lowercase();
        match kind.as_str() {
            "image" => {
                self.needs("src");
                self.needs("alt");
                self.never("value", "an image button sends where it was clicked");
            }
            "file" => self.never("value", "the user chooses the file"),
            "hidden" => {
                let turns = self.facts.literal("autocomplete").map(|words| words.trim_ascii().to_ascii_lowercase());
                if matches!(turns.as_deref(), Some("on" | "off")) {
                    self.never("autocomplete", "nobody types what is hidden");
                }
            }
            _ => {}
        }
        if kind == "button"
            && self.facts.literal("value").is_none_or(|value| value.is_empty())
            && self.is_missing("value")
        {
            self.say("`input` with `type=\"button\"` needs a `value`: the words on it".into());
        }
        self.typed_value(&kind);
        self.autofill(&kind);
        self.lengths();
        self.bounds(&kind);
    }

    /// 4.10.19.7.1: what a browser fills in must fit what one can type.
    fn autofill(&mut self, kind: &str) {
        let Some(field) = self.facts.literal("autocomplete") else { return };
        let kind = if kind.is_empty() && self.is_missing("type") { "text" } else { kind };
        let takes = input::types("autocomplete").is_some_and(|types| types.contains(&kind));
        if takes && !super::value::fits(kind, &field) {
            let message = format!("an `input` with `type=\"{kind}\"` cannot hold `{field}`: write the type that can");
            self.say_at("autocomplete", message);
        }
    }

    /// 4.10.5.1: what a value of this type looks like.
    fn typed_value(&mut self, kind: &str) {
        for attribute in ["value", "min", "max"] {
            // Without a value nothing is typed yet; a bound that is there has one.
            let is_bound = attribute != "value" && input::types(attribute).is_some_and(|types| types.contains(&kind));
            let found = self.facts.literal(attribute).filter(|value| is_bound || kind == "range" || !value.is_empty());
            let Some(value) = found else { continue };
            if let Some(allowed) = super::value::of_input(kind, &value) {
                let message =
                    format!("`{value}` is no {attribute} of an `input` with `type=\"{kind}\"`: it takes {allowed}");
                self.say_at(attribute, message);
            }
        }
    }

    fn lengths(&mut self) {
        let length = |name: &str| self.facts.literal(name).and_then(|length| length.parse::<u64>().ok());
        if let (Some(least), Some(most)) = (length("minlength"), length("maxlength"))
            && least > most
        {
            self.say_at("minlength", format!("`minlength` is {least} and `maxlength` {most}: no text is that long"));
        }
    }

    /// 4.10.5.3.7. A range of times may go over midnight.
    fn bounds(&mut self, kind: &str) {
        let (Some(least), Some(most)) = (self.facts.literal("min"), self.facts.literal("max")) else { return };
        let is_empty = match kind {
            "number" | "range" => {
                matches!((least.parse::<f64>(), most.parse::<f64>()), (Ok(least), Ok(most)) if least > most)
            }
            // Of the same length they are sorted as they are written; a year of five digits is judged by no one.
            "date" | "month" | "week" | "datetime-local" => least.len() == most.len() && least > most,
            _ => false,
        };
        if is_empty {
            self.say_at("min", format!("`min` is {least} and `max` {most}: nothing is between"));
        }
    }

    /// 4.4.8.
    fn item(&mut self) {
        if self.parent().is_some_and(|parent| matches!(parent.name(), "ul" | "menu")) {
            self.never("value", "only the items of an `ol` have numbers");
        }
    }

    /// 4.2.4.
    fn link(&mut self) {
        self.one_of(&["href", "imagesrcset"]);
        self.one_of(&["rel", "itemprop"]);
        if self.is_there("rel") && self.is_there("itemprop") {
            self.never("itemprop", "a `link` has `rel` or `itemprop`, not both");
        }
        let Some(rel) = self.facts.literal("rel").map(|rel| rel.to_ascii_lowercase()) else { return };
        let has = |word: &str| rel.split_ascii_whitespace().any(|token| token == word);
        if has("preload") && self.is_missing("as") {
            self.say("`link` with `rel=\"preload\"` needs `as`: what it loads, such as `as=\"font\"`".into());
        }
        if !has("preload") && !has("modulepreload") {
            self.never("as", "it belongs to `rel=\"preload\"`");
        }
        if !has("preload") {
            self.never("imagesrcset", "it belongs to `rel=\"preload\"`");
            self.never("imagesizes", "it belongs to `rel=\"preload\"`");
        }
        if !has("icon") && !has("apple-touch-icon") {
            self.never("sizes", "it belongs to `rel=\"icon\"`");
        }
        if !has("mask-icon") {
            self.never("color", "it belongs to `rel=\"mask-icon\"`");
        }
        if !has("stylesheet") {
            self.never("disabled", "it belongs to `rel=\"stylesheet\"`");
        }
    }

    /// 4.2.5.
    fn meta(&mut self) {
        let kinds = ["name", "http-equiv", "charset", "itemprop", "property"];
        self.one_of(&kinds);
        let there: Vec<&str> = kinds.into_iter().filter(|kind| self.is_there(kind)).collect();
        // RDFa's `property` may stand beside the others.
        let strict: Vec<&str> = there.iter().copied().filter(|kind| *kind != "property").collect();
        if let [first, second, ..] = strict.as_slice() {
            self.say_at(
                second,
                format!("`meta` has one of `name`, `http-equiv`, `charset` and `itemprop`, and this one has `{first}`"),
            );
        }
        if there == ["charset"] {
            self.never("content", "`charset` says it all");
        } else if !there.is_empty() && self.is_missing("content") {
            self.say(format!("`meta` with `{}` needs a `content`", there[0]));
        }
        let is_theme = self.facts.literal("name").is_none_or(|name| name.eq_ignore_ascii_case("theme-color"));
        if !is_theme {
            self.never("media", "it belongs to `name=\"theme-color\"`");
        }
        self.refresh();
    }

    /// 4.2.5.3: seconds, and where to go then.
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
            let message = "`content` of a refresh is seconds, or seconds and an address: `5; url=/next`";
            return self.say_at("content", message.into());
        }
        let Some(url) = address.map(str::trim_ascii) else { return };
        if let Verdict::Refused(scheme) = names::judge(url.trim_matches(['"', '\'']), true, Url::Link) {
            self.say_at("content", format!("a `{scheme}` URL runs code: a refresh leads to a page"));
        } else if url.starts_with(['"', '\'']) || super::value::wrong(Type::Address, url).is_some() {
            self.say_at("content", format!("`{url}` is no URL, or stands in quotes, which do not belong here"));
        }
    }

    /// 4.10.9: a label, or a legend inside.
    fn option_group(&mut self) {
        let Body::Nodes(nodes, _) = &self.facts.element.body else { return };
        let is_labelled = kids(nodes).iter().any(|kid| kid.name() == "legend" || kid.element().is_none());
        if self.is_missing("label") && !is_labelled {
            self.say("`optgroup` needs a `label`: write `label=\"...\"`, or a `legend` inside".into());
        }
    }

    /// 4.10.13, 4.10.14: numbers in this order, and others between the first and the last.
    fn ordered(&mut self, names: &[&str], inside: &[&str]) {
        let number = |name: &str| self.facts.literal(name).and_then(|number| number.parse::<f64>().ok());
        let numbers: Vec<(&str, f64)> = names.iter().filter_map(|name| Some((*name, number(name)?))).collect();
        let bound = |name: &str, default: f64| if self.is_missing(name) { Some(default) } else { number(name) };
        let (least, most) = (bound("min", 0.0), bound("max", 1.0));
        let wrong: Option<(String, String)> = numbers
            .windows(2)
            .find(|pair| pair[0].1 > pair[1].1)
            .map(|pair| (pair[0].0.to_owned(), pair[1].0.to_owned()));
        if let Some((low, high)) = wrong {
            self.say_at(&low, format!("`{low}` is greater than `{high}`"));
            return;
        }
        for name in inside {
            let Some(number) = number(name) else { continue };
            if least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most) {
                let range = format!("{} to {}", least.unwrap_or_default(), most.unwrap_or_default());
                self.say_at(name, format!("`{name}` is {number}, outside its range {range}: write `min` and `max`"));
                return;
            }
        }
    }

    /// 4.12.1: what is only for files, or only for classic scripts.
    fn script(&mut self) {
        let kind = self.facts.literal("type").map(|kind| kind.trim_ascii().to_ascii_lowercase());
        let is_classic = self.is_missing("type") || matches!(kind.as_deref(), Some("" | "text/javascript"));
        if self.is_missing("src") {
            if is_classic {
                self.never("async", "it belongs to a `script` with `src`");
                for attribute in ["defer", "blocking", "fetchpriority"] {
                    self.never(attribute, "it belongs to a `script` with `src`");
                }
            }
            self.never("integrity", "it belongs to a `script` with `src`");
            return;
        }
        if kind.as_deref() == Some("module") {
            self.never("defer", "a module waits for the page by itself");
            self.never("nomodule", "a module is what it is for");
        }
        if matches!(kind.as_deref(), Some("importmap" | "speculationrules")) {
            self.never("src", "an import map stands in the page");
        }
    }

    /// 4.10.19.7.1: nobody chooses a passkey from a list.
    fn select(&mut self) {
        let field = self.facts.literal("autocomplete").unwrap_or_default().to_ascii_lowercase();
        if field.split_ascii_whitespace().any(|word| word == "webauthn") {
            self.say_at("autocomplete", "`webauthn` belongs to `input` and `textarea`".into());
        }
    }

    /// 4.8.2: what it needs hangs on its parent.
    fn source(&mut self) {
        match self.parent().map(|parent| parent.name()) {
            Some("picture") if self.is_there("src") => self.never("src", "in `picture` it is written `srcset`"),
            Some("picture") => self.needs("srcset"),
            Some("audio" | "video") if self.is_there("srcset") => {
                self.never("srcset", "in `audio` and `video` it is written `src`");
            }
            Some("audio" | "video") => {
                self.needs("src");
                for attribute in ["sizes", "width", "height"] {
                    self.never(attribute, "it belongs to a `source` in `picture`");
                }
            }
            _ => {}
        }
    }

    fn textarea(&mut self) {
        self.lengths();
        let is_hard = self.facts.literal("wrap").is_some_and(|wrap| wrap.eq_ignore_ascii_case("hard"));
        if is_hard && self.is_missing("cols") {
            self.say("`textarea` with `wrap=\"hard\"` needs `cols`: where it breaks lines".into());
        }
    }

    fn track(&mut self) {
        let is_subtitles = self.is_missing("kind")
            || self.facts.literal("kind").is_some_and(|kind| kind.eq_ignore_ascii_case("subtitles"));
        if is_subtitles && self.is_missing("srclang") {
            self.say("`track` with subtitles needs `srclang`: their language".into());
        }
    }

    /// 5.2.2: what belongs to an item.
    fn microdata(&mut self) {
        if self.is_missing("itemscope") {
            self.never("itemtype", "it belongs to an element with `itemscope`");
            self.never("itemref", "it belongs to an element with `itemscope`");
        }
        if self.is_missing("itemscope") || self.is_missing("itemtype") {
            self.never("itemid", "it belongs to an element with `itemscope` and `itemtype`");
        }
    }
}

/// Is there a `figcaption`, or could there be one?
fn has_caption(figure: Facts<'_>) -> bool {
    let Body::Nodes(nodes, _) = &figure.element.body else { return false };
    kids(nodes).iter().any(|kid| matches!(kid.what, super::kids::What::Splice) || kid.name() == "figcaption")
}
