//! Checks order and number of the children of an element.
//!
//! A splice may contain any number of children: a missing child is reported only if there is no splice.

use super::super::ast::{Body, Element, Name};
use super::super::diagnostic::Diagnostic;
use super::super::standard::Type;
use super::children::{ChildKind, ChildNode, children};
use super::facts::{Facts, OpenElement, Presence};

pub(super) fn check(facts: Facts<'_>, open_elements: &[OpenElement<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let Body::Nodes(nodes, _) = &facts.element.body else { return };
    let parent = open_elements.last().map(|open| open.facts.name());
    let Some(rule) = rule(facts.name(), parent) else { return };
    // Script-supporting elements are ignored where the standard allows them between the others.
    let is_between = matches!(facts.name(), "table" | "dl" | "div" | "picture" | "hgroup" | "datalist");
    let is_judged = |child: &ChildNode<'_>| !is_between || !matches!(child.name(), "script" | "template");
    let children: Vec<ChildNode<'_>> = children(nodes).into_iter().filter(is_judged).collect();
    let has_unknown =
        facts.has_attribute_splice() || children.iter().any(|child| matches!(child.kind, ChildKind::Splice));
    rule(&mut Order { facts, name: &facts.element.name, children, has_unknown, diagnostics });
}

type Rule<'t, 'd> = fn(&mut Order<'t, 'd>);

fn rule<'t, 'd>(name: &str, parent: Option<&str>) -> Option<Rule<'t, 'd>> {
    Some(match name {
        "html" => Order::page,
        "head" => Order::head,
        "table" => Order::table,
        "dl" => Order::terms,
        "div" if parent == Some("dl") => Order::group,
        "figure" => Order::figure,
        "details" => Order::details,
        "fieldset" | "optgroup" => Order::legend,
        "select" => Order::select,
        "hgroup" => Order::heading_group,
        "picture" => Order::picture,
        "audio" | "video" => Order::media,
        "ruby" => Order::ruby,
        "datalist" => Order::suggestions,
        "option" if parent != Some("datalist") => Order::option,
        "time" => Order::time,
        "title" => Order::title,
        "script" => Order::script,
        _ => return None,
    })
}

struct Order<'t, 'd> {
    facts: Facts<'t>,
    name: &'t Name,
    children: Vec<ChildNode<'t>>,
    /// May there be children that are unknown at compile time?
    has_unknown: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Order<'_, '_> {
    fn report(&mut self, child: usize, message: String) {
        let diagnostic = match &self.children[child].kind {
            ChildKind::Element(element) => Diagnostic::on(&element.name, message),
            ChildKind::Text(span) => Diagnostic::new(*span, message),
            ChildKind::Splice => return,
        };
        self.diagnostics.push(diagnostic);
    }

    fn report_missing(&mut self, message: &str) {
        self.diagnostics.push(Diagnostic::on(self.name, message));
    }

    fn has(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.name() == name)
    }

    /// Reports all but the first of a name.
    fn at_most_one(&mut self, name: &str) {
        let parent = &self.name.text;
        let message = format!("`{parent}` allows one `{name}`, and this is another");
        self.only_one(|child| child.name() == name, &message);
    }

