//! `skep gen service`: one service with a test.

use skep_units::nearest;

use super::guard::{self, Guard};
use super::name::Name;
use super::package::Package;
use super::plan::Plan;
use super::samples;
use super::source;
use super::template::{Placeholders, fill};

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Plans a service. `rest` is its method and its path, each of which may be left out.
pub(super) fn service(plan: &mut Plan<'_>, package: &Package, name: &Name, rest: &[String]) -> Result<(), String> {
    let (method, path) = method_and_path(name, rest)?;
    unused_paths(package, &[(method.as_str(), path.clone())])?;
    let parameters = parameters(&path)?;
    let has_layout = package.has("src/layout.rs") && package.read("src/layout.rs")?.contains("fn page(");
    let guard = Guard::of(package)?;
    let mut places = places(name, &method, &path, &parameters, has_layout, guard.as_ref());
    let (client, visitor) = samples::with_visitor(package, &method, &address(&path))?;
    places.extend([("client", client), ("client_import", samples::client_import(package)), ("visitor", visitor)]);
    let module = name.snake();
    plan.create(&format!("src/{module}.rs"), &fill(include_str!("templates/service.rs.txt"), &places))?;
    plan.create(&format!("tests/{module}.rs"), &fill(include_str!("templates/service_test.rs.txt"), &places))?;
    mount(plan, module, &[&name.camel()])
}

/// Whether other services have these addresses. Two of one address are an error of the linker, and not of
/// `cargo check`.
pub(super) fn unused_paths(package: &Package, addresses: &[(&str, String)]) -> Result<(), String> {
    for (file, text) in package.sources()? {
        if let Some((method, path)) = addresses.iter().find(|(method, path)| source::declares(&text, method, path)) {
            let file = file.strip_prefix(&package.root).unwrap_or(&file).display();
            return Err(format!("{file} has a service at {method} {path} already: choose another name"));
        }
    }
    Ok(())
}

/// Declares the module, and mounts its services.
pub(super) fn mount(plan: &mut Plan<'_>, module: &str, services: &[&str]) -> Result<(), String> {
    let services: Vec<String> = services.iter().map(|service| format!("{module}::{service}")).collect();
    plan.edit("src/lib.rs", |text| source::add_services(&source::add_module(text, module)?, &services))
}

fn method_and_path(name: &Name, rest: &[String]) -> Result<(String, String), String> {
    let (mut method, mut path) = ("GET".to_owned(), format!("/{}", name.kebab()));
    for word in rest {
        if word.starts_with('/') {
            path.clone_from(word);
        } else if METHODS.contains(&word.as_str()) {
            method.clone_from(word);
        } else {
            let near = nearest(word, METHODS).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(format!(
                "\"{word}\" is no method and no path{near}\nexpected one of {}, and a path such as /reports/{{year}}",
                METHODS.join(", ")
            ));
        }
    }
    Ok((method, path))
}

/// The names in a path, with their types: numbers for `id` and `..._id`, and texts.
fn parameters(path: &str) -> Result<Vec<(Name, &'static str)>, String> {
    let names = path.split('{').skip(1).map(|part| part.split('}').next().unwrap_or_default());
    let typed = names.map(|name| {
        let name = Name::parse(name.trim_start_matches('*'), "parameter")?;
        let kind = if name.snake() == "id" || name.snake().ends_with("_id") { "i64" } else { "String" };
        Ok((name, kind))
    });
    typed.collect()
}

/// The path with something for each parameter.
fn address(path: &str) -> String {
    let used = path.split('/').map(|part| match part.split(['{', '}']).nth(1) {
        Some(name) if name == "id" || name.ends_with("_id") => "1",
        Some(_) => "a",
        None => part,
    });
    used.collect::<Vec<_>>().join("/")
}

fn places(
    name: &Name,
    method: &str,
    path: &str,
    parameters: &[(Name, &'static str)],
    has_layout: bool,
    guard: Option<&Guard>,
) -> Placeholders {
    let is_page = method == "GET";
    let fields = parameters.iter().map(|(name, kind)| {
        format!(
            "    pub {}: {kind},
",
            name.snake()
        )
    });
    let fields = guard.map(Guard::field).into_iter().chain(fields).collect::<Vec<_>>().concat();
    let fields = if fields.is_empty() { ";".to_owned() } else { format!(" {{\n{fields}}}") };
    let shown = parameters.iter().map(|(name, _)| format!("p {{ (self.{}) }}", name.snake()));
    let shown =
        if parameters.is_empty() { "p { \"Here it is.\" }".to_owned() } else { shown.collect::<Vec<_>>().join(" ") };
    let lines = parameters.iter().map(|(name, _)| format!("{{}}\", self.{}", name.snake()));
    let body = match (is_page, has_layout) {
        (true, true) => {
            format!("let content = html! {{ {shown} }};\nOk(layout::page(cx, \"{}\", &content))", name.title())
        }
        (true, false) => format!("Ok(Response::html(html! {{ {shown} }}))"),
        (false, _) => match lines.collect::<Vec<_>>().as_slice() {
            [] => "Ok(Response::text(\"done\"))".to_owned(),
            [first, ..] => format!("Ok(Response::text(format!(\"done: {first})))"),
        },
    };
    let address = address(path);
    let call = match method {
        "GET" => format!("get(\"{address}\")"),
        "POST" => format!("post(\"{address}\", &[])"),
        _ => format!("request(skep::Method::{method}, \"{address}\").send()"),
    };
    vec![
        ("Title", name.title()),
        ("Name", name.camel()),
        ("module", name.snake().to_owned()),
        ("about", if is_page { "The page.".to_owned() } else { "What it does.".to_owned() }),
        ("method", method.to_owned()),
        ("path", path.to_owned()),
        ("fields", fields),
        ("imports", guard::imports(guard, (is_page && has_layout).then_some("use crate::layout;"))),
        ("cx", if is_page && has_layout { "cx".to_owned() } else { "_cx".to_owned() }),
        ("body", body),
        ("call", call),
        ("status", "200".to_owned()),
    ]
}
