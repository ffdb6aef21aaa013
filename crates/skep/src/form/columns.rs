//! The types of forms in columns: what a form sent goes into a statement as it is, and comes back as the same type.

use super::{Date, DateTime, Email, MultilineText, Text, Time, Url, Whole};
use crate::sql::{FromValue, ToValue, Unfit, Value};

/// As the text that a form sends. A text in the database that the type would refuse is [`Unfit`]: whoever wants to read it
/// nevertheless reads a `String`.
macro_rules! as_text {
    ($([$($generics:tt)*] $type:ty, $text:ident;)*) => {$(
        impl<$($generics)*> ToValue for $type {
            fn to_value(&self) -> Result<Value<'_>, Unfit> {
                Ok(Value::Text(self.$text().into()))
            }
        }

        impl<$($generics)*> FromValue for $type {
            fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
                let text = String::from_value(value)?;
                text.parse().map_err(|_| Unfit::because(format!("not {}", <$type as crate::param::Param>::expected())))
            }
        }
    )*};
}

as_text! {
    [const MIN: usize, const MAX: usize] Text<MIN, MAX>, as_str;
    [const MIN: usize, const MAX: usize] MultilineText<MIN, MAX>, as_str;
    [] Email, as_str;
    [] Url, as_str;
    [] Date, to_string;
    [] Time, to_string;
    [] DateTime, to_string;
}

impl<const MIN: i64, const MAX: i64> ToValue for Whole<MIN, MAX> {
    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        Ok(Value::Integer(self.get()))
    }
}

impl<const MIN: i64, const MAX: i64> FromValue for Whole<MIN, MAX> {
    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        let number = i64::from_value(value)?;
        Self::new(number).ok_or_else(|| Unfit::because(format!("{number} does not lie between {MIN} and {MAX}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::Param;

    #[derive(Clone, Copy, Debug, PartialEq, Param)]
    enum Rating {
        Great,
        #[param("so-so")]
        Fine,
    }

    fn back<T: ToValue + FromValue>(value: &T) -> T {
        T::from_value(value.to_value().unwrap()).unwrap()
    }

    fn refused<T: FromValue>(text: &'static str) -> String {
        T::from_value(Value::Text(text.into())).err().expect("a value that does not fit").to_string()
    }

    #[test]
    fn what_a_form_sent_is_kept_and_comes_back() {
        let name: Text<1, 80> = "Ann".parse().unwrap();
        assert_eq!(back(&name).as_str(), "Ann");
        let day: Date = "2026-11-21".parse().unwrap();
        assert_eq!(day.to_value().unwrap(), Value::Text("2026-11-21".into()));
        assert_eq!(back(&day).to_string(), "2026-11-21");
        assert_eq!(back(&Whole::<1, 5>::new(3).unwrap()).get(), 3);
        assert_eq!(Rating::Fine.to_value().unwrap(), Value::Text("so-so".into()));
        assert_eq!(back(&Rating::Great), Rating::Great);
    }

    #[test]
    fn what_the_type_refuses_is_said() {
        assert_eq!(refused::<Email>("x"), "not an e-mail address");
        assert_eq!(refused::<Rating>("bad"), "\"bad\" is not great or so-so");
        let six = Whole::<1, 5>::from_value(Value::Integer(6)).expect_err("6 is too much");
        assert_eq!(six.to_string(), "6 does not lie between 1 and 5");
    }
}
