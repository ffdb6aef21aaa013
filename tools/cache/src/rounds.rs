//! Rounds: each has every cell once, in random order.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use figures::random::shuffled;
use figures::stats::{self, Spread};
use figures::table::Table;
use serde_json::{Value, json};

use crate::Result;
use crate::flags::Flags;
use crate::load::{Figure, Mix};
use crate::peer::{Entry, Peer, Start};

/// What all cells came to in all rounds.
pub(crate) struct Rounds {
    pub(crate) names: Vec<String>,
    pub(crate) mixes: Vec<Mix>,
    fill_once: bool,
    /// A figure for each name and each mix, for each round.
    figures: Vec<Vec<Vec<Figure>>>,
    /// Names and mixes, by number, in the order in which they were measured.
    orders: Vec<Vec<(usize, usize)>>,
}

/// A row of the tables, and the peer in it.
pub(crate) type Row = (String, Box<dyn Peer>);

/// Starts those who are wanted.
pub(crate) fn start<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    start: &Start,
    flags: &Flags,
) -> Result<Vec<Row>> {
    let wanted = entries.into_iter().filter(|entry| flags.wants(entry.name));
    let row = |entry: &Entry| match (entry.start)(start) {
        Ok(peer) => Ok((entry.name.to_owned(), peer)),
        Err(error) => Err(format!("{}: {error}", entry.name).into()),
    };
    wanted.map(row).collect()
}

/// Puts everybody under every mix, round by round. Before each figure the keys are stored again, unless it is said that
/// nobody else stores under the same keys and all values have the same size: then once.
pub(crate) fn run(rows: Vec<Row>, mixes: Vec<Mix>, fill_once: bool, flags: &Flags) -> Result<Rounds> {
    if rows.is_empty() {
        return Err("nobody takes part: --only names no row of this measurement".into());
    }
    let (names, mut peers): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    if fill_once {
        for peer in &mut peers {
            peer.fill(mixes[0].bytes)?;
        }
    }
    let mut all = Rounds { names, mixes, fill_once, figures: Vec::new(), orders: Vec::new() };
    for round in 0..flags.rounds {
        all.round(&mut peers, round, flags)?;
    }
    Ok(all)
}

impl Rounds {
    fn round(&mut self, peers: &mut [Box<dyn Peer>], round: usize, flags: &Flags) -> Result<()> {
        let cells = peers.len() * self.mixes.len();
        let order = shuffled(&mut fastrand::Rng::new(), cells);
        let order: Vec<_> = order.into_iter().map(|cell| (cell / self.mixes.len(), cell % self.mixes.len())).collect();
        let mut figures = vec![vec![Figure::default(); self.mixes.len()]; peers.len()];
        let start = Instant::now();
        for (done, &(peer, mix)) in order.iter().enumerate() {
            progress(&format!(
                "round {} of {}: {done} of {cells} cells, {}",
                round + 1,
                flags.rounds,
                self.names[peer]
            ));
            let figure = self.figure(peers[peer].as_mut(), self.mixes[mix], flags);
            let failed = |error| format!("{}, {}: {error}", self.names[peer], self.mixes[mix]);
            figures[peer][mix] = figure.map_err(failed)?;
        }
        progress("");
        eprintln!("round {} of {}: {:.0} s", round + 1, flags.rounds, start.elapsed().as_secs_f64());
        self.figures.push(figures);
        self.orders.push(order);
        Ok(())
    }

