//! `skep gen job`: work that is done later.

use super::field::Field;
use super::manifest;
use super::name::Name;
use super::package::Package;
use super::plan::Plan;
use super::samples;
use super::scaffold::declarations;
use super::source;
use super::template::{Placeholders, fill};

/// Plans a job with a test, and what it needs in Cargo.toml.
pub(super) fn job(plan: &mut Plan<'_>, package: &Package, name: &Name, fields: &[Field]) -> Result<(), String> {
    package.has_database()?;
    let (module, places) = (name.snake(), places(package, name, fields));
    plan.create(&format!("src/{module}.rs"), &fill(include_str!("templates/job.rs.txt"), &places))?;
    plan.create(&format!("tests/{module}.rs"), &fill(include_str!("templates/job_test.rs.txt"), &places))?;
    plan.edit("src/lib.rs", |text| {
        let text = source::add_job(&source::add_module(text, module)?, &format!("{module}::{}", name.camel()))?;
        let has_prelude = text.contains("use skep_jobs::");
        if has_prelude { Ok(text) } else { source::add_import(&text, "skep_jobs::prelude::*") }
    })?;
    plan.edit("Cargo.toml", |text| manifest::depend(text, "skep-jobs", true))
}

fn places(package: &Package, name: &Name, fields: &[Field]) -> Placeholders {
    let declared = declarations(fields);
    let literal = |field: &Field| {
        let text = samples::sample(field.kind);
        let value = if field.is_text() { format!("\"{text}\".to_owned()") } else { text.to_owned() };
        format!("{}: {}", field.column(), if field.optional { format!("Some({value})") } else { value })
    };
    let values: Vec<String> = fields.iter().map(literal).collect();
    let has_fields = !fields.is_empty();
    vec![
        ("name", name.kebab()),
        ("Title", name.title()),
        ("Name", name.camel()),
        ("module", name.snake().to_owned()),
        ("library", package.library.clone()),
        ("fields", if has_fields { format!(" {{\n{declared}}}") } else { ";".to_owned() }),
        ("samples", if has_fields { format!(" {{ {} }}", values.join(", ")) } else { String::new() }),
        ("client", samples::client(package)),
        ("client_import", samples::client_import(package)),
    ]
}
