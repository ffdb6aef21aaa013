//! The check of one message: what it refers to, and which arguments it takes.

use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{CallArguments, Expression, InlineExpression, PatternElement, Variant, VariantKey};
use skep_units::nearest;

use crate::file::{Entries, Entry, Pattern};
use crate::locale::{CATEGORIES, Locale};
use crate::number::Style;
use crate::problem::Problem;

/// The plurals of these come in texts: up to here each language uses those that it has for whole numbers, apart from
/// the one for millions that French and others have beside `other`.
const WHOLE_NUMBERS: u32 = 200;

/// What a message does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It shows it.
    Any,
    /// It selects by it, as by a text.
    Text,
    /// It selects a plural by it, or formats it as a number.
    Number,
    /// It formats it as a date.
    Date,
}

/// The arguments of a message.
pub(crate) type Signature = BTreeMap<String, Kind>;

/// A walk through a message and what it refers to.
pub(crate) struct Walk<'w, 's> {
    pub(crate) entries: &'w Entries<'s>,
    pub(crate) locale: &'w Locale,
    pub(crate) problems: &'w mut Vec<Problem>,
    /// The entries that others refer to.
    pub(crate) referenced: &'w mut BTreeSet<String>,
    /// What the walk is in; the last one has the line.
    stack: Vec<(&'w str, &'w Entry<'s>)>,
    signature: Signature,
}

impl<'w, 's> Walk<'w, 's> {
    pub(crate) fn new(
        entries: &'w Entries<'s>,
        locale: &'w Locale,
        problems: &'w mut Vec<Problem>,
        referenced: &'w mut BTreeSet<String>,
    ) -> Self {
        Self { entries, locale, problems, referenced, stack: Vec::new(), signature: Signature::new() }
    }

    /// The arguments of this entry.
    pub(crate) fn signature(mut self, key: &'w str, entry: &'w Entry<'s>) -> Signature {
        self.enter(key, entry);
        self.signature
    }

    fn enter(&mut self, key: &'w str, entry: &'w Entry<'s>) {
        if self.stack.iter().any(|(one, _)| *one == key) {
            return self.complain(format!("`{key}` refers to itself"));
        }
        self.stack.push((key, entry));
        self.pattern(&entry.pattern);
        self.stack.pop();
    }

    fn complain(&mut self, text: String) {
        if let Some((_, entry)) = self.stack.last() {
            self.problems.push(entry.problem(text));
        }
    }

    fn pattern(&mut self, pattern: &'w Pattern<'s>) {
        for element in &pattern.elements {
            match element {
                PatternElement::TextElement { .. } => {}
                PatternElement::Placeable { expression: Expression::Inline(inline) } => self.inline(inline, Kind::Any),
                PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
                    self.select(selector, variants);
                }
            }
        }
    }

