//! Puts the document together.

use std::collections::{BTreeMap, BTreeSet};

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::known::ServiceDescription;
use super::operation::{merge, operation, rename_path_parameters};
use super::security;
use crate::contract::guard::Security;
use crate::contract::interface::{Interface, JsonType};
use skep_http::error_page::PROBLEM_JSON;

const SCHEMAS: &str = "#/components/schemas/";

/// Makes schemas of types: what comes may look different from what goes, also for one type.
pub(super) struct Types {
    incoming: SchemaGenerator,
    outgoing: SchemaGenerator,
    /// What has no schema: service, and type.
    missing: Vec<(&'static str, &'static str)>,
}

impl Types {
    fn new() -> Self {
        let mut settings = SchemaSettings::draft2020_12();
        settings.definitions_path = "/components/schemas".into();
        // The dialect is the document's: OpenAPI 3.1.
        settings.meta_schema = None;
        Self {
            incoming: settings.clone().for_deserialize().into_generator(),
            outgoing: settings.for_serialize().into_generator(),
            missing: Vec::new(),
        }
    }

    pub(super) fn incoming(&mut self, service: &'static str, kind: JsonType) -> Value {
        let Some(schema) = kind.schema else { return self.missing(service, kind) };
        mark(schema(&mut self.incoming).to_value())
    }

    pub(super) fn outgoing(&mut self, service: &'static str, kind: JsonType) -> Value {
        let Some(schema) = kind.schema else { return self.missing(service, kind) };
        schema(&mut self.outgoing).to_value()
    }

    fn missing(&mut self, service: &'static str, kind: JsonType) -> Value {
        self.missing.push((service, kind.name));
        json!({})
    }

    /// All definitions, and the names that those for what comes got where they differ from those for what goes.
    fn definitions(&mut self) -> (Map<String, Value>, BTreeMap<String, String>) {
        let mut outgoing = self.outgoing.take_definitions(true);
        let incoming = self.incoming.take_definitions(true);
        let differing = differing(&incoming, &outgoing);
        let taken: BTreeSet<&String> = incoming.keys().chain(outgoing.keys()).collect();
        let names: BTreeMap<String, String> =
            differing.into_iter().map(|name| (name.clone(), free(&format!("{name}Input"), &taken))).collect();
        let renamed: Vec<(String, Value)> = incoming
            .into_iter()
            .map(|(name, schema)| (names.get(&name).cloned().unwrap_or(name), refer(mark(schema), &names)))
            .collect();
        outgoing.extend(renamed);
        (outgoing, names)
    }
}

/// Marks the references of what comes, so that they can be told from those of what goes until all names are known.
fn mark(schema: Value) -> Value {
    each_reference(schema, &|name| format!("{INCOMING}{name}"))
}

/// Gives marked references their names.
fn refer(value: Value, names: &BTreeMap<String, String>) -> Value {
    each_reference(value, &|name| match name.strip_prefix(INCOMING) {
        Some(name) => names.get(name).cloned().unwrap_or_else(|| name.to_owned()),
        None => name.to_owned(),
    })
}

/// No type has such a name.
const INCOMING: &str = "<incoming>";

fn each_reference(value: Value, rename: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::Object(members) => {
            let member =
                |(key, value): (String, Value)| match value.as_str().and_then(|text| text.strip_prefix(SCHEMAS)) {
                    Some(name) if key == "$ref" => {
                        let name = rename(name);
                        (key, format!("{SCHEMAS}{name}").into())
                    }
                    _ => (key, each_reference(value, rename)),
                };
            members.into_iter().map(member).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.into_iter().map(|item| each_reference(item, rename)).collect(),
        other => other,
    }
}

