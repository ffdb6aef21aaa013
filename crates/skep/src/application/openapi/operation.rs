//! One operation of the document: a service, or several that one path and method lead to.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::document::Types;
use crate::contract::form::FieldInfo;
use crate::contract::interface::schema::of_shape;
use crate::contract::interface::{Interface, Parameter};
use crate::routing::route::{BodyKind, Route};

/// A service as its clients see it.
pub(super) fn operation(route: &Route, fields: &[FieldInfo], interface: &Interface, types: &mut Types) -> Value {
    let mut operation = json!({ "responses": answers(route, interface, types) });
    if let Some(summary) = interface.about.split("\n\n").next().filter(|text| !text.is_empty()) {
        operation["summary"] = summary.replace('\n', " ").into();
    }
    if interface.about.contains("\n\n") {
        operation["description"] = interface.about.into();
    }
    let fixed = route.when.map(|(name, value)| {
        json!({ "name": name, "in": "query", "required": true, "schema": { "type": "string", "const": value } })
    });
    let parameters: Vec<Value> =
        interface.parameters.iter().filter(|one| is_ours(one)).map(parameter).chain(fixed).collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = body(route, fields, interface, types) {
        operation["requestBody"] = body;
    }
    operation
}

/// OpenAPI says these by other means (3.1.1, 4.8.12.1): a parameter of such a name is to be ignored.
fn is_ours(parameter: &Parameter) -> bool {
    parameter.place != "header" || !["accept", "content-type", "authorization"].contains(&parameter.name)
}

fn parameter(parameter: &Parameter) -> Value {
    let mut value = json!({ "name": parameter.name, "in": parameter.place, "schema": parameter.schema });
    if parameter.required {
        value["required"] = true.into();
    } else if parameter.place == "query" && parameter.schema["type"] != "array" {
        // An empty value counts as missing (OpenAPI 3.1.1, 4.8.12.2.1), as a browser sends it for a field left empty.
        // In a list it is a value.
        value["allowEmptyValue"] = true.into();
    }
    if !parameter.about.is_empty() {
        value["description"] = parameter.about.as_str().into();
    }
    value
}

fn body(route: &Route, fields: &[FieldInfo], interface: &Interface, types: &mut Types) -> Option<Value> {
    let (media_type, content) = match route.body {
        BodyKind::Unread => return None,
        BodyKind::Json => {
            let (_, kind) = interface.body?;
            ("application/json", json!({ "schema": types.incoming(route.service, kind) }))
        }
        BodyKind::Form => ("application/x-www-form-urlencoded", json!({ "schema": form(fields, interface) })),
        BodyKind::Multipart => ("multipart/form-data", multipart(fields, interface)),
    };
    let mut body = json!({ "required": true, "content": { media_type: content } });
    if let Some((about, _)) = interface.body.filter(|(about, _)| !about.is_empty()) {
        body["description"] = about.into();
    }
    Some(body)
}

