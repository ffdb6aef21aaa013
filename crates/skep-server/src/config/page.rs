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
    let mut line = format!("  {:<left$}", name.trim_end(), left = LEFT - 2);
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

const INTRODUCTION: &str = "\
<!-- Written by `cargo run -p skep-isolate --example configuration`; edit crates/skep-server/src/config/table.rs and \
crates/skep-isolate/src/options/table.rs instead. -->
# Configuration

An application runs without any configuration. Each setting can come from five sources; a later one wins:

1. the default;
2. the file `skep.toml` in the current directory, or the one that `--config` names;
3. the environment: `limits.body` is `SKEP_LIMITS_BODY`;
4. flags: `--set limits.body=2MiB`, and for some settings a flag of their own;
5. the program itself (`Server::fix`).

An unknown setting and an invalid value are errors that name their source and what is expected.
`--check` reads all settings without serving, `--print-config` shows each value and its source.

```toml
listen = [\"127.0.0.1:8800\", \"unix:/run/blog.sock\"]
workers = 2

[limits]
body = \"2MiB\"
header_time = \"5s\"
```

## Values

| Value | Grammar | Examples |
|---|---|---|
| duration | numbers with a unit (`ns`, `us`, `ms`, `s`, `m`, `h`, `d`), added up | `500ms`, `30s`, `1m30s`, `1.5h`, `0` |
| size | bytes, or a number with a unit (`B`; `KiB`, `MiB`, `GiB`, `TiB`; `KB`, `MB`, `GB`, `TB`) | `1500`, `64KiB`, `2GB` |
| rate | a number, a slash and an interval | `100/s`, `5/10m` |
| address | `HOST:PORT`, `:PORT` for every address, `unix:PATH`, `fd:NUMBER` | `127.0.0.1:8800`, `[::]:80` |
| list | an array in the file; elsewhere elements separated by `;` | `memory:8MiB; memcached:a,b` |

## Settings of an application

An application declares settings of its own as a struct. They come from the same sources and appear in `--help`, `--check` and
`--print-config`:

```rust
use std::time::Duration;
use skep::prelude::*;
use skep::settings::Settings;

#[derive(Settings)]
#[settings(table = \"helpdesk\")]
pub struct Helpdesk {
    /// The mail server, such as mail.example.org:587.
    pub smtp: String,
    /// The password of the mail server.
    #[setting(secret)]
    pub password: Option<String>,
    /// How long a ticket stays open without a reply.
    #[setting(default = \"14d\")]
    pub close_after: Duration,
}

pub fn app() -> App {
    App::new().settings::<Helpdesk>()
}
```

Here `smtp` is required: without it, the start stops and names the line of `skep.toml`, the variable `SKEP_HELPDESK_SMTP` and the flag
`--set helpdesk.smtp=...` that set it. A secret is printed as `***`. Handlers read `cx.settings::<Helpdesk>()`; jobs and `on_start` read
`site.settings::<Helpdesk>()`. In tests, `Client::with_settings` sets values. A component reads the same table: its file tells
`skep serve` which settings it has.

";
