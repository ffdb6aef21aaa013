//! A client that knows nothing but the document. It takes each value from a list that fits somewhere and nowhere, asks
//! a validator of JSON Schema whether the document allows it, and then asks the server.

use serde_json::{Value, json};
use skep::Method;
use skep::test::{Client, TestResponse};

/// Texts that are right for some parameter, and wrong for others.
const TEXTS: &[&str] = &[
    "",
    "0",
    "1",
    "3",
    "5",
    "6",
    "-1",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "007",
    "1.5",
    "x",
    "xy",
    "A B",
    "a-b",
    "-a",
    "abcdef",
    "abcdefg",
    "abcdefghij",
    "abcdefghijk",
    "oldest",
    "newest-first",
    "newest",
    "12x8",
    "2026-11-21",
    "2026-02-30",
    "21.11.2026",
    "true",
    "false",
    "maybe",
    "ann@example.org",
    "ann@",
    "nan",
];

/// The parameter of this name.
pub(crate) fn parameter<'d>(operation: &'d Value, name: &str) -> &'d Value {
    let parameters = operation["parameters"].as_array().expect("it has parameters");
    parameters.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no parameter {name}: {operation:#}"))
}

/// Does the document allow this value there?
fn allows(document: &Value, schema: &Value, value: &Value) -> bool {
    let whole = json!({ "allOf": [schema], "components": document["components"] });
    let validator = jsonschema::options().should_validate_formats(true).build(&whole).expect("the schema is one");
    validator.is_valid(value)
}

/// The value that a text stands for, as a client makes texts of values.
fn value(schema: &Value, text: &str) -> Value {
    let kind = schema["type"].as_str().unwrap_or("string");
    match kind {
        "array" => json!([value(&schema["items"], text)]),
        "boolean" if text == "true" || text == "false" => json!(text == "true"),
        "integer" if !text.contains('.') => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        "number" => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

/// What a server takes beyond what is documented, each with its reason.
fn is_lenient(schema: &Value, required: bool, text: &str) -> bool {
    // A browser sends an empty text for a field left empty, and "1" may stand for a box that is ticked.
    (text.is_empty() && !required)
        || (schema["type"] == "boolean" && matches!(text, "" | "0" | "1"))
        // A number in a form may have zeros before it, and a number may be written in other ways than JSON's.
        || (matches!(schema["type"].as_str(), Some("number" | "integer")) && text == "007")
        // What a type of the application's own accepts, only its words say.
        || schema.get("description").is_some_and(|text| text.as_str().is_some_and(|text| text.contains("12x8")))
}

/// The answer is one that the document has, and looks as it says there.
fn check_answer(document: &Value, operation: &Value, answer: &TestResponse) {
    let status = answer.status().as_u16().to_string();
    let said =
        operation["responses"].get(&status).unwrap_or_else(|| panic!("{status} is not documented: {operation:#}"));
    let said = match said["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).expect("it leads somewhere"),
        None => said,
    };
    let Some(kinds) = said["content"].as_object() else {
        assert!(answer.body().is_empty());
        return;
    };
    let kind = answer.header("content-type").expect("it has a type");
    let schema = &kinds.get(kind).unwrap_or_else(|| panic!("{kind} is not documented"))["schema"];
    let value: Value = serde_json::from_str(answer.text()).expect("JSON");
    assert!(allows(document, schema, &value), "{value:#}\nis not what {operation:#}\npromises");
}

/// Tries every text for every parameter, the others being right. Says how many it tried.
pub(crate) fn try_parameters(client: &Client, document: &Value) -> usize {
    let mut tried = 0;
    for (path, method, operation) in operations(document) {
        if operation.get("requestBody").is_some() {
            continue;
        }
        let parameters = operation["parameters"].as_array().expect("they have parameters");
        for parameter in parameters {
            let schema = &parameter["schema"];
            // What an empty value in a query means is documented.
            let may_be_empty = parameter["allowEmptyValue"] == true;
            let required = parameter["required"] == true || parameter["in"] == "query";
            for text in TEXTS.iter().filter(|text| !is_lenient(schema, required, text)) {
                // An empty segment is no address.
                if parameter["in"] == "path" && text.is_empty() {
                    continue;
                }
                let answer = send(client, path, &method, parameters, parameter, text);
                check_answer(document, operation, &answer);
                let expected = allows(document, schema, &value(schema, text)) || (text.is_empty() && may_be_empty);
                let name = &parameter["name"];
                // Zero is a good number, and there is no such article.
                let accepted = answer.status().is_success() || (method == Method::DELETE && *text == "0");
                assert_eq!(accepted, expected, "{method} {path}, {name}={text:?}: {}", answer.text());
                tried += 1;
            }
        }
    }
    tried
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, Method, &Value)> {
    let paths = document["paths"].as_object().expect("it has paths").iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("it has methods").iter();
        methods.map(move |(method, operation)| (path, method.to_uppercase().parse().expect("a method"), operation))
    })
}

