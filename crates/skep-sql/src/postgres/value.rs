//! Values on their way to PostgreSQL and back.
//!
//! What the type of the parameter says plainly is sent as binary, alone or in an array: numbers as numbers, texts as
//! texts. All other texts are sent as text: so PostgreSQL itself reads dates, UUIDs, JSON and numbers in them. Columns
//! come in PostgreSQL's binary format, which [`decode`] reads.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{Format, FromSql, IsNull, Kind, ToSql, Type};

use super::super::row::postgres::RawLine;
use super::super::row::{Valued, no_column};
use super::super::value::{Unfit, Value};
use super::columns;

type Boxed = Box<dyn std::error::Error + Sync + Send>;

/// Types of which arrays are sent as binary.
const BINARY: [Type; 7] = [Type::INT2, Type::INT4, Type::INT8, Type::FLOAT8, Type::TEXT, Type::VARCHAR, Type::BYTEA];

/// A parameter.
#[derive(Debug)]
pub(super) struct Bound<'a>(pub(super) &'a Value<'a>);

impl Bound<'_> {
    /// Why the value cannot be a parameter of this type; what a text means, PostgreSQL decides.
    pub(super) fn check(&self, ty: &Type) -> Result<(), Unfit> {
        match self.0 {
            Value::Array(elements) => match element(ty) {
                Some(of) => elements
                    .iter()
                    .zip(1..)
                    .try_for_each(|(element, nth)| Bound(element).check(of).map_err(|unfit| unfit.of_element(nth))),
                None => Err(Unfit::expected(&format!("a value of type `{ty}`"), self.0)),
            },
            Value::Integer(_) | Value::Real(_) | Value::Blob(_) if element(ty).is_some() => {
                Err(Unfit::expected("an array", self.0))
            }
            Value::Blob(_) if *ty != Type::BYTEA => Err(Unfit::expected(&format!("a value of type `{ty}`"), self.0)),
            Value::Text(_) | Value::Decimal(_) | Value::Integer(_) | Value::Real(_) if *ty == Type::BYTEA => {
                Err(Unfit::expected("a blob", self.0))
            }
            Value::Text(text) if text.contains('\0') => Err(Unfit::because("PostgreSQL stores no text with a NUL")),
            _ => Ok(()),
        }
    }

    fn is_binary(&self, ty: &Type) -> bool {
        match self.0 {
            Value::Null | Value::Blob(_) => true,
            // One that is too large is sent as a text, and PostgreSQL says so.
            Value::Integer(number) => match *ty {
                Type::INT8 => true,
                Type::INT4 => i32::try_from(*number).is_ok(),
                Type::INT2 => i16::try_from(*number).is_ok(),
                _ => false,
            },
            Value::Real(_) => *ty == Type::FLOAT8,
            Value::Text(_) => *ty == Type::TEXT || *ty == Type::VARCHAR,
            Value::Decimal(_) => false,
            Value::Array(elements) => match ty.kind() {
                // PostgreSQL looks for how the type is read, also if there are no elements; not all types have a binary
                // form.
                Kind::Array(of) => BINARY.contains(of) && elements.iter().all(|element| Bound(element).is_binary(of)),
                _ => false,
            },
        }
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Integer(number) if self.is_binary(ty) => {
                let bytes = number.to_be_bytes();
                let size = match *ty {
                    Type::INT2 => 2,
                    Type::INT4 => 4,
                    _ => 8,
                };
                out.extend_from_slice(&bytes[bytes.len() - size..]);
            }
            Value::Real(number) if *ty == Type::FLOAT8 => out.put_f64(*number),
            // Writing into memory does not fail.
            Value::Integer(number) => _ = write!(out, "{number}"),
            Value::Real(number) => _ = write!(out, "{number}"),
            Value::Text(text) | Value::Decimal(text) => out.extend_from_slice(written(text, ty).as_bytes()),
            Value::Blob(bytes) => out.extend_from_slice(bytes),
            Value::Array(elements) if self.is_binary(ty) => {
                return elements.iter().map(Bound).collect::<Vec<_>>().to_sql(ty, out);
            }
            Value::Array(elements) => write_array(elements, ty, out),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        if self.is_binary(ty) { Format::Binary } else { Format::Text }
    }

    fn to_sql_checked(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        self.to_sql(ty, out)
    }
}

/// Of an array, the type of its elements.
fn element(ty: &Type) -> Option<&Type> {
    match ty.kind() {
        Kind::Array(of) => Some(of),
        Kind::Domain(of) => element(of),
        _ => None,
    }
}

/// A text for a parameter of this type, or for an element of it.
fn written<'t>(text: &'t str, ty: &Type) -> Cow<'t, str> {
    match (ty, ty.kind()) {
        (&Type::DATE | &Type::TIMESTAMP | &Type::TIMESTAMPTZ, _) => {
            columns::before_christ(text).map_or(Cow::Borrowed(text), Cow::Owned)
        }
        (_, Kind::Domain(of) | Kind::Array(of)) => written(text, of),
        _ => text.into(),
    }
}

