//! `skep gen job`: work that is done later.

use super::field::Field;
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
    plan.edit("Cargo.toml", depend)
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

/// Adds the crate of jobs, and serde, to a Cargo.toml in which they are not.
fn depend(manifest: &str) -> Result<String, String> {
    let mut text = manifest.to_owned();
    let skep =
        dependency(manifest, "dependencies", "skep").ok_or("there is no line `skep = ...` in its [dependencies]")?;
    if dependency(&text, "dependencies", "serde").is_none() {
        text = add(&text, "dependencies", "serde = { version = \"1\", features = [\"derive\"] }");
    }
    if dependency(&text, "dependencies", "skep-jobs").is_none() {
        let jobs = jobs_like(skep)?;
        text = add(&text, "dependencies", &format!("skep-jobs = {{ {jobs} }}"));
    }
    if dependency(&text, "dev-dependencies", "skep-jobs").is_none() {
        let jobs = jobs_like(skep)?;
        text = add(&text, "dev-dependencies", &format!("skep-jobs = {{ {jobs}, features = [\"test\"] }}"));
    }
    Ok(text)
}

/// Where the crate of jobs is, if `skep` is there: `path = "../skep/crates/skep-jobs"`.
fn jobs_like(skep: &str) -> Result<String, String> {
    let value = |key: &str| {
        let (_, after) = skep.split_once(&format!("{key} = \""))?;
        after.split('"').next()
    };
    let version = || {
        let (_, plain) = skep.split_once('=')?;
        value("version").or_else(|| plain.trim().strip_prefix('"')?.split('"').next())
    };
    let is_elsewhere = ["git =", "workspace =", "registry ="].iter().any(|key| skep.contains(key));
    match (value("path"), version()) {
        _ if is_elsewhere => {}
        (Some(path), _) if path.ends_with("/skep") => return Ok(format!("path = \"{path}-jobs\"")),
        (None, Some(version)) => return Ok(format!("version = \"{version}\"")),
        _ => {}
    }
    Err(format!(
        "`{skep}` does not say where skep-jobs is: write `{}` into [dependencies] yourself, and the same with \
         `features = [\"test\"]` into [dev-dependencies]",
        skep.replacen("skep", "skep-jobs", 1)
    ))
}

/// The lines of a section, with their places.
fn section<'t>(manifest: &'t str, name: &str) -> Option<(usize, &'t str)> {
    let header = format!("[{name}]\n");
    let begin =
        if manifest.starts_with(&header) { 0 } else { manifest.find(&format!("\n{header}"))? + 1 } + header.len();
    let rest = &manifest[begin..];
    let end = rest.find("\n[").map_or(rest.len(), |end| end + 1);
    Some((begin, &rest[..end]))
}

fn dependency<'t>(manifest: &'t str, name: &str, package: &str) -> Option<&'t str> {
    let is_it = |line: &&str| line.split(['=', '.', ' ']).next() == Some(package);
    section(manifest, name)?.1.lines().find(is_it)
}

/// Adds a line behind the last one of a section, which is made if it is not there.
fn add(manifest: &str, name: &str, line: &str) -> String {
    let Some((begin, text)) = section(manifest, name) else {
        return format!("{}\n\n[{name}]\n{line}\n", manifest.trim_end());
    };
    // Comments at its end are about the next section.
    let lines: Vec<&str> = text.lines().collect();
    let used = lines.iter().rposition(|line| !line.trim().is_empty() && !line.starts_with('#')).map_or(0, |at| at + 1);
    let at = begin + lines[..used].iter().map(|line| line.len() + 1).sum::<usize>();
    format!("{}{line}\n{}", &manifest[..at], &manifest[at..])
}

#[cfg(test)]
#[path = "../../tests/unit/generate/job.rs"]
mod tests;
