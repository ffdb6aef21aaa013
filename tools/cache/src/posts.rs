//! The table of the post on Perl's caches, on this machine: 36-character keys, values of 16, 160 and 1600 bytes, one
//! store to 1, 10 and 100 reads. Each process asks alone.

use std::ops::RangeInclusive;

use figures::table::Table;

use crate::Result;
use crate::flags::Flags;
use crate::load::Mix;
use crate::outcome::Outcome;
use crate::peer::ENTRIES;
use crate::rounds::{self, Rounds};
use crate::site::Site;

/// Enough that no key is in the processor's nearest cache by chance, few enough that Perl stores them between figures.
pub(crate) const KEYS: usize = 1000;
/// Room for all of them several times over: nothing is evicted.
pub(crate) const ROOM: u64 = 64 << 20;

/// Who of the tables must be faster than whom, how many times, in every cell with this number of reads to a store.
const GOALS: [(&str, &str, f64, RangeInclusive<u32>); 3] = [
    ("skep shared", "Cache::FastMmap", 15.0, 0..=u32::MAX),
    ("skep memory + memcached, unix, Cache", "skep memcached, unix, Cache", 0.95, 1..=1),
    ("skep memory + memcached, unix, Cache", "skep memcached, unix, Cache", 5.0, 10..=100),
];

/// Ours, and the clients of Rust of which ours must be as fast as the best, on one connection, one request at a time.
const CLIENTS: [(&str, &[&str]); 2] = [
    ("skep memcached, unix", &["memcache crate, unix", "memcache crate ascii, unix", "async-memcached, unix"]),
    ("skep redis, unix", &["redis crate, unix", "redis crate async, unix", "fred, unix"]),
];

/// The ratios and sizes of the post.
pub(crate) fn mixes() -> Vec<Mix> {
    let sizes = [16, 160, 1600];
    [1, 10, 100].iter().flat_map(|&gets| sizes.map(|bytes| Mix { sets: 1, gets, bytes })).collect()
}

pub(crate) fn run(flags: &Flags) -> Result<Outcome> {
    let site = Site::lay_out(KEYS, ROOM)?;
    let all = ENTRIES.iter().filter(|entry| !entry.name.starts_with("skep null"));
    let rounds = rounds::run(rounds::start(all, &site.start, flags)?, mixes(), false, flags)?;
    let mut outcome = Outcome::new(
        "posts",
        "Operations a second by stores:reads and size of the value; one process, one request at a time, medians.",
    );
    outcome.table("", rounds.rates_table());
    let times = |name: &str, mix| Some(format!("{:.2}", rounds.ratio(name, "Cache::FastMmap", mix)?.median));
    outcome.table("Times as fast as Cache::FastMmap, made within each round:", rounds.table("times", times));
    outcome.table(
        "1:10 with 160 bytes, as `cmpthese` shows it: how much faster the row is than the column, in percent:",
        matrix(&rounds),
    );
    outcome
        .verdicts
        .extend(GOALS.iter().filter_map(|(name, than, times, gets)| verdict(&rounds, name, than, *times, gets)));
    outcome.verdicts.extend(CLIENTS.iter().filter_map(|(name, others)| best(&rounds, name, others)));
    rounds.missed().into_iter().for_each(|warning| outcome.note(warning));
    outcome.raw = rounds.raw();
    Ok(outcome)
}

fn matrix(rounds: &Rounds) -> Table {
    let Some(mix) = rounds.mixes.iter().position(|mix| *mix == Mix { sets: 1, gets: 10, bytes: 160 }) else {
        return Table::new(["nothing".to_owned()]);
    };
    let rate = |name: &str| rounds.rate(name, mix).map_or(0.0, |spread| spread.median);
    let of_the_post = |name: &&String| ["skep", "CHI", "Cache::"].iter().any(|start| name.starts_with(start));
    let mut names: Vec<&String> = rounds.names.iter().filter(of_the_post).collect();
    names.sort_by(|one, other| rate(one).total_cmp(&rate(other)));
    let head = [String::new(), "us/operation".to_owned()].into_iter().chain((1..=names.len()).map(|n| n.to_string()));
    let mut table = Table::new(head);
    for (number, name) in names.iter().enumerate() {
        let cell = |than: &&String| {
            let percent = rounds.ratio(name, than, mix).map_or(0.0, |ratio| (ratio.median - 1.0) * 100.0);
            if name == than { "--".to_owned() } else { format!("{percent:.0}") }
        };
        let row = [format!("{} {name}", number + 1), format!("{:.2}", 1e6 / rate(name))];
        table.row(row.into_iter().chain(names.iter().map(cell)).collect());
    }
    table
}

/// The worst cell decides.
pub(crate) fn verdict(
    rounds: &Rounds,
    name: &str,
    than: &str,
    times: f64,
    gets: &RangeInclusive<u32>,
) -> Option<String> {
    let wanted = (0..rounds.mixes.len()).filter(|mix| gets.contains(&rounds.mixes[*mix].gets));
    let cells = wanted.filter_map(|mix| Some((rounds.ratio(name, than, mix)?, rounds.mixes[mix])));
    let cells: Vec<_> = cells.collect();
    let reached = cells.iter().filter(|(ratio, _)| ratio.median >= times).count();
    let (worst, mix) = cells.iter().min_by(|one, other| one.0.median.total_cmp(&other.0.median))?;
    let word = match reached == cells.len() {
        true if worst.least >= times => "met",
        true => "met, but not in every round",
        false => "missed",
    };
    Some(format!(
        "{name} at least {times} times as fast as {than}: {reached} of {} cells, worst {:.2} ({:.2} - {:.2}) at {mix}: **{word}**",
        cells.len(),
        worst.median,
        worst.least,
        worst.most
    ))
}

/// Against the peer that is fastest in most cells.
fn best(rounds: &Rounds, name: &str, others: &[&'static str]) -> Option<String> {
    let sum = |other: &str| -> f64 {
        (0..rounds.mixes.len()).filter_map(|mix| Some(rounds.rate(other, mix)?.median.ln())).sum()
    };
    let best = others
        .iter()
        .filter(|other| rounds.names.iter().any(|name| name == *other))
        .max_by(|one, two| sum(one).total_cmp(&sum(two)))?;
    verdict(rounds, name, best, 1.0, &(0..=u32::MAX))
}