    fn only_one(&mut self, is_it: impl Fn(&ChildNode<'_>) -> bool, message: &str) {
        let found: Vec<usize> = (0..self.children.len()).filter(|at| is_it(&self.children[*at])).collect();
        for (at, child) in found.iter().enumerate() {
            if found[..at].iter().any(|before| self.children[*before].is_with(&self.children[*child])) {
                self.report(*child, message.to_owned());
            }
        }
    }

    /// Reports children out of the order of their ranks; those without a rank may be anywhere.
    fn ranked(&mut self, rank: impl Fn(&ChildNode<'_>) -> Option<usize>) {
        let ranks: Vec<Option<usize>> = self.children.iter().map(rank).collect();
        for (at, later) in ranks.iter().enumerate() {
            let is_late =
                |before: &usize| ranks[*before] > *later && self.children[*before].is_with(&self.children[at]);
            let Some(before) = later.and_then(|_| (0..at).find(is_late)) else { continue };
            let parent = &self.name.text;
            let (late, early) = (called(&self.children[at]), called(&self.children[before]));
            self.report(at, format!("{late} belongs before {early} in `{parent}`"));
        }
    }

    fn page(&mut self) {
        self.at_most_one("head");
        self.at_most_one("body");
        self.ranked(|child| match child.name() {
            "head" => Some(0),
            "body" => Some(1),
            _ => None,
        });
        if !self.has_unknown && !self.has("head") {
            self.report_missing("`html` starts with a `head`: write `head { title { \"...\" } }`");
        }
    }

    fn head(&mut self) {
        self.at_most_one("title");
        self.at_most_one("base");
        let is_charset = |child: &ChildNode<'_>| {
            child.element().is_some_and(|element| Facts::of(element).has("charset") == Presence::Yes)
        };
        self.only_one(is_charset, "a page declares its `charset` once, and this is another");
        // 4.2.3: URLs before `base` do not use it.
        self.ranked(|child| match (child.name(), child.element().map(Facts::of)) {
            ("base", _) => Some(0),
            ("link", _) => Some(1),
            ("script", Some(script)) if script.has("src") == Presence::Yes => Some(1),
            _ => None,
        });
        if !self.has_unknown && !self.has("title") {
            self.report_missing("`head` needs a `title`: write `title { \"...\" }`");
        }
    }

    fn table(&mut self) {
        for name in ["caption", "thead", "tfoot"] {
            self.at_most_one(name);
        }
        self.ranked(|child| match child.name() {
            "caption" => Some(0),
            "colgroup" => Some(1),
            "thead" => Some(2),
            "tbody" | "tr" => Some(3),
            "tfoot" => Some(4),
            _ => None,
        });
        let Some(body) = self.children.iter().position(|child| child.name() == "tbody") else { return };
        let row = (0..self.children.len())
            .find(|at| self.children[*at].name() == "tr" && self.children[*at].is_with(&self.children[body]));
        if let Some(row) = row {
            self.report(
                row,
                "`table` allows `tbody` elements or `tr` elements, not both: write this `tr` in a `tbody`".into(),
            );
        }
    }

    /// 4.4.9: groups of `dt` and then `dd`, or `div` around each.
    fn terms(&mut self) {
        let div = self.children.iter().position(|child| child.name() == "div");
        if let Some(div) = div {
            let loose = (0..self.children.len()).find(|at| {
                matches!(self.children[*at].name(), "dt" | "dd") && self.children[*at].is_with(&self.children[div])
            });
            if let Some(loose) = loose {
                let name = self.children[loose].name();
                self.report(
                    loose,
                    format!("`dl` allows `div` elements or `dt` and `dd`, not both: write this `{name}` in a `div`"),
                );
            }
            return;
        }
        self.ends();
    }

    /// 4.4.16: one group.
    fn group(&mut self) {
        self.ranked(|child| match child.name() {
            "dt" => Some(0),
            "dd" => Some(1),
            _ => None,
        });
        // Other children have their own message.
        let is_pure = self.children.iter().all(|child| matches!(child.name(), "dt" | "dd"));
        if is_pure && !self.has_unknown && !(self.has("dt") && self.has("dd")) {
            self.report_missing("a `div` in `dl` holds one group: at least one `dt`, and then at least one `dd`");
        }
    }

    /// A group begins with `dt` and ends with `dd`.
    fn ends(&mut self) {
        if self.children.first().is_some_and(|child| child.is_sure && child.name() == "dd") {
            self.report(0, "a `dd` needs a `dt` before it".into());
        }
        let last = self.children.len().saturating_sub(1);
        if self.children.last().is_some_and(|child| child.is_sure && child.name() == "dt") {
            self.report(last, "a `dt` needs a `dd` after it".into());
        }
    }

    fn figure(&mut self) {
        self.at_most_one("figcaption");
        let Some(caption) = self.children.iter().position(|child| child.name() == "figcaption") else { return };
        let is_content = |child: &ChildNode<'_>| {
            !matches!(child.kind, ChildKind::Splice)
                && child.is_with(&self.children[caption])
                && child.name() != "figcaption"
        };
        if self.children[..caption].iter().any(is_content) && self.children[caption + 1..].iter().any(is_content) {
            self.report(caption, "`figcaption` must be the first or last child of `figure`".into());
        }
    }

    fn details(&mut self) {
        self.first("summary");
        if !self.has_unknown && !self.has("summary") {
            self.report_missing("`details` starts with a `summary`: write `summary { \"...\" }`");
        }
    }

    fn legend(&mut self) {
        self.first("legend");
    }

