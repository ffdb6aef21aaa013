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
use crate::experiment::{Experiment, LeftOut, Load, Planned, Variant, WARM_UP};
use crate::flags::Flags;
use crate::load;
use crate::measure::{Measure, Sample};
use crate::server::Server;
use crate::site::Site;
use cell::Cell;
use skep_bench::random::shuffled;

/// What came out of one load of one experiment.
pub(crate) struct Outcome {
    pub(crate) experiment: Experiment,
    pub(crate) load: Load,
    pub(crate) entrants: Vec<Entrant>,
    pub(crate) left_out: Vec<LeftOut>,
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
    let (rounds, seconds) = (flags.rounds(), flags.seconds());
    eprintln!("{name}, {}: {rounds} rounds of {seconds} s", load.describe());
    let Admitted { entrants, servers, left_out } = admit(planned, load, site)?;
    let cell = Cell { experiment: name, busy: planned.experiment.is_busy(load), load, site, seconds };
    for (place, entrant) in entrants.iter().enumerate() {
        cell.warm_up(entrant, servers.get(&place), WARM_UP)?;
    }
    let mut random = fastrand::Rng::new();
    let rounds = (1..=rounds).map(|number| {
        eprint!("  round {number}:");
        let round = round(shuffled(&mut random, entrants.len()), &entrants, &servers, &cell);
        eprintln!();
        round
    });
    let rounds = rounds.collect::<Result<Vec<_>>>()?;
    Ok(Outcome { experiment: planned.experiment, load, entrants, left_out, rounds })
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

/// Those who take part, with their servers by place, and those who do not.
struct Admitted {
    entrants: Vec<Entrant>,
    servers: BTreeMap<usize, Server>,
    left_out: Vec<LeftOut>,
}

/// Starts the servers and checks their answers. Who does not start or answers something else is left out, unless it is
/// the one that the others stand beside.
///
/// An experiment that starts new servers each time gets none to keep; their answers are checked all the same.
fn admit(planned: &Planned, load: Load, site: &Site) -> Result<Admitted> {
    let mut admitted = Admitted { entrants: Vec::new(), servers: BTreeMap::new(), left_out: planned.left_out.clone() };
    for mut entrant in entrants(&planned.variants, site) {
        go_on()?;
        let first = admitted.entrants.first().and_then(|first| first.answered.clone());
        match tried(&mut entrant, first.as_ref(), &planned.experiment, load, site) {
            Err(error) if entrant.variant == planned.variants[0] => return Err(error),
            Err(error) => {
                let why = error.to_string().lines().collect::<Vec<_>>().join("; ");
                eprintln!("{} is left out: {why}", entrant.name);
                admitted.left_out.push(LeftOut { name: entrant.name, why: why.chars().take(200).collect() });
            }
            Ok(server) => {
                admitted.servers.extend(server.map(|server| (admitted.entrants.len(), server)));
                admitted.entrants.push(entrant);
            }
        }
        if load.starts_new_servers() {
            admitted.servers.clear();
        }
    }
    Ok(admitted)
}

/// The entrant's server, if it is one, after a right answer.
fn tried(
    entrant: &mut Entrant,
    first: Option<&Answered>,
    experiment: &Experiment,
    load: Load,
    site: &Site,
) -> Result<Option<Server>> {
    if !entrant.variant.program.is_server() {
        return Ok(None);
    }
    let server = Server::start(&entrant.variant, &label(experiment.name, entrant), site)?;
    let answer = load::ask_as(load, server.port, entrant.variant.path)?;
    let answered = answer::check(experiment.same, load, &entrant.name, &answer, first)?;
    if let (Some(database), Some(rows)) = (entrant.variant.program.database(), answered.rows())
        && !site.has_data(database, &site.folder(&label(experiment.name, entrant)), rows)?
    {
        return Err(format!("{} answers rows that its database does not have", entrant.name).into());
    }
    entrant.answered = Some(answered);
    Ok(Some(server))
}

/// The name of an entrant's directory.
fn label(experiment: &str, entrant: &Entrant) -> String {
    let name: String = entrant.name.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{experiment}-{name}")
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

pub(crate) fn go_on() -> Result<()> {
    match ENDED.get() {
        Some(ended) if ended.load(Ordering::Relaxed) => Err("ended by a signal".into()),
        _ => Ok(()),
    }
}