    fn figure(&self, peer: &mut dyn Peer, mix: Mix, flags: &Flags) -> Result<Figure> {
        if !self.fill_once {
            peer.fill(mix.bytes)?;
        }
        peer.run(mix, Duration::from_millis(flags.millis))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// The rates of one cell, round by round.
    fn rates(&self, peer: usize, mix: usize) -> Vec<f64> {
        self.figures.iter().map(|round| round[peer][mix].rate()).collect()
    }

    pub(crate) fn rate(&self, name: &str, mix: usize) -> Option<Spread> {
        Spread::of(&self.rates(self.place(name)?, mix))
    }

    /// Nanoseconds an operation.
    pub(crate) fn nanos(&self, name: &str, mix: usize) -> Option<Spread> {
        let peer = self.place(name)?;
        let nanos: Vec<f64> = self.figures.iter().map(|round| round[peer][mix].nanos()).collect();
        Spread::of(&nanos)
    }

    /// How many times as fast one is as the other, made within each round.
    pub(crate) fn ratio(&self, name: &str, than: &str, mix: usize) -> Option<Spread> {
        let (name, than) = (self.rates(self.place(name)?, mix), self.rates(self.place(than)?, mix));
        let some = |rates: Vec<f64>| rates.into_iter().map(Some).collect::<Vec<_>>();
        Spread::of(&stats::ratios(&some(name), &some(than)))
    }

    /// How much longer an operation of one takes than one of the other, in nanoseconds, made within each round.
    pub(crate) fn more_nanos(&self, name: &str, than: &str, mix: usize) -> Option<Spread> {
        let (name, than) = (self.place(name)?, self.place(than)?);
        let more: Vec<f64> =
            self.figures.iter().map(|round| round[name][mix].nanos() - round[than][mix].nanos()).collect();
        Spread::of(&more)
    }

    /// Everybody by every mix: whatever `show` makes of a cell.
    pub(crate) fn table(&self, corner: &str, show: impl Fn(&str, usize) -> Option<String>) -> Table {
        let head = [corner.to_owned()].into_iter().chain(self.mixes.iter().map(Mix::to_string));
        let mut table = Table::new(head);
        for name in &self.names {
            let cells = (0..self.mixes.len()).map(|mix| show(name, mix).unwrap_or("-".into()));
            table.row([name.clone()].into_iter().chain(cells).collect());
        }
        table
    }

    /// Median operations a second.
    pub(crate) fn rates_table(&self) -> Table {
        self.table("operations/s", |name, mix| Some(thousands(self.rate(name, mix)?.median)))
    }

    /// What somebody asked for and did not get, though it was stored: it should be nothing.
    pub(crate) fn missed(&self) -> Vec<String> {
        let of = |peer: usize| self.figures.iter().flat_map(move |round| round[peer].iter());
        let count = |peer: usize| of(peer).map(|figure| figure.misses).sum::<u64>();
        let operations = |peer: usize| of(peer).map(|figure| figure.operations).sum::<u64>();
        let all = self.names.iter().enumerate().filter(|(peer, _)| count(*peer) > 0);
        all.map(|(peer, name)| format!("warning: {name} missed {} of {} operations", count(peer), operations(peer)))
            .collect()
    }

    /// All rounds, in the order in which the cells were measured.
    pub(crate) fn raw(&self) -> Value {
        let round = |(figures, order): (&Vec<Vec<Figure>>, &Vec<(usize, usize)>)| -> Value {
            let cell = |&(peer, mix): &(usize, usize)| {
                let Figure { operations, seconds, misses } = figures[peer][mix];
                json!([self.names[peer], self.mixes[mix].to_string(), operations, seconds, misses])
            };
            order.iter().map(cell).collect()
        };
        json!({
            "columns": ["who", "mix", "operations", "seconds", "misses"],
            "rounds": self.figures.iter().zip(&self.orders).map(round).collect::<Vec<_>>(),
        })
    }
}

/// A line that the next one covers, if somebody is watching.
fn progress(line: &str) {
    let mut to = std::io::stderr();
    if to.is_terminal() {
        let _ = write!(to, "\r\x1b[2K{line}");
        let _ = to.flush();
    }
}

/// `1234567` as `1 234 567`.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(seconds: [[f64; 2]; 2]) -> Rounds {
        let figure = |seconds| Figure { operations: 1000, seconds, misses: 0 };
        Rounds {
            names: vec!["a".into(), "b".into()],
            fill_once: false,
            mixes: vec![Mix { sets: 1, gets: 1, bytes: 16 }],
            figures: seconds.iter().map(|round| round.iter().map(|&seconds| vec![figure(seconds)]).collect()).collect(),
            orders: vec![vec![(1, 0), (0, 0)]; 2],
        }
    }

    #[test]
    fn a_ratio_is_of_rates_within_a_round() {
        // In the second round the machine was half as fast for both.
        let rounds = rounds([[1.0, 4.0], [2.0, 8.0]]);
        let ratio = rounds.ratio("a", "b", 0).unwrap();
        assert_eq!((ratio.least, ratio.most), (4.0, 4.0));
        assert_eq!(rounds.ratio("a", "c", 0), None);
        assert!((rounds.more_nanos("b", "a", 0).unwrap().most - 6e6).abs() < 1e-3);
    }

    #[test]
    fn a_record_keeps_the_order_of_measuring() {
        let raw = rounds([[1.0, 4.0], [2.0, 8.0]]).raw();
        assert_eq!(raw["rounds"][0][0], json!(["b", "1:1 16 B", 1000, 4.0, 0]));
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(thousands(1_234_567.4), "1 234 567");
        assert_eq!(thousands(999.0), "999");
    }
}
