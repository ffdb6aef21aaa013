//! The table of settings for people: help, the reference page, and the resolved values.

use std::fmt::Write;

use skep::settings::{Row, Values, variable_of};

use super::flags::OTHERS;
use super::table;

/// Width of the help text.
const WIDTH: usize = 100;

/// What `--help` prints. `usage`: the first lines.
pub(crate) fn help(usage: &str, more: &[Row]) -> String {
    let table = table(more);
    let mut page = format!("{usage}\n\nFlags:\n");
    for row in table.rows() {
        if let Some((flag, argument)) = &row.flag {
            entry(&mut page, &format!("{flag} {argument}"), &short_help(row));
        }
    }
    for (flag, argument, help, _) in OTHERS {
        entry(&mut page, &format!("{flag} {argument}"), help);
    }
    page.push_str(
        "\nSettings, for --set NAME=VALUE, for skep.toml, and for the environment (log.access is SKEP_LOG_ACCESS):\n",
    );
    for row in table.rows() {
        entry(&mut page, &row.name, &short_help(row));
    }
    page.push_str("\nA later source wins: default, skep.toml, environment, flags, fixed by the program.\n");
    page
}

/// The first sentence, and the default.
fn short_help(row: &Row) -> String {
    let end = row.help.find(". ").map_or(row.help.len(), |at| at + 1);
    let first = row.help[..end].replace('`', "");
    match (row.is_required, &*row.default) {
        (true, _) => format!("{first} [required]"),
        (false, "") => first,
        (false, default) => format!("{first} [{default}]"),
    }
}

/// A name on the left, and on the right its help, in lines.
fn entry(page: &mut String, name: &str, help: &str) {
    const LEFT: usize = 36;
    let name = name.trim_end();
    let mut line = format!("  {name:<left$}", left = LEFT - 2);
    if name.len() + 4 > LEFT {
        // No room for both in one line.
        page.push_str(line.trim_end());
        page.push('\n');
        line = " ".repeat(LEFT);
    }
    for word in help.split_whitespace() {
        if line.len() + word.len() > WIDTH {
            page.push_str(line.trim_end());
            page.push('\n');
            line = " ".repeat(LEFT);
        }
        line.push_str(word);
        line.push(' ');
    }
    page.push_str(line.trim_end());
    page.push('\n');
}

/// What `--print-config` prints. Secrets are `***`.
pub(crate) fn print(values: &Values) -> String {
    let rows: Vec<_> =
        values.iter().map(|resolved| (format!("{} = {}", resolved.name, resolved.shown()), &resolved.source)).collect();
    let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or_default();
    rows.iter().fold(String::new(), |mut page, (left, from)| {
        let _ = writeln!(page, "{left:<width$}  # {from}");
        page
    })
}

/// The reference page of all settings, in Markdown: those of the server, and `more`, such as
/// [`App::setting_rows`](skep::App::setting_rows).
///
/// `docs/reference/configuration.md` is this page for `skep serve`; a test of `skep-isolate` keeps it up to date.
#[must_use]
pub fn reference(more: &[Row]) -> String {
    let table = table(more);
    let mut page = String::from(INTRODUCTION);
    page.push_str("## Flags\n\n| Flag | Effect |\n|---|---|\n");
    for row in table.rows() {
        if let Some((flag, argument)) = &row.flag {
            let flag = format!("{flag} {argument}");
            let _ = writeln!(page, "| `{}` | Set [`{}`](#{}). |", flag.trim_end(), row.name, anchor(&row.name));
        }
    }
    for (flag, argument, help, _) in OTHERS {
        let _ = writeln!(page, "| `{}` | {help} |", format!("{flag} {argument}").trim_end());
    }
    page.push_str("\n## Settings\n");
    for row in table.rows() {
        let _ = writeln!(page, "\n### {}\n\n{}\n", row.name, row.help);
        let _ = writeln!(page, "- accepts {}", row.kind);
        let _ = match (row.is_required, &*row.default) {
            (true, _) => writeln!(page, "- required"),
            (false, "") => writeln!(page, "- default: none"),
            (false, default) => writeln!(page, "- default: `{default}`"),
        };
        let _ = writeln!(page, "- environment: `{}`", variable_of(&row.name));
    }
    page
}

fn anchor(name: &str) -> String {
    name.replace('.', "").to_lowercase()
}

const INTRODUCTION: &str = include_str!("introduction.md");

#[cfg(test)]
#[path = "../../tests/unit/config/page.rs"]
mod tests;
