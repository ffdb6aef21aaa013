//! `skep gen mail`: a function that writes a mail, as text and as HTML.

use super::field::{Field, Kind};
use super::name::Name;
use super::plan::Plan;
use super::samples::sample;
use super::scaffold::lines;
use super::source;
use super::template::{Placeholders, fill};

/// Plans a function whose parameters are the address and the fields.
pub(super) fn mail(plan: &mut Plan<'_>, name: &Name, fields: &[Field]) -> Result<(), String> {
    if let Some(field) = fields.iter().find(|field| field.kind == Kind::Reference || field.name.snake() == "to") {
        let name = field.name.snake();
        return Err(format!(
            "\"{name}\" cannot be a parameter of a mail: it has `to`, and no rows; write its text instead"
        ));
    }
    if let Some(field) = fields.iter().find(|field| field.optional) {
        let name = field.name.snake();
        return Err(format!("\"{name}\" is optional, and a mail has lines for all fields: leave the ? out"));
    }
    let module = name.snake();
    plan.create(&format!("src/{module}.rs"), &fill(include_str!("templates/mail.rs.txt"), &places(name, fields)))?;
    plan.edit("src/lib.rs", |text| source::add_module(text, module))
}

fn places(name: &Name, fields: &[Field]) -> Placeholders {
    let arguments = fields.iter().map(|field| format!(", {}: {}", field.name.snake(), parameter(field)));
    let text: Vec<String> =
        fields.iter().map(|field| format!("{}: {{{}}}\\n", field.name.title(), field.name.snake())).collect();
    let html: Vec<String> =
        fields.iter().map(|field| format!("p {{ \"{}: \" ({}) }}", field.name.title(), field.name.snake())).collect();
    let (title, first) = (name.title(), format!("p {{ \"{}\" }}", name.title()));
    let html: Vec<String> = std::iter::once(first).chain(html).collect();
    let samples = fields.iter().map(|field| format!(", {}", literal(field)));
    let asserts = fields.iter().map(|field| {
        let text = sample(field.kind);
        // In HTML, it is escaped.
        let escaped = text.replace('<', "&lt;").replace('>', "&gt;");
        format!(
            "        assert!(mail.text.contains(\"{text}\") && mail.html.as_ref().is_some_and(|html| html.contains(\"{escaped}\")));"
        )
    });
    vec![
        ("Title", title.clone()),
        ("module", name.snake().to_owned()),
        ("arguments", format!("to: &str{}", arguments.collect::<String>())),
        ("text", format!("{title}\\n{}", text.concat())),
        ("html", lines(&html, 12)),
        ("samples", format!("\"ann@example.org\"{}", samples.collect::<String>())),
        ("asserts", asserts.collect::<Vec<_>>().join("\n")),
    ]
}

fn parameter(field: &Field) -> &'static str {
    if field.is_text() { "&str" } else { field.row_type() }
}

fn literal(field: &Field) -> String {
    let text = sample(field.kind);
    if field.is_text() { format!("\"{text}\"") } else { text.to_owned() }
}
