//! What a reader must know before believing a table.

use super::{main_measure, range, ratio, spread};
use crate::experiment::{Load, Same};
use crate::measure::{Measure, float};
use crate::run::Outcome;

/// Above this, a load generator may be what was measured: percent of its core.
const FULL: f64 = 95.0;

/// Above this, others took enough of a core to show: percent.
const CROWDED: f64 = 3.0;

/// Everything that should be said.
pub(crate) fn all(outcome: &Outcome) -> Vec<String> {
    let about_the_load = [busy(outcome), full(outcome), crowded(outcome)];
    let notes = [noise(outcome), split(outcome), sizes(outcome), errors(outcome)].into_iter().chain(about_the_load);
    notes.chain([absent(outcome)]).flatten().collect()
}

/// How far the same program is from itself.
fn noise(outcome: &Outcome) -> Option<String> {
    let control = outcome.entrants.len() - 1;
    let main = main_measure(outcome.load);
    let beside = |measure: Measure| Some(format!("{} {}", measure.name(), range(ratio(outcome, control, 0, measure)?)));
    let cpu = beside(Measure::Cpu).filter(|_| main == Measure::Rate).map_or(String::new(), |cpu| format!(", {cpu}"));
    let name = &outcome.entrants[0].name;
    Some(format!(
        "Noise, {name} against itself: {}{cpu}. A difference within these bounds shows nothing.",
        beside(main)?
    ))
}

/// Where the time of a page goes, from the variants that leave a part of the work out.
fn split(outcome: &Outcome) -> Option<String> {
    let splits: Vec<String> = outcome.entrants.iter().filter_map(|entrant| split_of(outcome, &entrant.name)).collect();
    (!splits.is_empty()).then(|| format!("CPU us by part: {}.", splits.join("; ")))
}

/// What falls away with the query is SQL; what then falls away with the rendering is HTML; the rest is HTTP.
fn split_of(outcome: &Outcome, name: &str) -> Option<String> {
    let cpu = |name: &str| Some(spread(outcome, outcome.place(name)?, Measure::Cpu)?.median);
    let (whole, html, http) = (cpu(name)?, cpu(&format!("{name}-html"))?, cpu(&format!("{name}-http"))?);
    Some(format!("{name} SQL {:.1}, HTML {:.1}, HTTP {http:.1}", whole - html, html - http))
}

/// How the answers differ in length.
fn sizes(outcome: &Outcome) -> Option<String> {
    let sizes = outcome.entrants.iter().filter_map(|entrant| {
        let body = entrant.answered.as_ref()?.body;
        if let Load::Streams { .. } = outcome.load {
            // What heads take there, compressed, is not counted.
            return Some(format!("{} {body}", entrant.name));
        }
        // Without a load or an answer under it, only the answer before the load is known.
        let whole = spread(outcome, outcome.place(&entrant.name)?, Measure::Bytes)?.median;
        Some(format!("{} {:.0} + {body}", entrant.name, whole - float(body as u64)))
    });
    let sizes: Vec<String> = sizes.collect();
    let why = match outcome.experiment.same {
        Same::Text(_) | Same::Bytes(_) if matches!(outcome.load, Load::Streams { .. }) => "Same bodies; bytes",
        Same::Text(_) | Same::Bytes(_) => "Same bodies; bytes of head + body",
        Same::Page(_) => "Same pages, but for blanks and ways to write a character; bytes of head + body",
        Same::Rows { .. } => "Rows by random numbers; bytes of head + body",
        Same::Times(..) => "Bodies differ in what is not counted; bytes of head + body",
        Same::Free => "Bodies differ on purpose; bytes of head + body",
    };
    (!sizes.is_empty()).then(|| format!("{why}: {}.", sizes.join(", ")))
}

/// Who failed to answer.
fn errors(outcome: &Outcome) -> Option<String> {
    let failed = named(outcome, |place| {
        let errors: f64 = outcome.figures(place, Measure::Errors).into_iter().flatten().sum();
        (errors > 0.0).then(|| format!("{errors:.0}"))
    });
    (!failed.is_empty()).then(|| format!("**Errors**: {}.", failed.join(", ")))
}

/// How the load waited for answers, where there was one.
fn busy(outcome: &Outcome) -> Option<String> {
    let is_loaded = (0..outcome.entrants.len()).any(|place| spread(outcome, place, Measure::Load).is_some());
    (is_loaded && outcome.experiment.is_busy(outcome.load)).then(|| {
        "The load never slept, so no server paid for waking it; what is shown of its core is the part in which it worked.".into()
    })
}

/// Who was faster than the load generator.
fn full(outcome: &Outcome) -> Option<String> {
    let full = named(outcome, |place| {
        let load = spread(outcome, place, Measure::Load)?.median;
        let busy = spread(outcome, place, Measure::Busy)?.median;
        (load > FULL && busy < FULL).then(|| format!("{load:.0} %"))
    });
    (!full.is_empty()).then(|| {
        format!(
            "The load's core was full before the server's was, so compare CPU per request and not requests/s: {}.",
            full.join(", ")
        )
    })
}

/// Whether the machine had other things to do.
fn crowded(outcome: &Outcome) -> Option<String> {
    let worst = |measure: Measure| {
        let medians = (0..outcome.entrants.len()).filter_map(|place| Some(spread(outcome, place, measure)?.median));
        medians.fold(0.0, f64::max)
    };
    let (server, load) = (worst(Measure::ServerOthers), worst(Measure::LoadOthers));
    (server.max(load) > CROWDED).then(|| {
        format!("**Other programs** took up to {server:.0} % of the server's core and {load:.0} % of the load's (the worst median): requests/s do not hold, CPU per request holds better.")
    })
}

/// Who took no part.
fn absent(outcome: &Outcome) -> Option<String> {
    let absent: Vec<_> = outcome.left_out.iter().map(|left| format!("{} ({})", left.name, left.why)).collect();
    (!absent.is_empty()).then(|| format!("Left out: {}.", absent.join("; ")))
}

/// `NAME WHAT` of those entrants that have a `WHAT`.
fn named(outcome: &Outcome, what: impl Fn(usize) -> Option<String>) -> Vec<String> {
    let named = |(place, entrant): (usize, &crate::run::Entrant)| Some(format!("{} {}", entrant.name, what(place)?));
    outcome.entrants.iter().enumerate().filter_map(named).collect()
}
