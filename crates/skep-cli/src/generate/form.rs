//! `skep gen form`: a form without a table, whose answers are a mail.

use super::field::{Field, Kind};
use super::guard::{self, Guard};
use super::name::Name;
use super::package::Package;
use super::plan::Plan;
use super::samples;
use super::scaffold::{controls, form_imports, has_layout, lines};
use super::service::{mount, unused_paths};
use super::template::{Placeholders, fill};
use super::words;

/// Plans a page with a form, the service that it is sent to, and a test.
pub(super) fn form(plan: &mut Plan<'_>, package: &Package, name: &Name, fields: &[Field]) -> Result<(), String> {
    if words::is_type(&name.camel()) || name.snake() == "submit" || words::is_module(name.snake()) {
        return Err(format!("\"{}\" is the name of something that the page uses: choose another name", name.snake()));
    }
    if fields.iter().any(|field| field.kind == Kind::Reference) {
        return Err(
            "a form without a table has no rows to choose from: `skep gen scaffold` makes one with a table".to_owned()
        );
    }
    has_layout(package)?;
    let path = format!("/{}", name.kebab());
    unused_paths(package, &[("GET", path.clone()), ("POST", path.clone())])?;
    let guard = Guard::of(package)?;
    let (module, places) = (name.snake(), places(package, name, fields, guard.as_ref()));
    plan.create(&format!("src/{module}.rs"), &fill(include_str!("templates/form.rs.txt"), &places))?;
    plan.create(&format!("tests/{module}.rs"), &fill(include_str!("templates/form_test.rs.txt"), &places))?;
    mount(plan, module, &[&name.camel(), "Submit"])
}

fn places(package: &Package, name: &Name, fields: &[Field], guard: Option<&Guard>) -> Placeholders {
    let field = guard.map(Guard::field).unwrap_or_default();
    let imports = form_imports(fields);
    let declared = fields
        .iter()
        .map(|field| format!("    #[form]\n    {}: {},\n", field.name.snake(), field.optionally(&field.form_type())));
    let controls: Vec<String> = fields.iter().flat_map(|field| controls(field, "Submit")).collect();
    let fill =
        fields.iter().map(|field| samples::set(field, samples::sample(field.kind)).replace("Save::", "Submit::"));
    vec![
        ("Title", name.title()),
        ("Name", name.camel()),
        ("module", name.snake().to_owned()),
        ("path", name.kebab()),
        // Only a link has no guards.
        ("page", if guard.is_some() { format!("{}::link()", name.camel()) } else { name.camel() }),
        // A value says its address by a trait.
        ("prelude", if guard.is_some() { String::new() } else { "use skep::prelude::*;\n".to_owned() }),
        ("page_fields", if guard.is_some() { format!(" {{\n{field}}}") } else { ";".to_owned() }),
        ("guard", field),
        ("guard_imports", guard::imports(guard, Some("use crate::layout;"))),
        ("library", package.library.clone()),
        ("imports", imports),
        ("form_fields", declared.collect()),
        ("controls", lines(&controls, 16)),
        ("lines", fields.iter().map(line).collect::<String>().trim_end().to_owned()),
        ("client", samples::client(package)),
        ("client_import", samples::client_import(package)),
        ("fill", fill.collect()),
        ("needs", samples::needs(name, fields)),
    ]
}

/// Adds a field to the text.
fn line(field: &Field) -> String {
    let (name, title) = (field.name.snake(), field.name.title());
    if field.optional {
        return format!("if let Some(value) = &sent.{name} {{ text += &format!(\"{title}: {{value}}\\n\"); }}\n");
    }
    format!("text += &format!(\"{title}: {{}}\\n\", sent.{name});\n")
}