/// The names under which different things come and go, and those of what refers to such a thing.
fn differing(incoming: &Map<String, Value>, outgoing: &Map<String, Value>) -> BTreeSet<String> {
    let both = || incoming.iter().filter_map(|(name, schema)| Some((name, schema, outgoing.get(name)?)));
    let mut found: BTreeSet<String> =
        both().filter(|(_, one, other)| one != other).map(|(name, ..)| name.clone()).collect();
    loop {
        let refers = |schema: &Value| {
            let text = schema.to_string();
            found.iter().any(|name| text.contains(&format!("\"{SCHEMAS}{name}\"")))
        };
        let more: Vec<String> = both()
            .filter(|(name, schema, _)| !found.contains(*name) && refers(schema))
            .map(|(name, ..)| name.clone())
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn free(wanted: &str, taken: &BTreeSet<&String>) -> String {
    let mut names = std::iter::once(wanted.to_owned()).chain((2_u32..).map(|number| format!("{wanted}{number}")));
    names.find(|name| !taken.contains(name)).expect("there is no end of numbers")
}

/// The document as text, or what it lacks.
pub(super) fn document(
    name: Option<(&'static str, &'static str)>,
    base_url: Option<&str>,
    known: &[(&ServiceDescription, Vec<Security>)],
) -> Result<String, Vec<String>> {
    let mut types = Types::new();
    let paths = paths(known, &mut types);
    let mut problems: Vec<String> = types
        .missing
        .iter()
        .map(|(service, kind)| {
            format!("`{kind}`, which {service} takes or answers, has no schema for the OpenAPI document: write `#[derive(schemars::JsonSchema)]` on it, or `api = false` on {service}")
        })
        .collect();
    let Some((title, version)) = name else {
        problems.push(
            "the OpenAPI document needs a title and a version: App::name(env!(\"CARGO_PKG_NAME\"), env!(\"CARGO_PKG_VERSION\"))"
                .into(),
        );
        return Err(problems);
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let (schemas, names) = types.definitions();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": { "title": title, "version": version },
        "paths": refer(Value::Object(paths), &names),
        "components": { "schemas": schemas, "responses": { "Problem": problem() } },
    });
    let security = security::schemes(known.iter().flat_map(|(_, security)| security));
    if !security.is_empty() {
        document["components"]["securitySchemes"] = security.into();
    }
    if let Some(base_url) = base_url {
        document["servers"] = json!([{ "url": base_url }]);
    }
    Ok(document.to_string())
}

fn paths(known: &[(&ServiceDescription, Vec<Security>)], types: &mut Types) -> Map<String, Value> {
    // Paths that differ in the names of their parameters only are one path (OpenAPI 3.1.1, 4.8.8.2).
    let mut paths: BTreeMap<String, (String, Map<String, Value>)> = BTreeMap::new();
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for (ServiceDescription { route, fields, interface }, security) in known {
        let interface: Interface = interface();
        if !interface.listed.unwrap_or(route.speaks_json()) {
            continue;
        }
        let mut operation = operation(route, fields, &interface, types);
        security::require(&mut operation, security);
        let path = route.path().replace("{*", "{");
        let (first, methods) = paths.entry(nameless(&path)).or_insert_with(|| (path.clone(), Map::new()));
        rename_path_parameters(&mut operation, &path, first);
        match methods.get_mut(&route.method.as_str().to_ascii_lowercase()) {
            Some(other) => merge(other, operation),
            None => {
                let id = free(route.service, &ids.iter().collect());
                operation["operationId"] = id.as_str().into();
                ids.insert(id);
                methods.insert(route.method.as_str().to_ascii_lowercase(), operation);
            }
        }
    }
    paths.into_values().map(|(path, methods)| (path, Value::Object(methods))).collect()
}

fn nameless(path: &str) -> String {
    path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment }).collect::<Vec<_>>().join("/")
}

/// What goes wrong looks the same everywhere: `error_page`.
fn problem() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let entry = json!({
        "type": "object",
        "required": ["detail"],
        "properties": {
            "detail": text("What is wrong with it, for people."),
            "pointer": text("The wrong value of a JSON body: a JSON Pointer, as the fragment of a URI."),
            "field": text("The wrong field of a form."),
        },
    });
    let schema = json!({
        "type": "object",
        "required": ["title", "status", "detail", "id"],
        "properties": {
            "title": text("The status in words."),
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": text("What is wrong, for people."),
            "id": text("The id under which the server's log knows the request."),
            "errors": { "type": "array", "description": "What is wrong with what was sent, one by one.", "items": entry },
        },
    });
    json!({ "description": "What went wrong (RFC 9457).", "content": { PROBLEM_JSON: { "schema": schema } } })
}
