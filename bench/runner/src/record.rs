//! A run as JSON: everything that was measured, nothing rounded, so that a later question can be put to it.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::flags::Flags;
use crate::load;
use crate::machine::Machine;
use crate::measure::Sample;
use crate::report::{self, verdicts};
use crate::run::{Entrant, Outcome, Round};

/// The shape of a record. It grows when a key changes its meaning.
const VERSION: u32 = 2;

/// The record of a run.
pub(crate) fn json(machine: &Machine, flags: &Flags, outcomes: &[Outcome]) -> Value {
    let facts = machine.0.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())));
    json!({
        "record": VERSION,
        "machine": facts.collect::<Map<_, _>>(),
        "rounds": flags.rounds(),
        "seconds": flags.seconds(),
        "only": flags.only,
        "experiments": outcomes.iter().map(outcome).collect::<Vec<_>>(),
    })
}

/// The new record, with what the old one has of other experiments before it.
pub(crate) fn merged(old: &Value, mut new: Value) -> Value {
    let is_new = |old: &Value| {
        let same = |new: &Value| new["experiment"] == old["experiment"] && new["load"] == old["load"];
        new["experiments"].as_array().is_some_and(|all| all.iter().any(same))
    };
    let kept = old["experiments"].as_array().into_iter().flatten().filter(|old| !is_new(old)).cloned();
    let mut all: Vec<Value> = kept.collect();
    all.extend(new["experiments"].as_array().into_iter().flatten().cloned());
    new["experiments"] = all.into();
    if new["cache"].is_null() {
        new["cache"] = old["cache"].clone();
    }
    new
}

/// A record's tables, as a page.
pub(crate) fn page(record: &Value) -> String {
    let mut page =
        format!("{} rounds of {} s each, variants in random order.\n\n", record["rounds"], record["seconds"]);
    for (name, value) in record["machine"].as_object().into_iter().flatten() {
        let _ = writeln!(page, "- {name}: {}", value.as_str().unwrap_or_default());
    }
    let tables = record["experiments"].as_array().into_iter().flatten();
    tables.filter_map(|experiment| experiment["tables"].as_str()).fold(page, |page, table| page + "\n" + table)
}

fn outcome(outcome: &Outcome) -> Value {
    let goals = verdicts(outcome).into_iter().map(|verdict| {
        json!({ "goal": verdict.goal, "reached": verdict.reached.map(|reached| reached.middle), "verdict": verdict.word })
    });
    json!({
        "experiment": outcome.experiment.name,
        "load": load::shown(outcome.load),
        "with": outcome.load.describe(),
        "reference": outcome.entrants[0].name,
        "variants": outcome.entrants.iter().map(entrant).collect::<Vec<_>>(),
        "rounds": outcome.rounds.iter().map(|round| self::round(round, &outcome.entrants)).collect::<Vec<_>>(),
        "goals": goals.collect::<Vec<_>>(),
        "left_out": outcome.left_out.iter().map(|left| json!({ "name": left.name, "why": left.why })).collect::<Vec<_>>(),
        "tables": report::markdown(outcome),
    })
}

fn entrant(entrant: &Entrant) -> Value {
    json!({
        "name": entrant.name,
        "command": entrant.command,
        "path": entrant.variant.path,
        "answer_body_bytes": entrant.answered.as_ref().map(|answered| answered.body),
    })
}

/// The figures of a round, in the order in which they were measured.
fn round(round: &Round, entrants: &[Entrant]) -> Value {
    let measured = round.order.iter().map(|&place| {
        let mut figures = figures(&round.samples[place]);
        figures.insert("variant".into(), entrants[place].name.as_str().into());
        Value::Object(figures)
    });
    measured.collect()
}

fn figures(sample: &Sample) -> Map<String, Value> {
    sample.iter().map(|(measure, value)| (measure.key().to_owned(), Value::from(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_anew_takes_the_place_of_the_old() {
        let of = |name: &str, rounds: u32| json!({ "experiment": name, "load": "closed", "rounds": rounds });
        let old = json!({ "experiments": [of("a", 1), of("b", 1)], "cache": "x.json" });
        let new = merged(&old, json!({ "experiments": [of("b", 2), of("c", 2)] }));
        assert_eq!(new["experiments"], json!([of("a", 1), of("b", 2), of("c", 2)]));
        assert_eq!(new["cache"], "x.json");
    }
}
