//! The text of a message.

use std::borrow::Cow;

use fixed_decimal::Decimal;
use fluent_syntax::ast::{CallArguments, Expression, InlineExpression, PatternElement, Variant, VariantKey};
use fluent_syntax::unicode::unescape_unicode_to_string;

use crate::argument::Argument;
use crate::file::{Entries, Pattern};
use crate::locale::Locale;
use crate::number::Style;
use crate::walk::options;

/// What a text is made of.
pub(crate) struct Formatter<'f, 's> {
    pub(crate) locale: &'f Locale,
    pub(crate) entries: &'f Entries<'s>,
    pub(crate) arguments: &'f [(&'f str, Argument<'f>)],
}

/// A value within a text.
enum Value<'v> {
    Text(Cow<'v, str>),
    /// A text of the application's data, which may be in another script.
    Foreign(Cow<'v, str>),
    Number(Decimal, Style),
}

impl Formatter<'_, '_> {
    pub(crate) fn text(&self, key: &str) -> String {
        let mut out = String::new();
        match self.entries.get(key) {
            Some(entry) => self.pattern(&entry.pattern, &mut out),
            // Only what was not checked refers to nothing.
            None => out.push_str(key),
        }
        out
    }

    fn pattern(&self, pattern: &Pattern<'_>, out: &mut String) {
        let is_alone = pattern.elements.len() == 1;
        for element in &pattern.elements {
            match element {
                PatternElement::TextElement { value } => out.push_str(value),
                PatternElement::Placeable { expression } => self.expression(expression, is_alone, out),
            }
        }
    }

    fn expression(&self, expression: &Expression<&str>, is_alone: bool, out: &mut String) {
        match expression {
            Expression::Select { selector, variants } => self.pattern(self.select(selector, variants), out),
            Expression::Inline(InlineExpression::Placeable { expression }) => {
                self.expression(expression, is_alone, out);
            }
            Expression::Inline(inline) => match self.value(inline) {
                Value::Text(text) => out.push_str(&text),
                Value::Foreign(text) if is_alone || !self.is_other_direction(&text) => out.push_str(&text),
                // Unicode's isolates: neither disturbs the order of the other.
                Value::Foreign(text) => out.extend(["\u{2068}", &text, "\u{2069}"]),
                Value::Number(number, style) => {
                    out.push_str(&self.locale.number(&style.apply(&number), !style.is_ungrouped));
                }
            },
        }
    }

    fn is_other_direction(&self, text: &str) -> bool {
        let is_left_to_right = |one: char| one.is_alphabetic() && !is_right_to_left(one);
        if self.locale.is_right_to_left() {
            text.chars().any(is_left_to_right)
        } else {
            text.chars().any(is_right_to_left)
        }
    }

    fn value<'v>(&'v self, inline: &'v InlineExpression<&str>) -> Value<'v> {
        match inline {
            InlineExpression::StringLiteral { value } => Value::Text(unescape_unicode_to_string(value)),
            InlineExpression::NumberLiteral { value } => {
                Value::Number(value.parse().unwrap_or_default(), Style::default())
            }
            InlineExpression::VariableReference { id } => self.argument(id.name),
            InlineExpression::MessageReference { id, attribute } => {
                let attribute = attribute.as_ref().map(|one| format!(".{}", one.name)).unwrap_or_default();
                Value::Text(self.text(&format!("{}{attribute}", id.name)).into())
            }
            InlineExpression::TermReference { id, attribute, arguments } => {
                let attribute = attribute.as_ref().map(|one| format!(".{}", one.name)).unwrap_or_default();
                Value::Text(self.term(&format!("-{}{attribute}", id.name), arguments.as_ref()).into())
            }
            InlineExpression::FunctionReference { arguments, .. } => self.function(arguments),
            InlineExpression::Placeable { expression } => {
                let mut text = String::new();
                self.expression(expression, true, &mut text);
                Value::Text(text.into())
            }
        }
    }

    fn argument(&self, name: &str) -> Value<'_> {
        match self.arguments.iter().find(|(one, _)| *one == name) {
            Some((_, Argument::Text(text))) => Value::Foreign(Cow::Borrowed(text)),
            Some((_, Argument::Number(number))) => Value::Number(number.clone(), Style::default()),
            Some((_, Argument::Float(number))) => Value::Number(number.clone(), Style::FLOAT),
            #[cfg(feature = "icu")]
            Some((_, Argument::Date(moment))) => {
                Value::Text(moment.written(self.locale, crate::date::Style::default()).into())
            }
            None => Value::Text(format!("{{${name}}}").into()),
        }
    }

    fn term(&self, key: &str, arguments: Option<&CallArguments<&str>>) -> String {
        let named = arguments.map_or(&[][..], |arguments| &arguments.named);
        let given = named.iter().map(|one| {
            let value = match self.value(&one.value) {
                Value::Text(text) | Value::Foreign(text) => Argument::Text(text),
                Value::Number(number, _) => Argument::Number(number),
            };
            (one.name.name, value)
        });
        let arguments: Vec<_> = given.collect();
        Formatter { locale: self.locale, entries: self.entries, arguments: &arguments }.text(key)
    }

    fn function<'v>(&'v self, arguments: &'v CallArguments<&str>) -> Value<'v> {
        let Some(inner) = arguments.positional.first() else { return Value::Text("".into()) };
        #[cfg(feature = "icu")]
        if let InlineExpression::VariableReference { id } = inner
            && let Some((_, Argument::Date(moment))) = self.arguments.iter().find(|(one, _)| *one == id.name)
        {
            let mut style = crate::date::Style::default();
            options(arguments).for_each(|(name, value)| _ = style.set(name, value));
            return Value::Text(moment.written(self.locale, style).into());
        }
        let mut value = self.value(inner);
        if let Value::Number(_, style) = &mut value {
            options(arguments).for_each(|(name, value)| _ = style.set(name, value));
        }
        value
    }

    /// The variant that fits: the number itself before its plural, and otherwise the default one.
    fn select<'v, 's>(&self, selector: &InlineExpression<&str>, variants: &'v [Variant<&'s str>]) -> &'v Pattern<'s> {
        let value = self.value(selector);
        let fits = |key: &VariantKey<&str>| match (&value, key) {
            (Value::Text(text) | Value::Foreign(text), VariantKey::Identifier { name }) => text == name,
            (Value::Number(number, style), VariantKey::NumberLiteral { value }) => {
                value.parse().is_ok_and(|literal| trimmed(literal) == trimmed(style.apply(number)))
            }
            _ => false,
        };
        let is_plural = |key: &VariantKey<&str>| match (&value, key) {
            (Value::Number(number, style), VariantKey::Identifier { name }) => {
                self.locale.category(&style.apply(number), style.is_ordinal) == *name
            }
            _ => false,
        };
        let found = variants.iter().find(|variant| fits(&variant.key));
        let found = found.or_else(|| variants.iter().find(|variant| is_plural(&variant.key)));
        let found = found.or_else(|| variants.iter().find(|variant| variant.default));
        &found.unwrap_or(&variants[0]).value
    }
}

/// 0 for 0.00.
fn trimmed(mut number: Decimal) -> Decimal {
    number.trim_end();
    number
}

/// True for letters of scripts that are written from right to left: the blocks that Unicode has for them.
fn is_right_to_left(one: char) -> bool {
    matches!(
        one,
        '\u{590}'..='\u{8ff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}
