//! Someone else's reading of OpenAPI 3.1: the package `openapi-spec-validator` of Python, which `cargo xtask setup`
//! puts into `target/tools`. It checks a document against the official schema, and what a schema cannot say: that
//! references lead somewhere, that path parameters stand in the path, that operations have different ids.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Reads the document from its input, and says on its output what is wrong.
const PROGRAM: &str = "
import json, sys
from openapi_spec_validator import OpenAPIV31SpecValidator
for error in OpenAPIV31SpecValidator(json.load(sys.stdin)).iter_errors():
    print(list(error.absolute_path) if hasattr(error, 'absolute_path') else '', error)
";

/// Fails if the document is wrong, or if nobody is here to judge it.
pub(crate) fn validate(document: &Value) {
    let said = judge(document);
    assert!(said.is_empty(), "{said}\n{document:#}");
    // The validator finds faults: one fault against the schema, and one that no schema sees.
    let mut wrong = document.clone();
    wrong["info"].as_object_mut().expect("it has an info").remove("version");
    assert!(judge(&wrong).contains("'version' is a required property"));
    let mut wrong = document.clone();
    let paths = wrong["paths"].as_object_mut().expect("it has paths");
    let search = paths.remove("/api/search").expect("it has this path");
    paths.insert("/api/search/{nowhere}".into(), search);
    assert!(judge(&wrong).contains("Path parameter 'nowhere'"));
}

fn judge(document: &Value) -> String {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/openapi-spec-validator/bin/python");
    let mut command = Command::new(&python);
    command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else { panic!("{} is not here: run `cargo xtask setup`", python.display()) };
    let mut input = child.stdin.take().expect("it was asked for");
    input.write_all(document.to_string().as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the validator failed: {}", output.status);
    String::from_utf8(output.stdout).expect("it writes UTF-8")
}
