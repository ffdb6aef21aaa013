//! Checks which attributes an element has, and their literal values.

use skep_units::nearest;

use super::super::ast::{Attribute, Name, Node, Value};
use super::super::diagnostic::Diagnostic;
use super::super::standard::{Rules, Type, aria, attributes, elements, input, obsolete};
use super::content::list;
use super::facts::{Facts, literal};
use super::{template, value};

/// Prefixes of names that HTML leaves to authors, or that htmx, Alpine, Vue and their extensions use.
const FREE: &[&str] = &["data-", "hx-", "x-", "v-", "sse-", "ws-", "@", ":", "_"];

pub(super) fn check(facts: Facts<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(rules) = facts.rules.filter(|rules| !matches!(rules.name, "svg" | "math")) else { return };
    for attribute in &facts.element.attributes {
        let Attribute::Named { name, value } = attribute else { continue };
        let small = name.text.to_ascii_lowercase();
        let is_free = FREE.iter().any(|free| small.starts_with(free)) || small.contains([':', '.', '@']);
        // An invalid name is reported in `template`.
        if is_free || !template::is_name(&small) {
            continue;
        }
        let found = match kind(rules, &small) {
            Some(kind) => of_type(&small, kind, value).or_else(|| of_input(facts, &small)),
            None => Some(not_an_attribute(rules, &small)),
        };
        diagnostics.extend(found.map(|message| Diagnostic::on(name, message)));
    }
    if let Some(name) = id_with_space(facts) {
        diagnostics.push(Diagnostic::on(name, "an `id` has at least one character, and no space"));
    }
}

fn id_with_space(facts: Facts<'_>) -> Option<&Name> {
    let id = facts.literal("id")?;
    let is_shorthand = facts.attribute("id").is_none();
    (is_shorthand && value::expected_instead(Type::Id, &id).is_some()).then_some(&facts.element.name)
}

/// The type of an attribute on this element.
pub(super) fn kind(rules: &Rules, name: &str) -> Option<Type> {
    if let Some(kind) = rules.attribute(name) {
        return Some(kind);
    }
    if attributes::WINDOW_HANDLERS.contains(&name) && rules.name != "body" {
        return None;
    }
    // `embed` has any attribute except those that are obsolete on every element.
    let is_any = rules.name == "embed" && obsolete::attribute(rules.name, name).is_none();
    attributes::global(name).or(is_any.then_some(Type::Text))
}

/// The error in a value of this type.
fn of_type(name: &str, kind: Type, value: &Value) -> Option<String> {
    if kind == Type::Boolean {
        return boolean(name, value);
    }
    let text = match value {
        // An attribute without a value is empty.
        Value::Toggle(_) => String::new(),
        value => literal(value)?,
    };
    let allowed = value::expected_instead(kind, &text)?;
    let mut message = match value {
        Value::Nodes(_) => format!("`{text}` is not a valid value of `{name}`: expected {allowed}"),
        _ => format!("`{name}` needs a value: expected {allowed}"),
    };
    let words = match kind {
        Type::OneOf(words) | Type::Exactly(words) | Type::TokensOf(words) | Type::ListOf(words) => words,
        Type::Autofill => elements::AUTOFILL,
        _ => &[],
    };
    if let Some(near) = nearest(&text, words.iter().copied().filter(|word| !word.is_empty())) {
        message.extend(["; did you mean `", near, "`?"]);
    }
    Some(message)
}

/// A boolean attribute is on if it is present, whatever its value (2.3.2).
fn boolean(name: &str, value: &Value) -> Option<String> {
    let Value::Nodes(nodes) = value else { return None };
    if let [Node::Splice(splice)] = nodes.as_slice() {
        let expr = splice.expr.to_string();
        return Some(format!("`{name}` is a boolean attribute and is on whatever its value: write `{name}[{expr}]`"));
    }
    let text = literal(value)?;
    if text.is_empty() || text.eq_ignore_ascii_case(name) {
        return None;
    }
    let way = if text == "false" {
        format!("leave `{name}` out, or write `{name}[condition]`")
    } else {
        format!("write `{name}`")
    };
    Some(format!("`{name}` is a boolean attribute and is on whatever its value: {way}"))
}

/// Checks that this type of `input` has the attribute.
fn of_input(facts: Facts<'_>, name: &str) -> Option<String> {
    if facts.name() != "input" {
        return None;
    }
    let types = input::types(name)?;
    let kind = match facts.literal("type") {
        Some(kind) => kind.to_ascii_lowercase(),
        None if facts.has("type") == super::facts::Presence::No => "text".to_owned(),
        None => return None,
    };
    if types.contains(&kind.as_str()) || !elements::INPUT_TYPES.contains(&kind.as_str()) {
        return None;
    }
    Some(format!("`input` with `type=\"{kind}\"` has no attribute `{name}`: it belongs to the types {}", list(&types)))
}

/// The error for an unknown attribute.
fn not_an_attribute(rules: &Rules, name: &str) -> String {
    let element = rules.name;
    if let Some(instead) = obsolete::attribute(element, name) {
        return format!("`{name}` on `{element}` is obsolete: {instead}");
    }
    if attributes::WINDOW_HANDLERS.contains(&name) {
        return format!("`{name}` belongs to `body` only, because the window fires it");
    }
    let owners: Vec<&str> =
        elements::ELEMENTS.iter().filter(|rules| rules.attribute(name).is_some()).map(|rules| rules.name).collect();
    if !owners.is_empty() {
        return format!("`{element}` has no attribute `{name}`: it belongs to {}", some_of(&owners));
    }
    let own = rules.attributes.iter().map(|(name, _)| *name);
    let global = attributes::GLOBAL.iter().chain(aria::ATTRIBUTES).map(|(name, _)| *name);
    let near = nearest(name, own.chain(global).chain(attributes::HANDLERS.iter().copied()));
    let elsewhere = elements::ELEMENTS.iter().flat_map(|rules| rules.attributes).map(|(name, _)| *name);
    match near.or_else(|| nearest(name, elsewhere)) {
        Some(near) => format!("HTML has no attribute `{name}`: did you mean `{near}`?"),
        None if name.starts_with("aria-") => format!("WAI-ARIA has no `{name}`"),
        None if name.starts_with("on") => format!("HTML has no event handler `{name}`"),
        None => format!("HTML has no attribute `{name}`: write `data-{name}` for a custom attribute"),
    }
}

/// Lists the first few.
fn some_of(owners: &[&str]) -> String {
    match owners.get(..5) {
        Some(first) if owners.len() > 6 => format!("`{}` and others", first.join("`, `")),
        _ => list(owners),
    }
}
