//! A run as JSON: everything that was measured, nothing rounded, so that a later question can be put to it.

use serde_json::{Map, Value, json};

use crate::flags::Flags;
use crate::load;
use crate::machine::Machine;
use crate::measure::Sample;
use crate::report::verdicts;
use crate::run::{Entrant, Outcome, Round};

/// The shape of a record. It grows when a key changes its meaning.
const VERSION: u32 = 1;

/// The record of a run.
pub(crate) fn json(machine: &Machine, flags: &Flags, outcomes: &[Outcome]) -> String {
    let facts = machine.0.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())));
    let record = json!({
        "record": VERSION,
        "machine": facts.collect::<Map<_, _>>(),
        "rounds": flags.rounds,
        "seconds": flags.seconds,
        "only": flags.only,
        "experiments": outcomes.iter().map(outcome).collect::<Vec<_>>(),
    });
    format!("{record:#}\n")
}

fn outcome(outcome: &Outcome) -> Value {
    let goals = verdicts(outcome).into_iter().map(|verdict| {
        json!({ "goal": verdict.goal, "median": verdict.spread.map(|spread| spread.median), "verdict": verdict.word })
    });
    json!({
        "experiment": outcome.experiment.name,
        "load": load::shown(outcome.load),
        "reference": outcome.entrants[0].name,
        "variants": outcome.entrants.iter().map(entrant).collect::<Vec<_>>(),
        "rounds": outcome.rounds.iter().map(|round| self::round(round, &outcome.entrants)).collect::<Vec<_>>(),
        "goals": goals.collect::<Vec<_>>(),
    })
}

fn entrant(entrant: &Entrant) -> Value {
    json!({
        "name": entrant.name,
        "command": entrant.command,
        "path": entrant.variant.path,
        "answer_head_bytes": entrant.answered.as_ref().map(|answered| answered.head),
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
