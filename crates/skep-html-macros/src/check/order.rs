//! Checks order and number of the children of an element.
//!
//! A splice may contain any number of children: a missing child is reported only if there is no splice.

use super::super::ast::{Body, Element};
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
    let has_unknown = facts.has_attribute_splice() || children.iter().any(ChildNode::is_splice);
    rule(&mut Order { facts, children, has_unknown, diagnostics });
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
    children: Vec<ChildNode<'t>>,
    /// May there be children that are unknown at compile time?
    has_unknown: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

const PLACEHOLDER: &str = "a `required` drop-down box starts with an empty option: `option value=\"\" { \"...\" }`";

impl Order<'_, '_> {
    fn report(&mut self, child: usize, message: impl Into<String>) {
        let diagnostic = match &self.children[child].kind {
            ChildKind::Element(element) => Diagnostic::on(&element.name, message),
            ChildKind::Text(span) => Diagnostic::new(*span, message),
            ChildKind::Splice => return,
        };
        self.diagnostics.push(diagnostic);
    }

    fn report_missing(&mut self, message: &str) {
        self.diagnostics.push(Diagnostic::on(&self.facts.element.name, message));
    }

    /// Reports that there is no child of this name.
    fn require(&mut self, name: &str, message: &str) {
        if !self.has_unknown && self.position(name).is_none() {
            self.report_missing(message);
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.children.iter().position(|child| child.name() == name)
    }

    /// The first such child that can be rendered together with the one at `other`.
    fn find_with(&self, other: usize, is_it: impl Fn(&ChildNode<'_>) -> bool) -> Option<usize> {
        self.children.iter().position(|child| is_it(child) && child.is_with(&self.children[other]))
    }

    /// Reports all but the first of a name.
    fn at_most_one(&mut self, name: &str) {
        let parent = self.facts.name();
        let message = format!("`{parent}` allows one `{name}`, and this is another");
        self.only_one(|child| child.name() == name, &message);
    }

    fn only_one(&mut self, is_it: impl Fn(&ChildNode<'_>) -> bool, message: &str) {
        let found: Vec<usize> = (0..self.children.len()).filter(|at| is_it(&self.children[*at])).collect();
        for (at, child) in found.iter().enumerate() {
            if found[..at].iter().any(|before| self.children[*before].is_with(&self.children[*child])) {
                self.report(*child, message);
            }
        }
    }

    /// Reports children out of the order of these groups of names; others may be anywhere.
    fn in_order(&mut self, groups: &[&[&str]]) {
        self.ranked(|child| groups.iter().position(|names| names.contains(&child.name())));
    }

    /// Reports children out of the order of their ranks; those without a rank may be anywhere.
    fn ranked(&mut self, rank: impl Fn(&ChildNode<'_>) -> Option<usize>) {
        let ranks: Vec<Option<usize>> = self.children.iter().map(rank).collect();
        for (at, later) in ranks.iter().enumerate() {
            let is_late =
                |before: &usize| ranks[*before] > *later && self.children[*before].is_with(&self.children[at]);
            let Some(before) = later.and_then(|_| (0..at).find(is_late)) else { continue };
            let parent = self.facts.name();
            let (late, early) = (called(&self.children[at]), called(&self.children[before]));
            self.report(at, format!("{late} belongs before {early} in `{parent}`"));
        }
    }

    fn page(&mut self) {
        self.at_most_one("head");
        self.at_most_one("body");
        self.in_order(&[&["head"], &["body"]]);
        self.require("head", "`html` starts with a `head`: write `head { title { \"...\" } }`");
    }

    fn head(&mut self) {
        self.at_most_one("title");
        self.at_most_one("base");
        self.only_one(|child| child.has("charset"), "a page declares its `charset` once, and this is another");
        // 4.2.3: URLs before `base` do not use it.
        self.ranked(|child| match child.name() {
            "base" => Some(0),
            "link" => Some(1),
            "script" if child.has("src") => Some(1),
            _ => None,
        });
        self.require("title", "`head` needs a `title`: write `title { \"...\" }`");
    }

    fn table(&mut self) {
        for name in ["caption", "thead", "tfoot"] {
            self.at_most_one(name);
        }
        self.in_order(&[&["caption"], &["colgroup"], &["thead"], &["tbody", "tr"], &["tfoot"]]);
        let row = self.position("tbody").and_then(|body| self.find_with(body, |child| child.name() == "tr"));
        if let Some(row) = row {
            let message = "`table` allows `tbody` elements or `tr` elements, not both: write this `tr` in a `tbody`";
            self.report(row, message);
        }
    }

    /// 4.4.9: groups of `dt` and then `dd`, or `div` around each.
    fn terms(&mut self) {
        if let Some(div) = self.position("div") {
            if let Some(loose) = self.find_with(div, |child| matches!(child.name(), "dt" | "dd")) {
                let name = self.children[loose].name();
                let message =
                    format!("`dl` allows `div` elements or `dt` and `dd`, not both: write this `{name}` in a `div`");
                self.report(loose, message);
            }
            return;
        }
        if self.children.first().is_some_and(|child| child.is_sure && child.name() == "dd") {
            self.report(0, "a `dd` needs a `dt` before it");
        }
        if self.children.last().is_some_and(|child| child.is_sure && child.name() == "dt") {
            self.report(self.children.len() - 1, "a `dt` needs a `dd` after it");
        }
    }

    /// 4.4.16: one group.
    fn group(&mut self) {
        self.in_order(&[&["dt"], &["dd"]]);
        // Other children have their own message.
        if self.children.iter().all(|child| matches!(child.name(), "dt" | "dd")) {
            let missing = if self.position("dt").is_none() { "dt" } else { "dd" };
            self.require(missing, "a `div` in `dl` holds one group: at least one `dt`, and then at least one `dd`");
        }
    }

    fn figure(&mut self) {
        self.at_most_one("figcaption");
        let Some(caption) = self.position("figcaption") else { return };
        let is_content = |child: &ChildNode<'_>| {
            !child.is_splice() && child.is_with(&self.children[caption]) && child.name() != "figcaption"
        };
        if self.children[..caption].iter().any(is_content) && self.children[caption + 1..].iter().any(is_content) {
            self.report(caption, "`figcaption` must be the first or last child of `figure`");
        }
    }

    fn details(&mut self) {
        self.first("summary");
        self.require("summary", "`details` starts with a `summary`: write `summary { \"...\" }`");
    }

    fn legend(&mut self) {
        self.first("legend");
    }

    /// At most one of a name, with nothing but splices before it.
    fn first(&mut self, name: &str) {
        self.at_most_one(name);
        let Some(at) = self.position(name) else { return };
        if self.find_with(at, |child| !child.is_splice()).is_some_and(|other| other < at) {
            self.report(at, format!("`{name}` must be the first child of `{}`", self.facts.name()));
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
        let Some(button) = self.position("button") else { return };
        if is_list || self.facts.has("multiple") == Presence::Yes {
            let message =
                "only a `select` that is a drop-down box may have a `button`: leave out `multiple` and `size`";
            self.report(button, message);
        }
    }

    /// 4.10.7: a required drop-down box has a placeholder.
    fn placeholder(&mut self) {
        let is_before = |child: &ChildNode<'_>| matches!(child.name(), "button" | "script" | "template");
        let Some(first) = self.children.iter().position(|child| !is_before(child)) else {
            if !self.has_unknown {
                self.report_missing(PLACEHOLDER);
            }
            return;
        };
        let child = &self.children[first];
        let Some(option) = child.element().filter(|element| element.is(&["option"])).map(Facts::of) else { return };
        let is_chosen = match option.literal("value") {
            Some(value) => !value.is_empty(),
            None => option.has("value") == Presence::No && has_text(option.element),
        };
        if is_chosen && child.is_sure {
            self.report(first, PLACEHOLDER);
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
        self.in_order(&[&["source"], &["img"]]);
        self.sources();
        self.require("img", "`picture` ends with an `img`: write `img src=\"...\" alt=\"...\";`");
    }

    /// 4.8.2: a `source` that always matches makes the following ones useless.
    fn sources(&mut self) {
        let is_choice =
            |child: &ChildNode<'_>| child.name() == "source" || child.name() == "img" && child.has("srcset");
        for at in 0..self.children.len() {
            let Some(source) = self.children[at].element().filter(|element| element.is(&["source"])).map(Facts::of)
            else {
                continue;
            };
            let is_followed =
                self.children[at + 1..].iter().any(|child| is_choice(child) && child.is_with(&self.children[at]));
            if is_followed && source.has("media") == Presence::No && source.has("type") == Presence::No {
                let message = "this `source` always matches, so the next ones are never used: add `media` or `type`";
                self.report(at, message);
            }
        }
    }

    fn media(&mut self) {
        self.ranked(|child| match child.name() {
            "source" => Some(0),
            "track" => Some(1),
            _ => (!child.is_splice()).then_some(2),
        });
        let is_default = |child: &ChildNode<'_>| child.name() == "track" && child.has("default");
        self.only_one(is_default, "one `track` is the `default`, and this is another");
    }

    /// 4.5.10: text, then `rt`, or `rp`, `rt`, `rp`.
    fn ruby(&mut self) {
        let is_known = !self.has_unknown && self.children.iter().all(|child| child.is_sure);
        let is_annotation = |child: &&ChildNode<'_>| matches!(child.name(), "rt" | "rp");
        if let Some(first) = self.children.first().filter(|child| child.is_sure && is_annotation(child)) {
            let message = format!("`ruby` starts with the text that `{}` annotates", first.name());
            self.report(0, message);
        } else if !self.has_unknown && self.position("rt").is_none()
            || is_known && !self.children.last().as_ref().is_some_and(is_annotation)
        {
            self.report_missing("`ruby` needs an `rt` after its text");
        } else if let Some(loose) = (0..self.children.len()).find(|at| is_known && self.is_loose(*at)) {
            self.report(loose, "an `rp` belongs before and after an `rt`: write `rp`, `rt`, `rp`");
        }
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
        let Some(option) = self.position("option") else { return };
        let is_other = |child: &ChildNode<'_>| child.name() != "option" && !child.is_splice();
        if let Some(other) = self.find_with(option, is_other) {
            self.report(other, "`datalist` allows `option` elements or other content, not both");
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
        if self.children.is_empty() && !self.has_unknown {
            self.report_missing("a `title` must not be empty: write `title { \"...\" }`");
        }
    }

    /// 4.12.1: with `src` only comments are allowed.
    fn script(&mut self) {
        let is_code = |child: &ChildNode<'_>| matches!(child.kind, ChildKind::Text(_));
        if self.facts.has("src") == Presence::Yes
            && !super::template::starts_with_comment(self.facts.element)
            && let Some(code) = self.children.iter().position(is_code)
        {
            self.report(code, "a `script` with `src` ignores its content: write two `script` elements");
        }
    }
}

fn has_text(element: &Element) -> bool {
    let Body::Nodes(nodes, _) = &element.body else { return false };
    children(nodes).iter().any(|child| matches!(child.kind, ChildKind::Text(_)))
}

fn called(child: &ChildNode<'_>) -> String {
    match &child.kind {
        ChildKind::Element(element) => format!("`{}`", element.name.text),
        ChildKind::Text(_) => "this text".into(),
        ChildKind::Splice => "this value".into(),
    }
}