    /// At most one of a name, with nothing but splices before it.
    fn first(&mut self, name: &str) {
        self.at_most_one(name);
        let Some(at) = self.children.iter().position(|child| child.name() == name) else { return };
        let is_before =
            |child: &ChildNode<'_>| !matches!(child.kind, ChildKind::Splice) && child.is_with(&self.children[at]);
        if self.children[..at].iter().any(is_before) {
            let message = format!("`{name}` must be the first child of `{}`", self.name.text);
            self.report(at, message);
        }
    }

    /// 4.10.7: a drop-down box may start with a button.
    fn select(&mut self) {
        self.first("button");
        let is_list = self.facts.literal("size").is_some_and(|size| size.parse::<u32>().is_ok_and(|size| size > 1));
        let is_drop_down =
            !is_list && self.facts.has("multiple") == Presence::No && self.facts.has("size") != Presence::Maybe;
        if self.facts.has("required") == Presence::Yes && is_drop_down {
            self.placeholder();
        }
        let Some(button) = self.children.iter().position(|child| child.name() == "button") else { return };
        if is_list || self.facts.has("multiple") == Presence::Yes {
            self.report(
                button,
                "only a `select` that is a drop-down box may have a `button`: leave out `multiple` and `size`".into(),
            );
        }
    }

    /// 4.10.7: a required drop-down box has a placeholder.
    fn placeholder(&mut self) {
        let is_before = |child: &ChildNode<'_>| matches!(child.name(), "button" | "script" | "template");
        let Some(first) = self.children.iter().position(|child| !is_before(child)) else {
            if self.has_unknown {
                return;
            }
            self.report_missing(
                "a `required` drop-down box starts with an empty option: `option value=\"\" { \"...\" }`",
            );
            return;
        };
        let Some(option) = self.children[first].element().filter(|element| element.is(&["option"])).map(Facts::of)
        else {
            return;
        };
        let value = option.literal("value");
        let has_text = || {
            text_of(option.element)
                .is_some_and(|children| children.iter().any(|child| matches!(child.kind, ChildKind::Text(_))))
        };
        let is_chosen = match value {
            Some(value) => !value.is_empty(),
            None => option.has("value") == Presence::No && has_text(),
        };
        if is_chosen && self.children[first].is_sure {
            self.report(
                first,
                "a `required` drop-down box starts with an empty option: `option value=\"\" { \"...\" }`".into(),
            );
        }
    }

    /// 4.10.10: an option displays its label or text.
    fn option(&mut self) {
        if self.children.is_empty() && !self.has_unknown && self.facts.has("label") == Presence::No {
            self.report_missing("an `option` without `label` needs text: write `option { \"text\" }`");
        }
    }

    fn heading_group(&mut self) {
        let is_heading = |child: &ChildNode<'_>| child.name().starts_with('h');
        self.only_one(is_heading, "`hgroup` allows one heading, and this is another");
        if !self.has_unknown && !self.children.iter().any(is_heading) {
            self.report_missing("`hgroup` needs one heading, `h1` to `h6`");
        }
    }

    fn picture(&mut self) {
        self.at_most_one("img");
        self.ranked(|child| match child.name() {
            "source" => Some(0),
            "img" => Some(1),
            _ => None,
        });
        self.sources();
        if !self.has_unknown && !self.has("img") {
            self.report_missing("`picture` ends with an `img`: write `img src=\"...\" alt=\"...\";`");
        }
    }

