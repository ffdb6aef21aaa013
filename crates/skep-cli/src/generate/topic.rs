//! `skep gen topic`: messages in a table, and a page that receives them.

use super::field::{Field, Kind};
use super::guard::{self, Guard};
use super::manifest;
use super::name::Name;
use super::package::Package;
use super::plan::Plan;
use super::samples;
use super::scaffold::{self, declarations};
use super::service::{mount, unused_paths};
use super::source;
use super::statements::NewTable;
use super::template::{Placeholders, fill};

/// Names that its module uses.
const TAKEN: [&str; 6] = ["all", "event", "message", "publish", "static", "topic"];

/// Plans a table of messages, their topic, a page with a form and a script, and a test.
pub(super) fn topic(plan: &mut Plan<'_>, package: &Package, name: &Name, fields: &[Field]) -> Result<(), String> {
    check(package, name, fields)?;
    let (module, path) = (name.snake(), name.kebab());
    let addresses = [("GET", ""), ("GET", "/events"), ("POST", "")];
    unused_paths(package, &addresses.map(|(method, end)| (method, format!("/{path}{end}"))))?;
    let guard = Guard::of(package)?;
    let table = NewTable { name, fields };
    let places = places(package, &table, guard.as_ref());
    plan.create(&package.next_migration(module)?, &table.migration(package.dialect))?;
    plan.create(&format!("src/{module}.rs"), &fill(include_str!("templates/topic.rs.txt"), &places))?;
    plan.create(&format!("static/{module}.js"), &script(&path, fields))?;
    plan.create(&format!("tests/{module}.rs"), &fill(include_str!("templates/topic_test.rs.txt"), &places))?;
    mount(plan, module, &[&name.camel(), "Events", "Publish"])?;
    plan.edit("src/lib.rs", add_topics)?;
    plan.edit("Cargo.toml", |text| manifest::depend(text, "skep-live", false))?;
    let link = format!("a href=({}) {{ \"{}\" }}", page(name, guard.as_ref()), name.title());
    scaffold::navigate(plan, package, module, &name.camel(), &link)
}

fn check(package: &Package, name: &Name, fields: &[Field]) -> Result<(), String> {
    scaffold::check(package, name)?;
    if TAKEN.contains(&name.snake()) {
        return Err(format!("\"{}\" is the name of something that the page uses: choose another name", name.snake()));
    }
    if fields.iter().any(|field| field.kind == Kind::Reference) {
        return Err("a message has no rows to choose from: give it texts, numbers and dates".to_owned());
    }
    if !fields.iter().any(|field| !field.optional) {
        return Err("a message needs a field that is always there: leave out the ? of one".to_owned());
    }
    scaffold::has_layout(package)?;
    if !package.read("src/lib.rs")?.contains("pub Static = \"static\"") {
        return Err(
            "src/lib.rs has no `skep::assets!(pub Static = \"static\" at \"/static\");`: the script of the page needs \
                    it, as `skep new` writes it"
                .to_owned(),
        );
    }
    Ok(())
}

/// Mounts topics, unless they are.
fn add_topics(text: &str) -> Result<String, String> {
    if source::has_call(text, "topics") {
        return Ok(text.to_owned());
    }
    let text = source::add_call(text, ".topics(Topics::new())")?;
    if text.contains("use skep_live::") { Ok(text) } else { source::add_import(&text, "skep_live::prelude::*") }
}

/// Where the page is. Only a link has no guards.
fn page(name: &Name, guard: Option<&Guard>) -> String {
    let name = name.camel();
    if guard.is_some() { format!("{name}::link()") } else { name }
}

fn places(package: &Package, table: &NewTable<'_>, guard: Option<&Guard>) -> Placeholders {
    let (name, fields) = (table.name, table.fields);
    let field = guard.map(Guard::field).unwrap_or_default();
    let imports = scaffold::form_imports(fields);
    let form = fields
        .iter()
        .map(|field| format!("    #[form]\n    {}: {},\n", field.name.snake(), field.optionally(&field.form_type())));
    let controls: Vec<String> = fields.iter().flat_map(|field| scaffold::controls(field, "Publish")).collect();
    let fill =
        fields.iter().map(|field| samples::set(field, samples::sample(field.kind)).replace("Save::", "Publish::"));
    let values = fields.iter().map(|field| scaffold::value(field, field.name.snake()));
    let imports_here = ["use crate::Static;", "use crate::layout;"];
    vec![
        ("Title", name.title()),
        ("Name", name.camel()),
        ("name", name.kebab()),
        ("TOPIC", name.snake().to_uppercase()),
        ("ASSET", format!("{}_JS", name.snake().to_uppercase())),
        ("module", name.snake().to_owned()),
        ("library", package.library.clone()),
        ("path", name.kebab()),
        ("page", page(name, guard)),
        ("prelude", if guard.is_some() { String::new() } else { "use skep::prelude::*;\n".to_owned() }),
        ("page_fields", if guard.is_some() { format!(" {{\n{field}}}") } else { ";".to_owned() }),
        ("guard", field),
        ("guard_imports", guard::imports(guard, imports_here)),
        ("imports", imports),
        ("columns", declarations(fields)),
        ("form_fields", form.collect()),
        ("select", table.select_all()),
        ("insert", table.insert()),
        ("values", values.collect::<Vec<_>>().join(", ")),
        ("members", fields.iter().map(member).collect::<Vec<_>>().join(", ")),
        ("shown", scaffold::lines(&shown_fields(fields), 24)),
        ("controls", scaffold::lines(&controls, 16)),
        ("client", samples::client(package)),
        ("client_import", samples::client_import(package)),
        ("fill", fill.collect()),
        ("needs", samples::needs(name, fields)),
    ]
}

/// What is always there comes first.
fn in_order(fields: &[Field]) -> Vec<&Field> {
    let (always, optional): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(|field| !field.optional);
    always.into_iter().chain(optional).collect()
}

fn shown_fields(fields: &[Field]) -> Vec<String> {
    in_order(fields).iter().enumerate().map(|(at, field)| shown(at, field)).collect()
}

/// A field of the message, of what the form sent.
fn member(field: &Field) -> String {
    let name = field.name.snake();
    match (field.is_text(), field.optional) {
        (false, _) => format!("{name}: self.{name}"),
        (true, false) => format!("{name}: self.{name}.to_string()"),
        (true, true) => format!("{name}: self.{name}.map(|{name}| {name}.to_string())"),
    }
}

/// What the page shows of a field, behind those before it.
fn shown(at: usize, field: &Field) -> String {
    let name = field.name.snake();
    let dot = if at == 0 { "" } else { "\" · \" " };
    match field.kind {
        Kind::Bool => format!("{dot}@if message.{name} {{ \"yes\" }} @else {{ \"no\" }}"),
        _ if field.optional => format!("@if let Some({name}) = &message.{name} {{ {dot}({name}) }}"),
        _ => format!("{dot}(message.{name})"),
    }
}

/// The script of the page, which shows what the page shows.
fn script(path: &str, fields: &[Field]) -> String {
    let part = |field: &&Field| match field.kind {
        Kind::Bool => format!("message.{0} ? \"yes\" : \"no\"", field.name.snake()),
        _ => format!("message.{}", field.name.snake()),
    };
    let parts: Vec<String> = in_order(fields).iter().map(part).collect();
    include_str!("templates/topic.js.txt").replace("$path$", path).replace("$parts$", &parts.join(", "))
}
