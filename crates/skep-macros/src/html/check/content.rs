//! What may stand in an element, where that hangs on more than its name, and the words for it.

use super::super::standard::{self, Categories, Content, Model, Things, elements, foreign, obsolete};
use super::facts::{Facts, Presence};
use super::nearest::nearest;
use super::walk::Frame;

/// Where a node stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'t> {
    pub(super) model: Model,
    /// Elements that may stand here besides.
    pub(super) also: &'static [&'static str],
    /// The element whose model it is: not a transparent one. None at the top.
    pub(super) holder: Option<&'t str>,
    /// Does what is around the template judge what stands here?
    pub(super) is_top: bool,
    /// What is right in the parent of an element that stands wrong: its content may be meant for that.
    pub(super) forgiven: Option<Model>,
}

impl<'t> Place<'t> {
    pub(super) fn top(kind: Model) -> Self {
        Self { model: kind, also: &[], holder: None, is_top: true, forgiven: None }
    }

    fn of(holder: &'t str, model: Model, also: &'static [&'static str]) -> Self {
        Self { model, also, holder: Some(holder), is_top: false, forgiven: None }
    }

    /// Is a tag text here? Then `template` has named it already.
    pub(super) fn has_no_tags(self) -> bool {
        self.model == Model::Code || self.model == Model::Text && matches!(self.holder, Some("textarea" | "title"))
    }

    pub(super) fn takes_text(self) -> bool {
        self.model.takes_text() || self.forgiven.is_some_and(Model::takes_text)
    }

    pub(super) fn takes(self, name: &str, categories: Categories) -> bool {
        let never: &[&str] = match self.holder {
            // 4.10.9: a browser would end the group.
            Some("optgroup") => &["hr", "optgroup"],
            // 13.2.6.4.22: a browser would drop them.
            Some("template") => &["html", "head", "body"],
            _ => &[],
        };
        if never.contains(&name) && self.forgiven.is_none() {
            return false;
        }
        self.model.takes(name, categories)
            || self.also.contains(&name)
            || standard::is_custom(name) && self.model == Model::Foreign
            || self.forgiven.is_some_and(|model| model.takes(name, categories))
    }
}

/// What stands in this element: `place` is where it stands itself, `frames` what it stands in.
pub(super) fn inside<'t>(facts: Facts<'t>, place: Place<'t>, frames: &[Frame<'t>]) -> Place<'t> {
    let name = facts.name();
    if place.model == Model::Foreign && foreign::is_foreign(name) || facts.rules.is_none() {
        return inside_foreign(name, place);
    }
    let Some(rules) = facts.rules else { return place };
    let within = |ancestor: &str| frames.iter().any(|frame| frame.facts.name() == ancestor);
    let parent = frames.last().map(|frame| frame.facts.name());
    let transparent = |also| Place { also, ..place };
    match name {
        "noscript" if parent == Some("head") || place.model == Model::Metadata => {
            Place::of(name, Model::HeadNoscript, &[])
        }
        "noscript" if place.is_top && place.model == Model::Root => Place::of(name, Model::Anything, &[]),
        "div" if parent == Some("dl") => Place::of(name, Model::TermGroup, &[]),
        "div" if within("select") || within("optgroup") || within("option") => transparent(&[]),
        "div" if place.model == Model::Terms => Place::of(name, Model::Anything, &[]),
        "div" if place.model == Model::Options => Place::of(name, Model::Options, &[]),
        "option" if within("datalist") => Place::of(name, Model::Text, &[]),
        "option" if facts.has("label") == Presence::Yes && facts.has("value") == Presence::Yes => {
            Place::of(name, Model::Nothing, &[])
        }
        "option" if facts.has("label") == Presence::Yes => Place::of(name, Model::Text, &[]),
        "legend" if parent == Some("optgroup") => Place::of(name, Model::Phrasing, &[]),
        "colgroup" if facts.has("span") == Presence::Yes => Place::of(name, Model::Nothing, &[]),
        "time" if facts.has("datetime") == Presence::No => Place::of(name, Model::Text, &[]),
        "audio" | "video" if facts.has("src") == Presence::Yes => transparent(&["track"]),
        _ => match rules.content {
            // That it has content, `template` has named already.
            Content::Void => Place::of(name, Model::Anything, &[]),
            Content::Model(model, also) => Place::of(name, model, also),
            Content::Transparent(also) => transparent(also),
        },
    }
}

