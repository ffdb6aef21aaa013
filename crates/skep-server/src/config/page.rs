//! What the table of settings looks like to people: help, the reference page, and what is in force.

use std::fmt::Write;

use super::flags::OTHERS;
use super::layers::{Values, variable_of};
use super::table::{SETTINGS, Setting};

/// Width of the help text.
const WIDTH: usize = 100;

/// What `--help` prints.
pub(crate) fn help(name: &str) -> String {
    let mut page =
        format!("Usage: {name} [FLAGS]\n\nServes until it is asked to stop (Ctrl-C, or the signal TERM).\n\nFlags:\n");
    let flags = SETTINGS.iter().filter_map(|setting| Some((setting.flag()?, first_sentence(setting), setting.default)));
    for ((flag, argument), help, default) in flags {
        entry(&mut page, &format!("{flag} {argument}"), &with_default(&help, default));
    }
    for (flag, argument, help, _) in OTHERS {
        entry(&mut page, &format!("{flag} {argument}"), help);
    }
    page.push_str(
        "\nSettings, for --set NAME=VALUE, for skep.toml, and for the environment (log.access is SKEP_LOG_ACCESS):\n",
    );
    for setting in SETTINGS {
        entry(&mut page, setting.name, &with_default(&first_sentence(setting), setting.default));
    }
    page.push_str("\nA later one wins: default, skep.toml, environment, flags, what the program has fixed.\n");
    page
}

fn with_default(help: &str, default: &str) -> String {
    if default.is_empty() { help.to_owned() } else { format!("{help} [{default}]") }
}

fn first_sentence(setting: &Setting) -> String {
    let end = setting.help.find(". ").map_or(setting.help.len(), |at| at + 1);
    setting.help[..end].replace('`', "")
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

/// What `--print-config` prints.
pub(crate) fn print(values: &Values) -> String {
    let rows: Vec<_> = SETTINGS
        .iter()
        .map(|setting| setting.name)
        .zip(values)
        .chain(values.iter().skip(SETTINGS.len()).map(|known| (&*known.name, known)))
        .map(|(name, known)| (format!("{name} = {}", known.value), &known.from))
        .collect();
    let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or_default();
    rows.iter().fold(String::new(), |mut page, (left, from)| {
        let _ = writeln!(page, "{left:<width$}  # {from}");
        page
    })
}

/// The reference page of all settings, in Markdown. `docs/configuration.md` is this text, and a test keeps it so.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(INTRODUCTION);
    page.push_str("## Flags\n\n| Flag | What it does |\n|---|---|\n");
    for setting in SETTINGS {
        if let Some((flag, argument)) = setting.flag() {
            let _ = writeln!(
                page,
                "| `{}` | Sets [`{}`](#{}). |",
                format!("{flag} {argument}").trim_end(),
                setting.name,
                anchor(setting.name)
            );
        }
    }
    for (flag, argument, help, _) in OTHERS {
        let _ = writeln!(page, "| `{}` | {help} |", format!("{flag} {argument}").trim_end());
    }
    page.push_str("\n## Settings\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() { "none".to_owned() } else { format!("`{}`", setting.default) };
        let _ = writeln!(page, "\n### {}\n\n{}\n", setting.name, setting.help);
        let _ = writeln!(page, "- takes {}", setting.kind);
        let _ = writeln!(page, "- default: {default}");
        let _ = writeln!(page, "- environment: `{}`", variable_of(setting.name));
    }
    page
}

fn anchor(name: &str) -> String {
    name.replace('.', "")
}

const INTRODUCTION: &str = "\
<!-- Written by `cargo run -p skep-server --example configuration`; edit crates/skep-server/src/config/table.rs instead. -->
# Configuration

An application runs without any configuration. What can be set, can be set in five places; a later one wins:

1. the default;
2. the file `skep.toml` in the current directory, or the one that `--config` names;
3. the environment: `limits.body` is `SKEP_LIMITS_BODY`;
4. flags: `--set limits.body=2MiB`, and for some settings a flag of their own;
5. what the program itself has fixed.

A setting that does not exist, and a value that does not fit, is an error that says where it stands and what would be right.
`--check` looks at all of it without starting, `--print-config` shows what is in force and where it came from.

```toml
listen = [\"127.0.0.1:8800\", \"unix:/run/blog.sock\"]
workers = 2

[limits]
body = \"2MiB\"
header_time = \"5s\"
```

Sizes are written `1500B`, `64KiB`, `1MiB`, `2GiB`, times `500ms`, `10s`, `1m30s`, `2h`.

";
