//! Reads of 160 bytes over 100 000 keys in random order, by one process and by two: what a map that processes share
//! costs, beside caches that each process has for itself.

use figures::stats::Spread;

use crate::Result;
use crate::flags::Flags;
use crate::load::Mix;
use crate::outcome::Outcome;
use crate::peer::processes;
use crate::rounds::{self, Rounds, Row};
use crate::site::Site;

const KEYS: usize = 100_000;
/// Room for all of them, with what each driver adds: nothing is evicted.
const ROOM: u64 = 128 << 20;
const PEERS: [&str; 5] = ["skep shared", "skep memory", "moka", "quick_cache", "foyer"];
const BYTES: usize = 160;

pub(crate) fn run(flags: &Flags) -> Result<Outcome> {
    let site = Site::lay_out(KEYS, ROOM)?;
    let mut rows: Vec<Row> = Vec::new();
    for peer in PEERS.into_iter().filter(|peer| flags.wants(peer)) {
        rows.push((peer.to_owned(), processes(peer, 1, &site.start)?));
        rows.push((two(peer), processes(peer, 2, &site.start)?));
    }
    let mixes = [(0, 1), (1, 100), (1, 10), (1, 1)].map(|(sets, gets)| Mix { sets, gets, bytes: BYTES });
    let rounds = rounds::run(rows, mixes.to_vec(), true, flags)?;
    let mut outcome = Outcome::new("shared", "160 bytes, 100 000 keys in random order, in one process and in two.");
    let nanos = |name: &str, mix| rounds.nanos(name, mix).map(|nanos| format!("{:.0}", nanos.median));
    outcome
        .table("Nanoseconds an operation (with two processes, of all operations together):", rounds.table("ns", nanos));
    outcome.table("Operations a second:", rounds.rates_table());
    outcome.verdicts.extend(verdicts(&rounds));
    outcome.note("moka, quick_cache, foyer and memory share nothing: two processes hold everything twice, and neither sees what the other stores.");
    rounds.missed().into_iter().for_each(|warning| outcome.note(warning));
    outcome.raw = rounds.raw();
    Ok(outcome)
}

fn two(peer: &str) -> String {
    format!("{peer}, 2 processes")
}

/// Of reads alone, the first mix.
fn verdicts(rounds: &Rounds) -> Vec<String> {
    let shared = "skep shared";
    let cost =
        rounds.nanos(shared, 0).map(|nanos| verdict("a read at most 200 ns in one process", nanos, 200.0, false));
    let pair = rounds.ratio(&two(shared), shared, 0);
    let pair = pair.map(|ratio| verdict("two processes at least 1.8 times one", ratio, 1.8, true));
    let than = |peer: &str| {
        let goal = format!("at least 3 times as fast as {peer}, one process");
        rounds.ratio(shared, peer, 0).map(|ratio| verdict(&goal, ratio, 3.0, true))
    };
    [cost, pair, than("moka"), than("foyer")].into_iter().flatten().map(|line| format!("{shared}: {line}")).collect()
}

/// Whether the median is on the right side of the goal, and whether every round was.
pub(crate) fn verdict(goal: &str, found: Spread, limit: f64, at_least: bool) -> String {
    let is_right = |value: f64| if at_least { value >= limit } else { value <= limit };
    let word = match is_right(found.median) {
        true if is_right(found.least) && is_right(found.most) => "met",
        true => "met, but not in every round",
        false => "missed",
    };
    format!("{goal}: {:.2} ({:.2} - {:.2}): **{word}**", found.median, found.least, found.most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_in_every_round_or_it_is_said() {
        let spread = |least, median, most| Spread { median, least, most, deviation: 0.0 };
        let said = |spread, at_least| verdict("goal", spread, 2.0, at_least);
        assert_eq!(said(spread(2.0, 3.0, 4.0), true), "goal: 3.00 (2.00 - 4.00): **met**");
        assert!(said(spread(1.0, 3.0, 4.0), true).ends_with("**met, but not in every round**"));
        assert!(said(spread(1.0, 1.5, 4.0), true).ends_with("**missed**"));
        assert!(said(spread(1.0, 1.5, 2.0), false).ends_with("**met**"));
    }
}
