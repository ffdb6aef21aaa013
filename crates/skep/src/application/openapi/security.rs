//! How clients prove who they are: security schemes (OpenAPI 3.1.1, 4.8.27) and what each operation requires of them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::contract::guard::Security;

/// All schemes by their names.
pub(super) fn schemes<'s>(used: impl Iterator<Item = &'s Security>) -> Map<String, Value> {
    let used: BTreeSet<Security> = used.copied().collect();
    used.into_iter().map(|security| (name(security), scheme(security))).collect()
}

/// Says what an operation requires, and what a client gets that does not have it.
pub(super) fn require(operation: &mut Value, security: &[Security]) {
    if security.is_empty() {
        return;
    }
    // All members of one object are required together.
    let all: Map<String, Value> = security.iter().map(|one| (name(*one), json!([]))).collect();
    operation["security"] = json!([all]);
    for status in ["401", "403"] {
        operation["responses"][status] = json!({ "$ref": "#/components/responses/Problem" });
    }
}

fn name(security: Security) -> String {
    match security {
        Security::Bearer => "bearer".to_owned(),
        Security::Basic => "basic".to_owned(),
        Security::Cookie { name } => format!("cookie-{}", name.trim_start_matches('_')),
        Security::Header { name } => format!("header-{name}"),
    }
}

fn scheme(security: Security) -> Value {
    match security {
        Security::Bearer => json!({ "type": "http", "scheme": "bearer" }),
        Security::Basic => json!({ "type": "http", "scheme": "basic" }),
        Security::Cookie { name } => json!({ "type": "apiKey", "in": "cookie", "name": name }),
        Security::Header { name } => json!({ "type": "apiKey", "in": "header", "name": name }),
    }
}
