//! Content models that depend on more than the name of an element, and the messages about misplaced nodes.

use skep_units::{any_of, nearest};

use super::super::standard::{self, Categories, Content, Exclusions, Model, elements, foreign, obsolete};
use super::facts::{Facts, OpenElement, Presence};

/// The position of a node.
#[derive(Clone, Copy)]
pub(super) struct Position<'t> {
    pub(super) model: Model,
    /// Elements allowed in addition to the model.
    pub(super) also: &'static [&'static str],
    /// The element that sets the model, which is never a transparent one. None at the top.
    pub(super) holder: Option<&'t str>,
    /// Must the context of the template allow this node?
    pub(super) is_top: bool,
    /// The model around a misplaced element, which its content may be meant for: also accepted.
    pub(super) forgiven: Option<Model>,
}

impl<'t> Position<'t> {
    pub(super) fn top(kind: Model) -> Self {
        Self { model: kind, also: &[], holder: None, is_top: true, forgiven: None }
    }

    fn of(holder: &'t str, model: Model, also: &'static [&'static str]) -> Self {
        Self { model, also, holder: Some(holder), is_top: false, forgiven: None }
    }

    /// Is a tag parsed as text here? `template` reports it.
    pub(super) fn has_no_tags(self) -> bool {
        self.model == Model::Code || self.model == Model::Text && matches!(self.holder, Some("textarea" | "title"))
    }

    pub(super) fn takes_text(self) -> bool {
        self.model.takes_text() || self.forgiven.is_some_and(Model::takes_text)
    }

    pub(super) fn takes(self, name: &str, categories: Categories) -> bool {
        let never: &[&str] = match self.holder {
            // 4.10.9: browsers close the group.
            Some("optgroup") => &["hr", "optgroup"],
            // 13.2.6.4.22: browsers drop these.
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

/// The position of the content of an element at `position`.
pub(super) fn inside<'t>(facts: Facts<'t>, position: Position<'t>, open_elements: &[OpenElement<'t>]) -> Position<'t> {
    let name = facts.name();
    if position.model == Model::Foreign && foreign::is_foreign(name) || facts.rules.is_none() {
        return inside_foreign(name, position);
    }
    let Some(rules) = facts.rules else { return position };
    let within = |ancestor: &str| open_elements.iter().any(|open| open.facts.name() == ancestor);
    let parent = open_elements.last().map(|open| open.facts.name());
    let transparent = |also| Position { also, ..position };
    match name {
        "noscript" if parent == Some("head") || position.model == Model::Metadata => {
            Position::of(name, Model::HeadNoscript, &[])
        }
        "noscript" if position.is_top && position.model == Model::Root => Position::of(name, Model::Anything, &[]),
        "div" if parent == Some("dl") => Position::of(name, Model::TermGroup, &[]),
        "div" if within("select") || within("optgroup") || within("option") => transparent(&[]),
        "div" if position.model == Model::Terms => Position::of(name, Model::Anything, &[]),
        "div" if position.model == Model::Options => Position::of(name, Model::Options, &[]),
        "option" if within("datalist") => Position::of(name, Model::Text, &[]),
        "option" if facts.has("label") == Presence::Yes && facts.has("value") == Presence::Yes => {
            Position::of(name, Model::Nothing, &[])
        }
        "option" if facts.has("label") == Presence::Yes => Position::of(name, Model::Text, &[]),
        "legend" if parent == Some("optgroup") => Position::of(name, Model::Phrasing, &[]),
        "colgroup" if facts.has("span") == Presence::Yes => Position::of(name, Model::Nothing, &[]),
        "time" if facts.has("datetime") == Presence::No => Position::of(name, Model::Text, &[]),
        "audio" | "video" if facts.has("src") == Presence::Yes => transparent(&["track"]),
        _ => match rules.content {
            // `template` reports that it has content.
            Content::Void => Position::of(name, Model::Anything, &[]),
            Content::Model(model, also) => Position::of(name, model, also),
            Content::Transparent(also) => transparent(also),
        },
    }
}

/// The position of the content of an element that is not in the table.
fn inside_foreign<'t>(name: &'t str, position: Position<'t>) -> Position<'t> {
    match name {
        "foreignObject" => Position::of(name, Model::Flow, &[]),
        _ if foreign::HOLDS_HTML.contains(&name) => Position::of(name, Model::Anything, &[]),
        _ if standard::is_custom(name) => Position { also: &[], ..position },
        _ if foreign::is_foreign(name) => Position::of(name, Model::Foreign, &[]),
        _ => Position::of(name, Model::Anything, &[]),
    }
}

/// What the element forbids at any depth.
pub(super) fn excludes<'t>(facts: Facts<'t>, open_elements: &[OpenElement<'t>]) -> Exclusions {
    let Some(rules) = facts.rules else { return Exclusions::NONE };
    let parent = open_elements.last().map(|open| open.facts.name());
    let exclusions = match rules.name {
        "legend" if parent == Some("optgroup") => Exclusions::INTERACTIVE.union(Exclusions::TABINDEX),
        _ => rules.excludes,
    };
    // 4.4.14: the elements that may contain `main`.
    if ["html", "body", "div", "form", "template"].contains(&rules.name) {
        exclusions
    } else {
        exclusions.union(Exclusions::MAIN)
    }
}

/// The error for an unknown element.
pub(super) fn unknown_element(facts: Facts<'_>, position: Position<'_>) -> Option<String> {
    let name = facts.name();
    if standard::is_custom(name) || position.model != Model::Foreign && facts.rules.is_some() {
        return None;
    }
    if foreign::is_foreign(name) {
        let is_loose = !matches!(position.model, Model::Foreign | Model::Anything | Model::Root);
        let around = if foreign::SVG.contains(&name) { "svg" } else { "math" };
        return is_loose.then(|| match obsolete::element(name) {
            Some(instead) => format!("`{name}` is obsolete: {instead}"),
            None => format!("`{name}` is not an HTML element: it belongs in `{around}`"),
        });
    }
    if foreign::RESERVED.contains(&name) {
        return None;
    }
    if position.model == Model::Foreign {
        return facts.rules.map_or_else(
            || Some(no_element("SVG or MathML", name, foreign::SVG.iter().chain(foreign::MATHML).copied())),
            |_| Some(format!("`{name}` is an HTML element, and this is SVG or MathML: write it in `foreignObject`")),
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
        None => format!("{language} has no element `{name}`; the name of a custom element contains a hyphen"),
    }
}

/// The error for an element that its parent does not allow.
pub(super) fn misplaced_element(facts: Facts<'_>, position: Position<'_>, parent: Option<&str>) -> String {
    let name = facts.name();
    if let (Some(player @ ("audio" | "video")), "source") = (parent, name) {
        return format!("`source` is not allowed in `{player}` with `src`: write one or the other");
    }
    let Some(holder) = position.holder else { return misplaced_root(name, position.model) };
    let within = match parent {
        Some(parent) if parent != holder => format!("`{name}` is not allowed in `{parent}` in `{holder}`"),
        _ => format!("`{name}` is not allowed in `{holder}`"),
    };
    let hint = hint(name, position.model).map_or_else(|| allowed_in(name), Into::into);
    format!("{within}, which takes {}; {hint}", allows(position))
}

/// What to write instead.
fn hint(name: &str, model: Model) -> Option<&'static str> {
    match (name, model) {
        ("div", Model::Phrasing) => Some("write `span`, or move the `div` out"),
        ("p", Model::Phrasing) => Some("close the first `p` before the second"),
        ("tr", Model::TableParts) => Some("move it to `tbody`"),
        ("td" | "th", Model::Rows | Model::TableParts) => Some("wrap it in a `tr`"),
        (_, Model::Items) => Some("wrap it in an `li`"),
        (_, Model::Cells) => Some("wrap it in a `td`"),
        (_, Model::Metadata | Model::PageParts) => Some("move it to `body`"),
        ("style", _) => Some("move it to `head`"),
        _ => None,
    }
}

fn allows(position: Position<'_>) -> String {
    let also: Vec<String> = position.also.iter().map(|name| format!("`{name}`")).collect();
    match also.as_slice() {
        [] => position.model.allows().to_owned(),
        also => format!("{} and {}", also.join(", "), position.model.allows()),
    }
}

/// The error for text where none is allowed.
pub(super) fn misplaced_text(position: Position<'_>, parent: Option<&str>) -> String {
    let Some(holder) = parent.or(position.holder) else {
        return format!("text is not allowed at the top of this template, {}", describe_kind(position.model));
    };
    let way = match position.model {
        Model::Items => ": write `li { \"text\" }`",
        Model::Terms | Model::TermGroup => ": write `dt { \"text\" }` or `dd { \"text\" }`",
        Model::Cells => ": write `td { \"text\" }`",
        Model::Options => ": write `option { \"text\" }`",
        Model::TableParts => ": write `caption { \"text\" }`, or `tr { td { \"text\" } }`",
        Model::Rows => ": write `tr { td { \"text\" } }`",
        _ => "",
    };
    format!("text is not allowed in `{holder}`, which takes {}{way}", allows(position))
}

/// The error for an element that an ancestor forbids.
pub(super) fn excluded_element(name: &str, exclusion: Exclusions, ancestor: &str) -> String {
    if exclusion == Exclusions::MAIN {
        return format!("`main` is not allowed in `{ancestor}`: only `html`, `body`, `div` and `form` may contain it");
    }
    if name == ancestor {
        return format!("`{name}` is not allowed in another `{ancestor}`, at any depth");
    }
    let what = match exclusion {
        Exclusions::INTERACTIVE => ": no interactive content is allowed there, at any depth",
        Exclusions::NOT_IN_CANVAS => {
            ": of interactive content only links, buttons and the like are allowed there, at any depth"
        }
        Exclusions::TABINDEX => ": nothing with `tabindex` is allowed there, at any depth",
        _ => ", at any depth",
    };
    format!("`{name}` is not allowed in `{ancestor}`{what}")
}

/// The error for a root that does not fit the other roots.
fn misplaced_root(name: &str, kind: Model) -> String {
    format!("`{name}` is not allowed at the top of this template, {}: {}", describe_kind(kind), allowed_in(name))
}

/// Describes the kind of a template.
fn describe_kind(kind: Model) -> String {
    match kind {
        Model::Document => "which is a whole page".to_owned(),
        Model::Flow => "which is flow content".to_owned(),
        kind => format!("which is {}", kind.allows()),
    }
}

fn allowed_in(name: &str) -> String {
    format!("`{name}` belongs in {}", parents(name))
}

/// Where an element is allowed.
pub(super) fn parents(name: &str) -> String {
    let Some(rules) = standard::element(name) else { return "`svg` or `math`".to_owned() };
    if rules.categories.contains(Categories::PHRASING) {
        return "phrasing content (in `p`, `span`, `div`, ...)".to_owned();
    }
    if rules.categories.contains(Categories::FLOW) {
        return "flow content (in `body`, `div`, `section`, `li`, `td`, ...)".to_owned();
    }
    if rules.categories.contains(Categories::METADATA) {
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
    any_of(names.iter().map(|name| format!("`{name}`")))
}