fn send(client: &Client, path: &str, method: &Method, all: &[Value], tried: &Value, text: &str) -> TestResponse {
    let encode =
        |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20");
    let mut path = path.to_owned();
    let mut header = None;
    for parameter in all {
        let name = parameter["name"].as_str().expect("it has a name");
        let is_tried = parameter == tried;
        match parameter["in"].as_str() {
            Some("path") => {
                let good = if parameter["schema"]["type"] == "integer" { "7" } else { "bees" };
                path = path.replace(&format!("{{{name}}}"), &encode(if is_tried { text } else { good }));
            }
            Some("query") if is_tried => path.extend(["?", name, "=", &encode(text)]),
            Some("header") if is_tried => header = Some(name),
            _ => {}
        }
    }
    let draft = client.request(method.clone(), &path);
    match header {
        Some(name) => draft.header(name, text).send(),
        None => draft.send(),
    }
}

/// Tries every text for every field of a form, and each field left out.
pub(crate) fn try_form(client: &Client, document: &Value, path: &str, good: &[(&str, &str)]) -> usize {
    let operation = &document["paths"][path]["post"];
    let schema = &operation["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"];
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let mut tried = 0;
    let mut judge = |fields: &[(&str, &str)], expected: bool| {
        let answer = client.post(path, fields);
        check_answer(document, operation, &answer);
        assert_eq!(answer.status().is_success(), expected, "{fields:?}: {}", answer.text());
        tried += 1;
    };
    judge(good, true);
    for (position, (name, _)) in good.iter().enumerate() {
        let field = &schema["properties"][name];
        assert!(field.is_object(), "{name} is not documented");
        let mut without = good.to_vec();
        without.remove(position);
        judge(&without, !is_required(name));
        let lenient = |text: &&&str| is_lenient(field, is_required(name), text);
        for text in TEXTS.iter().filter(|text| !lenient(text)) {
            let mut fields = good.to_vec();
            fields[position].1 = text;
            judge(&fields, allows(document, field, &value(field, text)));
        }
    }
    tried
}

/// Tries a list of values at each place of a good body, and each member left out.
pub(crate) fn try_json(client: &Client, document: &Value, path: &str, method: &str, good: &Value) -> usize {
    let operation = &document["paths"][path][method];
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let bodies = changed(good);
    for body in &bodies {
        let answer = client.request(method.to_uppercase().parse().expect("a method"), path).json(body).send();
        check_answer(document, operation, &answer);
        let expected = if allows(document, schema, body) { 201 } else { 422 };
        assert_eq!(answer.status().as_u16(), expected, "{body}: {}", answer.text());
    }
    bodies.len()
}

/// The same with something else in each place in turn.
fn changed(good: &Value) -> Vec<Value> {
    let values =
        [Value::Null, json!(true), json!(1.5), json!([]), json!({}), json!("a b"), json!([1]), json!("x".repeat(41))];
    let numbers = [-1, 0, 1, 5, 6, 255, 256].map(Value::from);
    let texts = TEXTS.iter().map(|text| Value::from(*text));
    let mut all: Vec<Value> = values.into_iter().chain(numbers).chain(texts).collect();
    match good {
        Value::Object(members) => {
            for (name, member) in members {
                let with = |value: Value| {
                    let mut members = members.clone();
                    members.insert(name.clone(), value);
                    Value::Object(members)
                };
                all.extend(changed(member).into_iter().map(with));
                let mut without = members.clone();
                without.remove(name);
                all.push(without.into());
            }
        }
        Value::Array(items) => all.extend((0..items.len()).flat_map(|position| {
            changed(&items[position]).into_iter().map(move |value| {
                let mut items = items.clone();
                items[position] = value;
                Value::Array(items)
            })
        })),
        _ => {}
    }
    all.push(good.clone());
    all
}
