//! A run on disk: all raw figures as JSON, and the tables beside it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use figures::machine;
use serde_json::{Map, Value, json};

use crate::Result;
use crate::flags::Flags;
use crate::outcome::Outcome;

/// The shape of a record. It grows when a key changes its meaning.
const VERSION: u32 = 1;

/// Crates whose versions matter.
const CRATES: [&str; 3] = ["moka", "quick_cache", "foyer-memory"];

/// Names and values of what a run happens on.
pub(crate) fn machine() -> Vec<(&'static str, String)> {
    let mut facts = machine::facts();
    facts.push(("skep", machine::commit(crate::folder())));
    let lock = fs::read_to_string(crate::folder().join("../Cargo.lock")).unwrap_or_default();
    facts.extend(CRATES.map(|name| (name, machine::version(&lock, name).unwrap_or("unknown").to_owned())));
    facts
}

/// Writes the record, and the tables beside it.
pub(crate) fn write(
    file: &Path,
    machine: &[(&'static str, String)],
    flags: &Flags,
    outcomes: &[Outcome],
) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, format!("{:#}\n", json(machine, flags, outcomes)))?;
    fs::write(file.with_extension("md"), page(machine, flags, outcomes))?;
    eprintln!("wrote {} and its .md", file.display());
    Ok(())
}

fn command() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("cargo xtask peers cache {}", arguments.join(" "))
}

fn json(machine: &[(&'static str, String)], flags: &Flags, outcomes: &[Outcome]) -> Value {
    let facts = machine.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())));
    let outcomes = outcomes
        .iter()
        .map(|outcome| json!({ "measurement": outcome.name, "verdicts": outcome.verdicts, "raw": outcome.raw }));
    json!({
        "record": VERSION,
        "command": command(),
        "machine": facts.collect::<Map<_, _>>(),
        "rounds": flags.rounds,
        "millis": flags.millis,
        "outcomes": outcomes.collect::<Vec<_>>(),
    })
}

fn page(machine: &[(&'static str, String)], flags: &Flags, outcomes: &[Outcome]) -> String {
    let mut page = format!("`{}`: {} rounds, figures of {} ms.\n\n", command(), flags.rounds, flags.millis);
    for (name, value) in machine {
        let _ = writeln!(page, "- {name}: {value}");
    }
    outcomes.iter().fold(page, |page, outcome| format!("{page}\n{outcome}"))
}