/// In an element that HTML's table does not know.
fn inside_foreign<'t>(name: &'t str, place: Place<'t>) -> Place<'t> {
    match name {
        "foreignObject" => Place::of(name, Model::Flow, &[]),
        _ if foreign::holds_html(name) => Place::of(name, Model::Anything, &[]),
        _ if standard::is_custom(name) => Place { also: &[], ..place },
        _ if foreign::is_foreign(name) => Place::of(name, Model::Foreign, &[]),
        _ => Place::of(name, Model::Anything, &[]),
    }
}

/// What may not stand in this element at any depth.
pub(super) fn excludes<'t>(facts: Facts<'t>, frames: &[Frame<'t>]) -> Things {
    let Some(rules) = facts.rules else { return Things::NONE };
    let parent = frames.last().map(|frame| frame.facts.name());
    let things = match rules.name {
        "legend" if parent == Some("optgroup") => Things::INTERACTIVE.and(Things::TABINDEX),
        _ => rules.excludes,
    };
    // 4.4.14: what the ancestors of a `main` may be.
    if ["html", "body", "div", "form", "template"].contains(&rules.name) { things } else { things.and(Things::MAIN) }
}

/// Why there is no such element here.
pub(super) fn unknown(facts: Facts<'_>, place: Place<'_>) -> Option<String> {
    let name = facts.name();
    if standard::is_custom(name) || place.model != Model::Foreign && facts.rules.is_some() {
        return None;
    }
    if foreign::is_foreign(name) {
        let is_loose = !matches!(place.model, Model::Foreign | Model::Anything | Model::Root);
        let around = if foreign::SVG.contains(&name) { "svg" } else { "math" };
        return is_loose.then(|| match obsolete::element(name) {
            Some(instead) => format!("`{name}` is obsolete: {instead}"),
            None => format!("`{name}` is no element of HTML: it stands in `{around}`"),
        });
    }
    if foreign::is_reserved(name) {
        return None;
    }
    if place.model == Model::Foreign {
        return facts.rules.map_or_else(
            || Some(no_element("SVG or MathML", name, foreign::SVG.iter().chain(foreign::MATHML).copied())),
            |_| {
                Some(format!("`{name}` is an element of HTML, and this is SVG or MathML: it stands in `foreignObject`"))
            },
        );
    }
    if let Some(instead) = obsolete::element(name) {
        return Some(format!("`{name}` is obsolete: {instead}"));
    }
    Some(no_element("HTML", name, elements::ELEMENTS.iter().map(|rules| rules.name)))
}

fn no_element<'n>(language: &str, name: &str, names: impl Iterator<Item = &'n str>) -> String {
    match nearest(name, names) {
        Some(near) => format!("{language} has no element `{name}`: did you mean `{near}`?"),
        None => format!("{language} has no element `{name}`; an element of your own has a hyphen in its name"),
    }
}

/// Why the element may not stand here.
pub(super) fn not_here(facts: Facts<'_>, place: Place<'_>, parent: Option<&str>) -> String {
    let name = facts.name();
    if let (Some(player @ ("audio" | "video")), "source") = (parent, name) {
        return format!("`source` cannot stand in `{player}` with `src`: write one or the other");
    }
    let Some(holder) = place.holder else { return beside(name, place.model) };
    let within = match parent {
        Some(parent) if parent != holder => format!("`{name}` cannot stand in `{parent}` in `{holder}`"),
        _ => format!("`{name}` cannot stand in `{holder}`"),
    };
    let hint = hint(name, place.model).map_or_else(|| belongs(name), Into::into);
    format!("{within}, which takes {}; {hint}", allows(place))
}