    /// 4.8.2: a `source` that always matches makes the following ones useless.
    fn sources(&mut self) {
        for at in 0..self.children.len() {
            let Some(source) = self.children[at].element().filter(|element| element.is(&["source"])).map(Facts::of)
            else {
                continue;
            };
            let is_choice = |child: &ChildNode<'_>| {
                let facts = child.element().map(Facts::of);
                child.name() == "source"
                    || child.name() == "img" && facts.is_some_and(|img| img.has("srcset") == Presence::Yes)
            };
            let is_followed =
                self.children[at + 1..].iter().any(|child| is_choice(child) && child.is_with(&self.children[at]));
            if is_followed && source.has("media") == Presence::No && source.has("type") == Presence::No {
                self.report(
                    at,
                    "this `source` always matches, so the next ones are never used: add `media` or `type`".into(),
                );
            }
        }
    }

    fn media(&mut self) {
        self.ranked(|child| match (child.name(), &child.kind) {
            ("source", _) => Some(0),
            ("track", _) => Some(1),
            (_, ChildKind::Splice) => None,
            _ => Some(2),
        });
        let is_default = |child: &ChildNode<'_>| {
            child.name() == "track"
                && child.element().is_some_and(|element| Facts::of(element).has("default") == Presence::Yes)
        };
        self.only_one(is_default, "one `track` is the `default`, and this is another");
    }

    /// 4.5.10: text, then `rt`, or `rp`, `rt`, `rp`.
    fn ruby(&mut self) {
        let is_known = !self.has_unknown && self.children.iter().all(|child| child.is_sure);
        if let Some(first) = self.children.first().filter(|child| child.is_sure && matches!(child.name(), "rt" | "rp"))
        {
            let message = format!("`ruby` starts with the text that `{}` annotates", first.name());
            self.report(0, message);
        } else if !self.has_unknown && !self.has("rt") || is_known && !self.ends_annotated() {
            self.report_missing("`ruby` needs an `rt` after its text");
        } else if let Some(loose) = (0..self.children.len()).find(|at| is_known && self.is_loose(*at)) {
            self.report(loose, "an `rp` belongs before and after an `rt`: write `rp`, `rt`, `rp`".into());
        }
    }

    fn ends_annotated(&self) -> bool {
        self.children.last().is_some_and(|child| matches!(child.name(), "rt" | "rp"))
    }

    /// Is it an `rp` without an adjacent `rt`, or without its counterpart?
    fn is_loose(&self, at: usize) -> bool {
        let is = |other: Option<usize>, name: &str| {
            other.and_then(|other| self.children.get(other)).is_some_and(|child| child.name() == name)
        };
        let opens = is(Some(at + 1), "rt") && is(Some(at + 2), "rp");
        let closes = is(at.checked_sub(1), "rt") && is(at.checked_sub(2), "rp");
        self.children[at].name() == "rp" && !opens && !closes
    }

    fn suggestions(&mut self) {
        let Some(option) = self.children.iter().position(|child| child.name() == "option") else { return };
        let is_other = |at: &usize| {
            let child = &self.children[*at];
            child.name() != "option"
                && !matches!(child.kind, ChildKind::Splice)
                && child.is_with(&self.children[option])
        };
        if let Some(other) = (0..self.children.len()).find(is_other) {
            self.report(other, "`datalist` allows `option` elements or other content, not both".into());
        }
    }

    /// 4.5.14: without `datetime` the text is machine-readable.
    fn time(&mut self) {
        let is_text = self.children.iter().all(|child| child.is_sure && matches!(child.kind, ChildKind::Text(_)));
        if self.has_unknown || !is_text || self.facts.has("datetime") != Presence::No {
            return;
        }
        let Body::Nodes(nodes, _) = &self.facts.element.body else { return };
        let text = super::template::literal_start(nodes).map(|(text, ..)| text).unwrap_or_default();
        if let Some(allowed) = super::value::expected_instead(Type::Time, text.trim_ascii()) {
            self.report_missing(&format!("without `datetime` the text of a `time` must be {allowed}"));
        }
    }

    fn title(&mut self) {
        let is_empty = self.children.is_empty() && !self.has_unknown;
        if is_empty {
            self.report_missing("a `title` must not be empty: write `title { \"...\" }`");
        }
    }

    /// 4.12.1: with `src` only comments are allowed.
    fn script(&mut self) {
        let is_code = |child: &ChildNode<'_>| matches!(child.kind, ChildKind::Text(_));
        let is_comment = super::template::starts_with_comment(self.facts.element);
        if self.facts.has("src") == Presence::Yes
            && !is_comment
            && let Some(code) = self.children.iter().position(is_code)
        {
            self.report(code, "a `script` with `src` ignores its content: write two `script` elements".into());
        }
    }
}

/// The children of an element with a body.
fn text_of(element: &Element) -> Option<Vec<ChildNode<'_>>> {
    match &element.body {
        Body::Nodes(nodes, _) => Some(children(nodes)),
        Body::None => None,
    }
}

fn called(child: &ChildNode<'_>) -> String {
    match &child.kind {
        ChildKind::Element(element) => format!("`{}`", element.name.text),
        ChildKind::Text(_) => "this text".into(),
        ChildKind::Splice => "this value".into(),
    }
}
