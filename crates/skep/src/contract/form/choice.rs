//! One of a few: an enum in a form.

use super::field::{Control, OfferedOption, Shape};
use super::look;
use crate::routing::param::Choice;
use skep_http::validation::FieldError;

impl<T: Choice> Control for T {
    type Look = look::Choose;

    fn shape() -> Shape {
        let option = |choice: &Self| OfferedOption {
            value: choice.value(),
            label: choice.label(),
            translations: choice.translations(),
        };
        Shape { kind: "radio", options: Self::ALL.iter().map(option).collect(), ..Shape::default() }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() { Err(FieldError::Missing) } else { Self::parse(text).ok_or(FieldError::NotChoice) }
    }
}