fn form(fields: &[FieldInfo], interface: &Interface) -> Value {
    let mut properties = Map::new();
    let fields = sent(fields);
    for (name, FieldInfo { shape, .. }) in &fields {
        let mut schema = shape.map_or_else(|| json!({ "type": "string" }), |shape| of_shape(&shape()));
        if let Some((_, about)) = interface.fields.iter().find(|(own, about)| own == name && !about.is_empty()) {
            schema["description"] = (*about).into();
        }
        properties.insert(name.clone(), schema);
    }
    let required: Vec<&str> = fields.iter().filter(|(_, field)| field.required).map(|(name, _)| &**name).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// The fields as a client sends them, those of groups by the names that they have there.
fn sent(fields: &[FieldInfo]) -> Vec<(String, &FieldInfo)> {
    fn of(field: &FieldInfo) -> Vec<(String, &FieldInfo)> {
        if field.many || field.group.is_empty() {
            return vec![(field.name.to_owned(), field)];
        }
        field.group.iter().map(|inner| (format!("{}.{}", field.name, inner.name), inner)).collect()
    }
    fields.iter().flat_map(of).collect()
}

/// Says of each file what kind it may be of, as far as that is a media type; an ending (`.pdf`) is not.
fn multipart(fields: &[FieldInfo], interface: &Interface) -> Value {
    let kind = |field: &FieldInfo| {
        let accept = field.shape.and_then(|shape| shape().accept);
        let kinds: Vec<&str> = accept.into_iter().flat_map(|text| text.split(',')).map(str::trim).collect();
        let all_known = !kinds.is_empty() && kinds.iter().all(|kind| kind.contains('/'));
        if all_known { kinds.join(", ") } else { "*/*".to_owned() }
    };
    let files = sent(fields).into_iter().filter(|(_, field)| field.file);
    let encoding: Map<String, Value> =
        files.map(|(name, field)| (name, json!({ "contentType": kind(field) }))).collect();
    json!({ "schema": form(fields, interface), "encoding": encoding })
}

/// What it answers by itself, and what the framework answers in its place.
fn answers(route: &Route, interface: &Interface, types: &mut Types) -> Value {
    let mut answers = Map::new();
    match interface.answer {
        Some((status, json)) => {
            let words = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            let mut answer = json!({ "description": words.unwrap_or("Success") });
            if let Some(kind) = json {
                answer["content"] = json!({ "application/json": { "schema": types.outgoing(route.service, kind) } });
            }
            answers.insert(status.to_string(), answer);
        }
        None => {
            answers.insert("2XX".into(), json!({ "description": "Success" }));
        }
    }
    let has = |places: &[&str]| interface.parameters.iter().any(|one| places.contains(&one.place));
    let has_body = matches!(route.body, BodyKind::Form | BodyKind::Multipart | BodyKind::Json);
    let problems = [
        (400, has(&["query", "header"]) || route.when.is_some() || has_body),
        (404, has(&["path"])),
        (413, has_body),
        (415, has_body),
        (422, has_body),
    ];
    for (status, _) in problems.into_iter().filter(|(_, may_come)| *may_come) {
        answers.insert(status.to_string(), problem());
    }
    answers.insert("default".into(), problem());
    answers.into()
}

fn problem() -> Value {
    json!({ "$ref": "#/components/responses/Problem" })
}

/// Gives path parameters the names that `wanted` has for them.
pub(super) fn rename_path_parameters(operation: &mut Value, path: &str, wanted: &str) {
    let name = |segment: &str| segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(str::to_owned);
    let names: Vec<(String, String)> =
        path.split('/').zip(wanted.split('/')).filter_map(|(own, wanted)| Some((name(own)?, name(wanted)?))).collect();
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    let parameters = parameters.map(Vec::as_mut_slice).unwrap_or_default();
    for parameter in parameters.iter_mut().filter(|one| one["in"] == "path") {
        if let Some((_, wanted)) = names.iter().find(|(own, _)| parameter["name"] == own.as_str()) {
            parameter["name"] = wanted.as_str().into();
        }
    }
}

/// Two services on one path and method are one operation: OpenAPI does not tell them apart by what the query holds.
/// What only one of them takes is optional, and each answer may be that of either.
pub(super) fn merge(into: &mut Value, other: Value) {
    let Value::Object(mut other) = other else { return };
    let theirs = other.remove("parameters").unwrap_or_default();
    // Asked for by `[]`, a member that is not there is made.
    let parameters = merge_parameters(into["parameters"].take(), theirs);
    into["parameters"] = parameters;
    for name in ["summary", "description"] {
        if let Some(text) = other.get(name).and_then(Value::as_str) {
            let both =
                into.get(name).and_then(Value::as_str).map_or_else(|| text.to_owned(), |own| format!("{own} {text}"));
            into[name] = both.into();
        }
    }
    merge_security(into, other.remove("security"));
    match (into.get_mut("requestBody"), other.remove("requestBody")) {
        (Some(own), Some(body)) => merge_content(&mut own["content"], &body["content"]),
        (Some(own), None) => own["required"] = false.into(),
        (None, Some(mut body)) => {
            body["required"] = false.into();
            into["requestBody"] = body;
        }
        (None, None) => {}
    }
    let Some(Value::Object(answers)) = other.remove("responses") else { return };
    for (status, answer) in answers {
        match into["responses"].get_mut(&status) {
            Some(own) if own.get("content").is_some() => merge_content(&mut own["content"], &answer["content"]),
            Some(_) => {}
            None => into["responses"][&status] = answer,
        }
    }
}

/// Alternatives; `{}` requires nothing (OpenAPI 3.1.1, 4.8.10.1).
fn merge_security(into: &mut Value, theirs: Option<Value>) {
    let own = into.as_object_mut().and_then(|members| members.remove("security"));
    if own.is_none() && theirs.is_none() {
        return;
    }
    let alternatives = |security: Option<Value>| security.unwrap_or_else(|| json!([{}]));
    let (Value::Array(mut all), Value::Array(theirs)) = (alternatives(own), alternatives(theirs)) else { return };
    all.extend(theirs);
    all.dedup();
    into["security"] = all.into();
}

fn merge_parameters(mine: Value, theirs: Value) -> Value {
    let list = |value: Value| if let Value::Array(list) = value { list } else { Vec::new() };
    let (mine, theirs) = (list(mine), list(theirs));
    let same = |one: &Value, other: &Value| one["name"] == other["name"] && one["in"] == other["in"];
    let mut merged = Vec::new();
    for mut one in mine.iter().cloned() {
        match theirs.iter().find(|other| same(&one, other)) {
            Some(other) => {
                one["schema"] = either(one["schema"].take(), &other["schema"]);
                if other.get("required").is_none() {
                    optional(&mut one);
                }
            }
            None => optional(&mut one),
        }
        merged.push(one);
    }
    for mut other in theirs.into_iter().filter(|other| !mine.iter().any(|one| same(one, other))) {
        optional(&mut other);
        merged.push(other);
    }
    merged.into()
}

fn optional(parameter: &mut Value) {
    if let Some(members) = parameter.as_object_mut() {
        members.remove("required");
    }
}

fn merge_content(own: &mut Value, other: &Value) {
    for (kind, content) in other.as_object().into_iter().flatten() {
        match own.get_mut(kind) {
            Some(own) => own["schema"] = either(own["schema"].take(), &content["schema"]),
            None => own[kind] = content.clone(),
        }
    }
}

fn either(one: Value, other: &Value) -> Value {
    if one == *other { one } else { json!({ "anyOf": [one, other] }) }
}
