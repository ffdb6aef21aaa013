//! Runs an experiment: rounds, and in each round every variant once, in random order.
//!
//! Servers are started once and idle while it is another's turn, except where the experiment is about starting or
//! about memory, which processes of one program would share. Whatever happens, they are ended.
//!
//! Start reading at [`experiment`].

mod cell;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::Result;
use crate::answer::{self, Answered};
use crate::cores;
use crate::experiment::{Experiment, Load, Planned, Variant, WARM_UP};
use crate::flags::Flags;
use crate::http;
use crate::measure::{Measure, Sample};
use crate::program::Program;
use crate::server::Server;
use crate::site::Site;
use cell::Cell;
use figures::random::Random;

/// What came out of one load of one experiment.
pub(crate) struct Outcome {
    pub(crate) experiment: Experiment,
    pub(crate) load: Load,
    pub(crate) entrants: Vec<Entrant>,
    pub(crate) rounds: Vec<Round>,
}

/// A variant that takes part: the control is an entrant of its own.
pub(crate) struct Entrant {
    pub(crate) name: String,
    pub(crate) variant: Variant,
    pub(crate) command: String,
    pub(crate) answered: Option<Answered>,
}

/// One round: who came when, and each entrant's figures.
pub(crate) struct Round {
    pub(crate) order: Vec<usize>,
    pub(crate) samples: Vec<Sample>,
}

impl Outcome {
    /// An entrant's figures, round by round.
    pub(crate) fn figures(&self, entrant: usize, measure: Measure) -> Vec<Option<f64>> {
        self.rounds.iter().map(|round| round.samples[entrant].get(&measure).copied()).collect()
    }

    /// The place of the entrant with this name.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.entrants.iter().position(|entrant| entrant.name == name)
    }
}

/// Runs every load of an experiment.
pub(crate) fn experiment(planned: &Planned, site: &Site, flags: &Flags) -> Result<Vec<Outcome>> {
    cores::bind(cores::LOAD)?;
    planned.experiment.loads.iter().map(|&load| outcome(planned, load, site, flags)).collect()
}

fn outcome(planned: &Planned, load: Load, site: &Site, flags: &Flags) -> Result<Outcome> {
    let name = planned.experiment.name;
    eprintln!("{name}, {}: {} rounds of {} s", load.describe(), flags.rounds, flags.seconds);
    let mut entrants = entrants(&planned.variants, site);
    let servers = servers(name, load, &mut entrants, planned, site)?;
    let cell = Cell { experiment: name, load, site, seconds: flags.seconds };
    for (place, entrant) in entrants.iter().enumerate() {
        cell.warm_up(entrant, servers.get(&place), WARM_UP)?;
    }
    let mut random = Random::from_clock();
    let rounds = (1..=flags.rounds).map(|number| {
        eprint!("  round {number}:");
        let round = round(random.order(entrants.len()), &entrants, &servers, &cell);
        eprintln!();
        round
    });
    let rounds = rounds.collect::<Result<Vec<_>>>()?;
    Ok(Outcome { experiment: planned.experiment, load, entrants, rounds })
}

fn round(order: Vec<usize>, entrants: &[Entrant], servers: &BTreeMap<usize, Server>, cell: &Cell<'_>) -> Result<Round> {
    let mut samples = vec![Sample::new(); entrants.len()];
    for &place in &order {
        go_on()?;
        eprint!(" {}", entrants[place].name);
        samples[place] = cell.measure(&entrants[place], servers.get(&place))?;
    }
    Ok(Round { order, samples })
}

/// The variants, and the first of them once more.
fn entrants(variants: &[Variant], site: &Site) -> Vec<Entrant> {
    let again = variants.iter().take(1).map(|variant| (format!("{} (again)", variant.name), *variant));
    let named = variants.iter().map(|variant| (variant.name.to_owned(), *variant)).chain(again);
    named
        .map(|(name, variant)| Entrant { name, variant, command: variant.program.shown(site), answered: None })
        .collect()
}

/// Starts the servers, by the place of their entrant, and checks their answers.
///
/// An experiment that starts its servers anew each time gets none to keep; their answers are checked all the same.
fn servers(
    name: &str,
    load: Load,
    entrants: &mut [Entrant],
    planned: &Planned,
    site: &Site,
) -> Result<BTreeMap<usize, Server>> {
    let mut servers = BTreeMap::new();
    let mut answers = Vec::new();
    let places: Vec<usize> =
        (0..entrants.len()).filter(|&place| entrants[place].variant.program != Program::Markdown).collect();
    for &place in &places {
        go_on()?;
        let entrant = &entrants[place];
        let server = Server::start(&entrant.variant, &label(name, entrant), site)?;
        let answer = http::get(server.port, entrant.variant.path)?;
        answers.push((entrant.name.clone(), answer));
        servers.insert(place, server);
    }
    let answered = answer::check(planned.experiment.same, &answers)?;
    for (place, answered) in places.into_iter().zip(answered) {
        entrants[place].answered = Some(answered);
    }
    if load.starts_anew() {
        servers.clear();
    }
    Ok(servers)
}

/// The name of an entrant's directory.
fn label(experiment: &str, entrant: &Entrant) -> String {
    format!("{experiment}-{}", entrant.name.replace([' ', '(', ')'], ""))
}

static ENDED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Lets SIGINT and SIGTERM end the run after the figure under way, so that no server is left behind.
pub(crate) fn end_on_signals() -> Result<()> {
    let ended = ENDED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, ended.clone())?;
    }
    Ok(())
}

fn go_on() -> Result<()> {
    match ENDED.get() {
        Some(ended) if ended.load(Ordering::Relaxed) => Err("ended by a signal".into()),
        _ => Ok(()),
    }
}
