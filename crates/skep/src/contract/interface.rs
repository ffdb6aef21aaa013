//! What `#[derive(Service)]` says of a service for the document: what [`Route`](crate::service::Route) has no room for.
//!
//! Whether a type has more to say than that it is a parameter, the compiler finds out: [`Probe`].

pub(crate) mod schema;

use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use self::schema::of_shape;
use crate::contract::form::FormField;
use crate::routing::param::{Field, Param};

/// A service as the document sees it.
#[derive(Debug, Default)]
pub struct Interface {
    pub(crate) about: &'static str,
    /// What `api = ...` says.
    pub(crate) listed: Option<bool>,
    pub(crate) parameters: Vec<Parameter>,
    /// What the fields of its form are for.
    pub(crate) fields: Vec<(&'static str, &'static str)>,
    pub(crate) body: Option<(&'static str, JsonType)>,
    pub(crate) answer: Option<(u16, Option<JsonType>)>,
}

/// A parameter of the path, the query or the header.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) place: &'static str,
    pub(crate) name: &'static str,
    pub(crate) about: String,
    pub(crate) required: bool,
    pub(crate) schema: Value,
}

/// A type that comes or goes as JSON.
#[derive(Clone, Copy)]
pub struct JsonType {
    pub(crate) name: &'static str,
    /// `None` if it does not derive `JsonSchema`.
    pub(crate) schema: Option<fn(&mut SchemaGenerator) -> Schema>,
}

impl Interface {
    /// Nothing is known yet but what the service is for.
    pub fn new(about: &'static str, listed: Option<bool>) -> Self {
        Self { about, listed, ..Self::default() }
    }

    /// A parameter of the path.
    pub fn path(&mut self, name: &'static str, about: &'static str, schema: Value, is_tail: bool) {
        let rest = if is_tail { "The rest of the path; slashes in it may be sent as they are." } else { "" };
        let about = [about, rest].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
        self.parameters.push(Parameter { place: "path", name, about, required: true, schema });
    }

    /// A parameter of the query.
    pub fn query(&mut self, name: &'static str, about: &'static str, schema: Value, required: bool) {
        self.parameters.push(Parameter { place: "query", name, about: about.to_owned(), required, schema });
    }

    /// A parameter of the query with a default.
    pub fn query_or<T: Param>(&mut self, name: &'static str, about: &'static str, mut schema: Value, default: &T) {
        let mut text = String::new();
        default.write(&mut text);
        let typed = if schema["type"] == "string" { None } else { serde_json::from_str(&text).ok() };
        schema["default"] = typed.unwrap_or(Value::String(text));
        self.query(name, about, schema, false);
    }

    /// A header field.
    pub fn header(&mut self, name: &'static str, about: &'static str, schema: Value, required: bool) {
        self.parameters.push(Parameter { place: "header", name, about: about.to_owned(), required, schema });
    }

    /// What a field of the form is for; the rest is in `Service::FIELDS`.
    pub fn field(&mut self, name: &'static str, about: &'static str) {
        self.fields.push((name, about));
    }

    /// The JSON body.
    pub fn takes(&mut self, about: &'static str, body: JsonType) {
        self.body = Some((about, body));
    }

    /// What it answers: status and body.
    pub fn answers(&mut self, status: u16, json: Option<JsonType>) {
        self.answer = Some((status, json));
    }
}

impl std::fmt::Debug for JsonType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Asks whether a type has a trait, where the type is known: of the methods of one name, the compiler takes that of the
/// type with the most `&` that has one. `(&&&Probe::<T>::NEW).parameter()` is that of `&&Probe<T>`, or else of
/// `&Probe<T>`, or else of `Probe<T>`, which all types have.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<fn() -> T>);

impl<T> Probe<T> {
    /// The question.
    pub const NEW: Self = Self(PhantomData);
}

/// A parameter that could also be a field of a form says by its control what its values are.
pub trait HasControl {
    /// The schema of the parameter.
    fn parameter(&self) -> Value;
}

impl<T: FormField> HasControl for &&Probe<T> {
    fn parameter(&self) -> Value {
        of_shape(&T::shape())
    }
}

/// Any other is a text, with words for what it may be.
pub trait HasNoControl {
    /// The schema of the parameter.
    fn parameter(&self) -> Value;
}

impl<T: Field> HasNoControl for &Probe<T> {
    fn parameter(&self) -> Value {
        let one = json!({ "type": "string", "description": <T::One as Param>::expected() });
        if T::REPEATED { json!({ "type": "array", "items": one }) } else { one }
    }
}

/// A type that is no parameter does not compile, and that is said elsewhere.
pub trait HasNothing {
    /// No schema at all.
    fn parameter(&self) -> Value {
        json!({})
    }
}

impl<T> HasNothing for Probe<T> {}

/// A type with a schema.
pub trait HasSchema {
    /// The type, and its schema if it has one.
    fn json(&self) -> JsonType;
}

impl<T: JsonSchema> HasSchema for &Probe<T> {
    fn json(&self) -> JsonType {
        JsonType { name: std::any::type_name::<T>(), schema: Some(SchemaGenerator::subschema_for::<T>) }
    }
}

/// A type without one.
pub trait HasNoSchema {
    /// The type, and its schema if it has one.
    fn json(&self) -> JsonType;
}

impl<T> HasNoSchema for Probe<T> {
    fn json(&self) -> JsonType {
        JsonType { name: std::any::type_name::<T>(), schema: None }
    }
}