    fn select(&mut self, selector: &'w InlineExpression<&'s str>, variants: &'w [Variant<&'s str>]) {
        let names: Vec<_> = variants.iter().filter_map(|variant| name_of(&variant.key)).collect();
        let has_numbers = names.len() < variants.len();
        let is_plural = names.iter().all(|name| CATEGORIES.contains(name));
        let is_only_other = !has_numbers && names == ["other"];
        let kind = match is_plural {
            true if is_only_other => Kind::Any,
            true => Kind::Number,
            false => Kind::Text,
        };
        if has_numbers && !is_plural {
            self.complain("variants are numbers and plural categories, or texts, not both".to_owned());
        }
        if kind == Kind::Number && !matches!(selector, InlineExpression::TermReference { .. }) {
            self.categories(is_ordinal(selector), variants, &names);
        }
        self.inline(selector, kind);
        for variant in variants {
            self.pattern(&variant.value);
        }
    }

    /// The language has these, and those that are missing come with fractions only.
    fn categories(&mut self, is_ordinal: bool, variants: &[Variant<&'s str>], names: &[&str]) {
        let (tag, own) = (self.locale.tag(), self.locale.categories(is_ordinal));
        let list = own.join(", ");
        for name in names.iter().filter(|name| !own.contains(name)) {
            self.complain(format!("the plural `{name}` never occurs in `{tag}`, which has: {list}"));
        }
        if names.iter().all(|name| *name == "other") {
            // The numbers have texts, and all others have the same one.
            return;
        }
        let has = |number: u32| variants.iter().any(|variant| is_number(&variant.key, number));
        let numbers = (0..=WHOLE_NUMBERS).filter(|number| !has(*number));
        let needed: BTreeSet<_> = numbers.map(|number| self.locale.category(&number.into(), is_ordinal)).collect();
        let lacks = own.iter().filter(|name| needed.contains(*name) && !names.contains(name));
        let lacks: Vec<_> = lacks.map(|name| format!("`{name}`")).collect();
        if !lacks.is_empty() {
            let lacks = lacks.join(", ");
            self.complain(format!("there is no {lacks}, which whole numbers need in `{tag}`; it has: {list}"));
        }
    }

    fn inline(&mut self, inline: &'w InlineExpression<&'s str>, kind: Kind) {
        match inline {
            InlineExpression::StringLiteral { .. } | InlineExpression::NumberLiteral { .. } => {}
            InlineExpression::VariableReference { id } => self.argument(id.name, kind),
            InlineExpression::MessageReference { id, attribute } => {
                self.refer("", id.name, attribute.as_ref().map(|one| one.name));
            }
            InlineExpression::TermReference { id, attribute, arguments } => {
                self.term(id.name, attribute.as_ref().map(|one| one.name), arguments.as_ref());
            }
            InlineExpression::FunctionReference { id, arguments } => self.function(id.name, arguments),
            InlineExpression::Placeable { expression } => match &**expression {
                Expression::Inline(inline) => self.inline(inline, kind),
                Expression::Select { selector, variants } => self.select(selector, variants),
            },
        }
    }

    fn argument(&mut self, name: &str, kind: Kind) {
        let before = self.signature.get(name).copied().unwrap_or(Kind::Any);
        if before != Kind::Any && kind != Kind::Any && before != kind {
            self.complain(format!("${name} is used as {before:?} and as {kind:?}"));
        }
        self.signature.insert(name.to_owned(), before.max(kind));
    }

    fn refer(&mut self, sign: &str, id: &str, attribute: Option<&str>) {
        let key = attribute.map_or_else(|| format!("{sign}{id}"), |attribute| format!("{sign}{id}.{attribute}"));
        match self.entries.get_key_value(&key) {
            Some((key, entry)) => {
                self.referenced.insert(key.clone());
                self.enter(key, entry);
            }
            None => {
                let near = nearest(&key, self.entries.keys().map(String::as_str));
                let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                self.complain(format!("there is no `{key}`{help}"));
            }
        }
    }

    /// The arguments of a term are those that the reference gives it.
    fn term(&mut self, id: &str, attribute: Option<&str>, arguments: Option<&'w CallArguments<&'s str>>) {
        let outer = std::mem::take(&mut self.signature);
        self.refer("-", id, attribute);
        let taken = std::mem::replace(&mut self.signature, outer);
        let given = arguments.map_or(&[][..], |arguments| &arguments.named);
        for name in taken.keys().filter(|name| given.iter().all(|one| one.name.name != *name)) {
            self.complain(format!("the term `-{id}` takes ${name}: {{ -{id}({name}: \"...\") }}"));
        }
    }

    fn function(&mut self, name: &str, arguments: &'w CallArguments<&'s str>) {
        let kind = match name {
            "NUMBER" => Kind::Number,
            "DATETIME" if cfg!(feature = "icu") => Kind::Date,
            "DATETIME" => return self.complain("DATETIME needs the feature `icu` of skep-language".to_owned()),
            _ => return self.complain(format!("there is no function {name}, only NUMBER and DATETIME")),
        };
        let [value] = arguments.positional.as_slice() else {
            return self.complain(format!("{name} takes one value, and options: {name}($value, option: \"...\")"));
        };
        self.inline(value, kind);
        let mut style = Style::default();
        #[cfg(feature = "icu")]
        let mut date = crate::date::Style::default();
        for (option, value) in options(arguments) {
            let result = match kind {
                Kind::Number => style.set(option, value),
                #[cfg(feature = "icu")]
                _ => date.set(option, value),
                #[cfg(not(feature = "icu"))]
                _ => Ok(()),
            };
            if let Err(help) = result {
                self.complain(format!("{option}: {value:?} is no option; {help}"));
            }
        }
    }
}

fn is_number(key: &VariantKey<&str>, number: u32) -> bool {
    matches!(key, VariantKey::NumberLiteral { value } if value.parse() == Ok(number))
}

fn name_of<'s>(key: &VariantKey<&'s str>) -> Option<&'s str> {
    match key {
        VariantKey::Identifier { name } => Some(name),
        VariantKey::NumberLiteral { .. } => None,
    }
}

/// Name and value of the options of a function.
pub(crate) fn options<'a, 's>(arguments: &'a CallArguments<&'s str>) -> impl Iterator<Item = (&'s str, &'s str)> + 'a {
    arguments.named.iter().map(|one| match &one.value {
        InlineExpression::StringLiteral { value } | InlineExpression::NumberLiteral { value } => {
            (one.name.name, *value)
        }
        _ => (one.name.name, ""),
    })
}

/// `NUMBER($place, type: "ordinal")`
fn is_ordinal(selector: &InlineExpression<&str>) -> bool {
    let InlineExpression::FunctionReference { arguments, .. } = selector else { return false };
    options(arguments).any(|option| option == ("type", "ordinal"))
}
