//! `rust_decimal::Decimal` in columns: the feature `decimal`.

use rust_decimal::Decimal;

use super::kind::{self, NotNull};
use super::query::Parameter;
use super::value::{Element, FromValue, ToValue, Unfit, Value};

impl ToValue for Decimal {
    type Sql = kind::Decimal;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        Ok(Value::Decimal(self.to_string().into()))
    }
}

/// More than 28 digits are an error.
impl FromValue for Decimal {
    type Sql = kind::Decimal;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        match value {
            Value::Integer(number) => Ok(number.into()),
            Value::Decimal(text) | Value::Text(text) => Self::from_str_exact(&text)
                .map_err(|_| Unfit::because(format!("{text:?} is no decimal of 28 digits at most"))),
            other => Err(Unfit::expected("a decimal number", &other)),
        }
    }
}

impl<'q> Parameter<'q> for Decimal {
    type Sql = kind::Decimal;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        Ok(Value::Decimal(self.to_string().into()))
    }
}

impl Element for Decimal {
    type Sql = NotNull<kind::Decimal>;
}