/// What to write instead, where that is plain.
fn hint(name: &str, model: Model) -> Option<&'static str> {
    match (name, model) {
        ("div", Model::Phrasing) => Some("write `span`, or put the `div` beside it"),
        ("p", Model::Phrasing) => Some("end the one before the other begins"),
        ("tr", Model::TableParts) => Some("write it in `tbody`"),
        ("td" | "th", Model::Rows | Model::TableParts) => Some("write a `tr` around it"),
        (_, Model::Items) => Some("write an `li` around it"),
        (_, Model::Cells) => Some("write a `td` around it"),
        (_, Model::Metadata | Model::PageParts) => Some("write it in `body`"),
        ("style", _) => Some("write it in `head`"),
        _ => None,
    }
}

fn allows(place: Place<'_>) -> String {
    let also: Vec<String> = place.also.iter().map(|name| format!("`{name}`")).collect();
    match also.as_slice() {
        [] => place.model.allows().to_owned(),
        also => format!("{} and {}", also.join(", "), place.model.allows()),
    }
}

/// Why text may not stand here.
pub(super) fn no_text(place: Place<'_>, parent: Option<&str>) -> String {
    let Some(holder) = parent.or(place.holder) else {
        return format!("text cannot stand beside what else is at the top here, {}", called(place.model));
    };
    let way = match place.model {
        Model::Items => ": write `li { \"text\" }`",
        Model::Terms | Model::TermGroup => ": write `dt { \"text\" }` or `dd { \"text\" }`",
        Model::Cells => ": write `td { \"text\" }`",
        Model::Options => ": write `option { \"text\" }`",
        Model::TableParts => ": write `caption { \"text\" }`, or `tr { td { \"text\" } }`",
        Model::Rows => ": write `tr { td { \"text\" } }`",
        _ => "",
    };
    format!("text cannot stand in `{holder}`, which takes {}{way}", allows(place))
}

/// Why an ancestor forbids this.
pub(super) fn excluded(name: &str, thing: Things, ancestor: &str) -> String {
    if thing == Things::MAIN {
        return format!("`main` cannot stand in `{ancestor}`: around it are only `html`, `body`, `div` and `form`");
    }
    if name == ancestor {
        return format!("`{name}` cannot stand in another `{ancestor}`, at any depth");
    }
    let what = match thing {
        Things::INTERACTIVE => ": no interactive content there, at any depth",
        Things::NOT_IN_CANVAS => ": of interactive content only links, buttons and the like there, at any depth",
        Things::TABINDEX => ": nothing with `tabindex` there, at any depth",
        _ => ", at any depth",
    };
    format!("`{name}` cannot stand in `{ancestor}`{what}")
}

/// Why an element may not stand at the top.
fn beside(name: &str, kind: Model) -> String {
    format!("`{name}` cannot stand beside what else is at the top here, {}: {}", called(kind), belongs(name))
}

/// What the top of a piece of HTML is.
fn called(kind: Model) -> String {
    match kind {
        Model::Document => "a whole page".to_owned(),
        Model::Flow => "flow content".to_owned(),
        kind => format!("which is {}", kind.allows()),
    }
}

fn belongs(name: &str) -> String {
    format!("`{name}` stands in {}", parents(name))
}

/// Where an element may stand, by what its parents take.
pub(super) fn parents(name: &str) -> String {
    let Some(rules) = standard::element(name) else { return "`svg` or `math`".to_owned() };
    if rules.categories.has(Categories::PHRASING) {
        return "phrasing content (in `p`, `span`, `div`, ...)".to_owned();
    }
    if rules.categories.has(Categories::FLOW) {
        return "flow content (in `body`, `div`, `section`, `li`, `td`, ...)".to_owned();
    }
    if rules.categories.has(Categories::METADATA) {
        return "`head`".to_owned();
    }
    let holds = |parent: &&standard::Rules| match parent.content {
        Content::Model(model, also) => also.contains(&name) || model.accepts(rules),
        Content::Transparent(also) => also.contains(&name),
        Content::Void => false,
    };
    let parents = elements::ELEMENTS.iter().filter(holds).filter(|parent| parent.name != "template");
    let names: Vec<&str> = parents.map(|parent| parent.name).collect();
    if names.is_empty() { "no other element: it is the root".to_owned() } else { list(&names) }
}

/// "`a`, `b` or `c`".
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [some @ .., last] if !some.is_empty() => format!("{} or {last}", some.join(", ")),
        all => all.concat(),
    }
}
