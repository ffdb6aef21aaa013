//! Order and number: what is asked of the children of an element together.
//!
//! A splice could be any of the children, also none, so a child that is missing is named only where there is no splice.

use super::super::ast::{Body, Element, Name};
use super::super::diagnostic::Diagnostic;
use super::super::standard::Type;
use super::facts::{Facts, Presence};
use super::kids::{Kid, What, kids};
use super::walk::Frame;

pub(super) fn check(facts: Facts<'_>, frames: &[Frame<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let Body::Nodes(nodes, _) = &facts.element.body else { return };
    let parent = frames.last().map(|frame| frame.facts.name());
    let Some(judge) = rule(facts.name(), parent) else { return };
    // Script-supporting elements may stand anywhere between where the standard says so; elsewhere they are content.
    let is_between = matches!(facts.name(), "table" | "dl" | "div" | "picture" | "hgroup" | "datalist");
    let is_judged = |kid: &Kid<'_>| !is_between || !matches!(kid.name(), "script" | "template");
    let kids: Vec<Kid<'_>> = kids(nodes).into_iter().filter(is_judged).collect();
    let is_open = facts.is_filled() || kids.iter().any(|kid| matches!(kid.what, What::Splice));
    judge(&mut Order { facts, name: &facts.element.name, kids, is_open, diagnostics });
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
    kids: Vec<Kid<'t>>,
    /// Could there be more children than one sees?
    is_open: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Order<'_, '_> {
    fn say(&mut self, kid: usize, message: String) {
        let diagnostic = match &self.kids[kid].what {
            What::Element(element) => Diagnostic::on(&element.name, message),
            What::Text(span) => Diagnostic::new(*span, message),
            What::Splice => return,
        };
        self.diagnostics.push(diagnostic);
    }

    fn miss(&mut self, message: &str) {
        self.diagnostics.push(Diagnostic::on(self.name, message));
    }

    fn has(&self, name: &str) -> bool {
        self.kids.iter().any(|kid| kid.name() == name)
    }

    /// At most one of a name.
    fn at_most_one(&mut self, name: &str) {
        let parent = &self.name.text;
        let message = format!("`{parent}` takes one `{name}`, and this is another");
        self.only_one(|kid| kid.name() == name, &message);
    }

    fn only_one(&mut self, is_it: impl Fn(&Kid<'_>) -> bool, message: &str) {
        let found: Vec<usize> = (0..self.kids.len()).filter(|at| is_it(&self.kids[*at])).collect();
        for (at, kid) in found.iter().enumerate() {
            if found[..at].iter().any(|before| self.kids[*before].is_with(&self.kids[*kid])) {
                self.say(*kid, message.to_owned());
            }
        }
    }

    /// Children stand in the order of their ranks; those without one stand anywhere.
    fn ranked(&mut self, rank: impl Fn(&Kid<'_>) -> Option<usize>) {
        let ranks: Vec<Option<usize>> = self.kids.iter().map(rank).collect();
        for (at, later) in ranks.iter().enumerate() {
            let is_late = |before: &usize| ranks[*before] > *later && self.kids[*before].is_with(&self.kids[at]);
            let Some(before) = later.and_then(|_| (0..at).find(is_late)) else { continue };
            let parent = &self.name.text;
            let (child, other) = (called(&self.kids[at]), called(&self.kids[before]));
            self.say(at, format!("{child} stands before {other} in `{parent}`, not behind it"));
        }
    }

    fn page(&mut self) {
        self.at_most_one("head");
        self.at_most_one("body");
        self.ranked(|kid| match kid.name() {
            "head" => Some(0),
            "body" => Some(1),
            _ => None,
        });
        if !self.is_open && !self.has("head") {
            self.miss("`html` begins with a `head`: write `head { title { \"...\" } }`");
        }
    }

    fn head(&mut self) {
        self.at_most_one("title");
        self.at_most_one("base");
        let is_charset =
            |kid: &Kid<'_>| kid.element().is_some_and(|element| Facts::of(element).has("charset") == Presence::Yes);
        self.only_one(is_charset, "a page says its `charset` once, and this is another");
        // 4.2.3: what comes before it has no base.
        self.ranked(|kid| match (kid.name(), kid.element().map(Facts::of)) {
            ("base", _) => Some(0),
            ("link", _) => Some(1),
            ("script", Some(script)) if script.has("src") == Presence::Yes => Some(1),
            _ => None,
        });
        if !self.is_open && !self.has("title") {
            self.miss("`head` needs a `title`: write `title { \"...\" }`");
        }
    }

    fn table(&mut self) {
        for name in ["caption", "thead", "tfoot"] {
            self.at_most_one(name);
        }
        self.ranked(|kid| match kid.name() {
            "caption" => Some(0),
            "colgroup" => Some(1),
            "thead" => Some(2),
            "tbody" | "tr" => Some(3),
            "tfoot" => Some(4),
            _ => None,
        });
        let Some(body) = self.kids.iter().position(|kid| kid.name() == "tbody") else { return };
        let row =
            (0..self.kids.len()).find(|at| self.kids[*at].name() == "tr" && self.kids[*at].is_with(&self.kids[body]));
        if let Some(row) = row {
            self.say(
                row,
                "`table` takes `tbody` elements or `tr` elements, not both: write this `tr` in a `tbody`".into(),
            );
        }
    }

    /// 4.4.9: groups of `dt` and then `dd`, or `div` around each.
    fn terms(&mut self) {
        let div = self.kids.iter().position(|kid| kid.name() == "div");
        if let Some(div) = div {
            let loose = (0..self.kids.len())
                .find(|at| matches!(self.kids[*at].name(), "dt" | "dd") && self.kids[*at].is_with(&self.kids[div]));
            if let Some(loose) = loose {
                let name = self.kids[loose].name();
                self.say(
                    loose,
                    format!("`dl` takes `div` elements or `dt` and `dd`, not both: write this `{name}` in a `div`"),
                );
            }
            return;
        }
        self.ends();
    }

    /// 4.4.16: one group.
    fn group(&mut self) {
        self.ranked(|kid| match kid.name() {
            "dt" => Some(0),
            "dd" => Some(1),
            _ => None,
        });
        // What else is there has its message already.
        let is_pure = self.kids.iter().all(|kid| matches!(kid.name(), "dt" | "dd"));
        if is_pure && !self.is_open && !(self.has("dt") && self.has("dd")) {
            self.miss("a `div` in `dl` holds one group: at least one `dt`, and then at least one `dd`");
        }
    }

    /// A group begins with `dt` and ends with `dd`.
    fn ends(&mut self) {
        if self.kids.first().is_some_and(|kid| kid.is_sure && kid.name() == "dd") {
            self.say(0, "a `dd` has its `dt` before it".into());
        }
        let last = self.kids.len().saturating_sub(1);
        if self.kids.last().is_some_and(|kid| kid.is_sure && kid.name() == "dt") {
            self.say(last, "a `dt` has its `dd` behind it".into());
        }
    }

    fn figure(&mut self) {
        self.at_most_one("figcaption");
        let Some(caption) = self.kids.iter().position(|kid| kid.name() == "figcaption") else { return };
        let is_content = |kid: &Kid<'_>| {
            !matches!(kid.what, What::Splice) && kid.is_with(&self.kids[caption]) && kid.name() != "figcaption"
        };
        if self.kids[..caption].iter().any(is_content) && self.kids[caption + 1..].iter().any(is_content) {
            self.say(caption, "`figcaption` is the first or the last in `figure`".into());
        }
    }

    fn details(&mut self) {
        self.first("summary");
        if !self.is_open && !self.has("summary") {
            self.miss("`details` begins with a `summary`: write `summary { \"...\" }`");
        }
    }

    fn legend(&mut self) {
        self.first("legend");
    }

    /// One of a name at most, and nothing but splices before it.
    fn first(&mut self, name: &str) {
        self.at_most_one(name);
        let Some(at) = self.kids.iter().position(|kid| kid.name() == name) else { return };
        let is_before = |kid: &Kid<'_>| !matches!(kid.what, What::Splice) && kid.is_with(&self.kids[at]);
        if self.kids[..at].iter().any(is_before) {
            let message = format!("`{name}` is the first in `{}`", self.name.text);
            self.say(at, message);
        }
    }

    /// 4.10.7: a drop-down box may begin with a button.
    fn select(&mut self) {
        self.first("button");
        let is_list = self.facts.literal("size").is_some_and(|size| size.parse::<u32>().is_ok_and(|size| size > 1));
        let is_drop_down =
            !is_list && self.facts.has("multiple") == Presence::No && self.facts.has("size") != Presence::Maybe;
        if self.facts.has("required") == Presence::Yes && is_drop_down {
            self.placeholder();
        }
        let Some(button) = self.kids.iter().position(|kid| kid.name() == "button") else { return };
        if is_list || self.facts.has("multiple") == Presence::Yes {
            self.say(
                button,
                "only a `select` that is a drop-down box takes a `button`: leave out `multiple` and `size`".into(),
            );
        }
    }

    /// 4.10.7: one must choose, so nothing is chosen at first.
    fn placeholder(&mut self) {
        let is_before = |kid: &Kid<'_>| matches!(kid.name(), "button" | "script" | "template");
        let Some(first) = self.kids.iter().position(|kid| !is_before(kid)) else {
            if self.is_open {
                return;
            }
            self.miss("a `required` drop-down box begins with an option that chooses nothing: `option value=\"\" { \"...\" }`");
            return;
        };
        let Some(option) = self.kids[first].element().filter(|element| element.is(&["option"])).map(Facts::of) else {
            return;
        };
        let value = option.literal("value");
        let has_text =
            || text_of(option.element).is_some_and(|kids| kids.iter().any(|kid| matches!(kid.what, What::Text(_))));
        let is_chosen = match value {
            Some(value) => !value.is_empty(),
            None => option.has("value") == Presence::No && has_text(),
        };
        if is_chosen && self.kids[first].is_sure {
            self.say(first, "a `required` drop-down box begins with an option that chooses nothing: `option value=\"\" { \"...\" }`".into());
        }
    }

    /// 4.10.10: it shows its label or its text.
    fn option(&mut self) {
        if self.kids.is_empty() && !self.is_open && self.facts.has("label") == Presence::No {
            self.miss("an `option` without `label` is not empty: write `option { \"text\" }`");
        }
    }

    fn heading_group(&mut self) {
        let is_heading = |kid: &Kid<'_>| kid.name().starts_with('h');
        self.only_one(is_heading, "`hgroup` takes one heading, and this is another");
        if !self.is_open && !self.kids.iter().any(is_heading) {
            self.miss("`hgroup` needs one heading, `h1` to `h6`");
        }
    }

    fn picture(&mut self) {
        self.at_most_one("img");
        self.ranked(|kid| match kid.name() {
            "source" => Some(0),
            "img" => Some(1),
            _ => None,
        });
        self.sources();
        if !self.is_open && !self.has("img") {
            self.miss("`picture` ends with an `img`: write `img src=\"...\" alt=\"...\";`");
        }
    }

    /// 4.8.2: a `source` that always fits leaves nothing to what stands behind it.
    fn sources(&mut self) {
        for at in 0..self.kids.len() {
            let Some(source) = self.kids[at].element().filter(|element| element.is(&["source"])).map(Facts::of) else {
                continue;
            };
            let is_choice = |kid: &Kid<'_>| {
                let facts = kid.element().map(Facts::of);
                kid.name() == "source"
                    || kid.name() == "img" && facts.is_some_and(|img| img.has("srcset") == Presence::Yes)
            };
            let is_followed = self.kids[at + 1..].iter().any(|kid| is_choice(kid) && kid.is_with(&self.kids[at]));
            if is_followed && source.has("media") == Presence::No && source.has("type") == Presence::No {
                self.say(
                    at,
                    "this `source` always fits, so nothing behind it is looked at: write `media` or `type`".into(),
                );
            }
        }
    }

    fn media(&mut self) {
        self.ranked(|kid| match (kid.name(), &kid.what) {
            ("source", _) => Some(0),
            ("track", _) => Some(1),
            (_, What::Splice) => None,
            _ => Some(2),
        });
        let is_default = |kid: &Kid<'_>| {
            kid.name() == "track"
                && kid.element().is_some_and(|element| Facts::of(element).has("default") == Presence::Yes)
        };
        self.only_one(is_default, "one `track` is the `default`, and this is another");
    }

    /// 4.5.10: text, then `rt`, or `rp`, `rt`, `rp`.
    fn ruby(&mut self) {
        let is_known = !self.is_open && self.kids.iter().all(|kid| kid.is_sure);
        if let Some(first) = self.kids.first().filter(|kid| kid.is_sure && matches!(kid.name(), "rt" | "rp")) {
            let message = format!("`ruby` begins with the text that `{}` annotates", first.name());
            self.say(0, message);
        } else if !self.is_open && !self.has("rt") || is_known && !self.ends_annotated() {
            self.miss("`ruby` needs an `rt` behind its text");
        } else if let Some(loose) = (0..self.kids.len()).find(|at| is_known && self.is_loose(*at)) {
            self.say(loose, "an `rp` stands before and behind an `rt`: write `rp`, `rt`, `rp`".into());
        }
    }

    fn ends_annotated(&self) -> bool {
        self.kids.last().is_some_and(|kid| matches!(kid.name(), "rt" | "rp"))
    }

    /// Is it an `rp` without an `rt` beside it, or without the other `rp`?
    fn is_loose(&self, at: usize) -> bool {
        let is = |other: Option<usize>, name: &str| {
            other.and_then(|other| self.kids.get(other)).is_some_and(|kid| kid.name() == name)
        };
        let opens = is(Some(at + 1), "rt") && is(Some(at + 2), "rp");
        let closes = is(at.checked_sub(1), "rt") && is(at.checked_sub(2), "rp");
        self.kids[at].name() == "rp" && !opens && !closes
    }

    fn suggestions(&mut self) {
        let Some(option) = self.kids.iter().position(|kid| kid.name() == "option") else { return };
        let is_other = |at: &usize| {
            let kid = &self.kids[*at];
            kid.name() != "option" && !matches!(kid.what, What::Splice) && kid.is_with(&self.kids[option])
        };
        if let Some(other) = (0..self.kids.len()).find(is_other) {
            self.say(other, "`datalist` takes `option` elements or other content, not both".into());
        }
    }

    /// 4.5.14: without `datetime`, its text is what a machine reads.
    fn time(&mut self) {
        let is_text = self.kids.iter().all(|kid| kid.is_sure && matches!(kid.what, What::Text(_)));
        if self.is_open || !is_text || self.facts.has("datetime") != Presence::No {
            return;
        }
        let Body::Nodes(nodes, _) = &self.facts.element.body else { return };
        let text = super::template::literal_start(nodes).map(|(text, ..)| text).unwrap_or_default();
        if let Some(allowed) = super::value::wrong(Type::Time, text.trim_ascii()) {
            self.miss(&format!("without `datetime` the text of a `time` is {allowed}"));
        }
    }

    fn title(&mut self) {
        let is_empty = self.kids.is_empty() && !self.is_open;
        if is_empty {
            self.miss("a `title` is not empty: write `title { \"...\" }`");
        }
    }

    /// 4.12.1: with `src`, only comments may stand inside.
    fn script(&mut self) {
        let is_code = |kid: &Kid<'_>| matches!(kid.what, What::Text(_));
        let is_comment = super::template::starts_with_comment(self.facts.element);
        if self.facts.has("src") == Presence::Yes
            && !is_comment
            && let Some(code) = self.kids.iter().position(is_code)
        {
            self.say(
                code,
                "a `script` with `src` runs what is there, not what stands here: write two `script` elements".into(),
            );
        }
    }
}

/// What stands in an element, if it has braces.
fn text_of(element: &Element) -> Option<Vec<Kid<'_>>> {
    match &element.body {
        Body::Nodes(nodes, _) => Some(kids(nodes)),
        Body::None => None,
    }
}

fn called(kid: &Kid<'_>) -> String {
    match &kid.what {
        What::Element(element) => format!("`{}`", element.name.text),
        What::Text(_) => "this text".into(),
        What::Splice => "this value".into(),
    }
}