/// As PostgreSQL reads it, whatever the type of the elements:
/// <https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO>.
fn write_array(elements: &[Value<'_>], ty: &Type, out: &mut BytesMut) {
    out.put_u8(b'{');
    for (nth, element) in elements.iter().enumerate() {
        if nth > 0 {
            out.put_u8(b',');
        }
        // Writing into memory does not fail.
        _ = match element {
            Value::Null => out.write_str("NULL"),
            Value::Integer(number) => write!(out, "{number}"),
            Value::Real(number) => write!(out, "{number}"),
            Value::Text(text) | Value::Decimal(text) => {
                write!(out, "\"{}\"", written(text, ty).replace('\\', "\\\\").replace('"', "\\\""))
            }
            Value::Blob(bytes) => {
                _ = out.write_str("\"\\\\x");
                bytes.iter().for_each(|byte| _ = write!(out, "{byte:02x}"));
                out.write_str("\"")
            }
            // An array in an array is refused before.
            Value::Array(_) => Ok(()),
        };
    }
    out.put_u8(b'}');
}

impl<'a> Valued<'a> for RawLine<'a> {
    #[inline]
    fn value(self, position: usize) -> Result<Value<'a>, Unfit> {
        self.0.try_get::<_, Cell<'a>>(position).map_err(|_| no_column())?.0
    }

    fn name(self, position: usize) -> Option<&'a str> {
        self.0.columns().get(position).map(tokio_postgres::Column::name)
    }
}

/// A cell: the value, or why it cannot be read.
struct Cell<'a>(Result<Value<'a>, Unfit>);

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Boxed> {
        Ok(Self(decode(ty, raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Boxed> {
        Ok(Self(Ok(Value::Null)))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn decode<'a>(ty: &Type, raw: &'a [u8]) -> Result<Value<'a>, Unfit> {
    let integer = |number: Option<i64>| number.map(Value::Integer).ok_or_else(|| Unfit::because("too few bytes"));
    let text_of =
        |text: Option<String>| text.map(|text| Value::Text(text.into())).ok_or_else(|| Unfit::because("too few bytes"));
    match *ty {
        Type::BOOL => integer(raw.first().map(|&byte| i64::from(byte))),
        Type::INT2 => integer(raw.try_into().ok().map(|bytes| i16::from_be_bytes(bytes).into())),
        Type::INT4 => integer(raw.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).into())),
        Type::INT8 => integer(raw.try_into().ok().map(i64::from_be_bytes)),
        Type::OID => integer(raw.try_into().ok().map(|bytes| u32::from_be_bytes(bytes).into())),
        Type::FLOAT4 => real(raw.try_into().ok().map(|bytes| f32::from_be_bytes(bytes).into())),
        Type::FLOAT8 => real(raw.try_into().ok().map(f64::from_be_bytes)),
        Type::BYTEA => Ok(Value::Blob(raw.into())),
        Type::JSONB => text(raw.get(1..).unwrap_or_default()),
        Type::UUID => text_of(columns::uuid(raw)),
        Type::NUMERIC => match columns::numeric(raw) {
            Some(number) => Ok(Value::Decimal(number.into())),
            None => Err(Unfit::because("too few bytes")),
        },
        Type::DATE => text_of(columns::date(raw)),
        Type::TIME => text_of(columns::time(raw)),
        Type::TIMESTAMP => text_of(columns::timestamp(raw, "")),
        Type::TIMESTAMPTZ => text_of(columns::timestamp(raw, "Z")),
        Type::VOID => Ok(Value::Null),
        Type::CHAR
        | Type::TEXT
        | Type::VARCHAR
        | Type::BPCHAR
        | Type::NAME
        | Type::JSON
        | Type::XML
        | Type::UNKNOWN => text(raw),
        _ => match ty.kind() {
            Kind::Enum(_) => text(raw),
            Kind::Domain(of) => decode(of, raw),
            Kind::Array(_) => match Vec::<Cell<'a>>::from_sql(ty, raw) {
                Ok(elements) => {
                    elements.into_iter().map(|element| element.0).collect::<Result<_, _>>().map(Value::Array)
                }
                Err(_) => {
                    Err(Unfit::because("an array of more than one dimension has to be written as `cast(... as text)`"))
                }
            },
            _ if ty.name() == "citext" => text(raw),
            _ => Err(Unfit::because(format!("a value of type `{ty}` has to be written as `cast(... as text)`"))),
        },
    }
}

fn real(number: Option<f64>) -> Result<Value<'static>, Unfit> {
    number.map(Value::Real).ok_or_else(|| Unfit::because("too few bytes"))
}

fn text(raw: &[u8]) -> Result<Value<'_>, Unfit> {
    let text = std::str::from_utf8(raw).map_err(|_| Unfit::because("the text is not UTF-8"))?;
    Ok(Value::Text(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_types_that_sql_knows_is_that_of_the_driver() {
        let types = (0..5_000)
            .filter_map(Type::from_oid)
            .filter(|ty| !matches!(ty.kind(), Kind::Enum(_) | Kind::Domain(_) | Kind::Array(_)));
        for ty in types {
            let refused = format!("a value of type `{ty}` has to be written as");
            let is_read = !matches!(decode(&ty, &[]), Err(reason) if reason.to_string().contains(&refused));
            assert_eq!(is_read, skep_sql_lock::Kind::of_type(ty.oid()).is_some(), "{ty}");
        }
    }
}
