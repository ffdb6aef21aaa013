//! Each against each, as Perl's `cmpthese` shows it, and how sure each cell is.

use std::fmt;

use super::interval::Interval;
use super::measure::Measure;
use super::rounds::Rounds;
use crate::table::Table;

/// Each against each in one measure: the worst row first, as in `cmpthese`.
///
/// ```
/// use skep_bench::compare::{Matrix, Measure, Rounds, Sample, Variant};
///
/// let mut rounds = Rounds::new("", [Variant::new("fast", ""), Variant::new("slow", "")]);
/// for round in 0..6 {
///     let sample = |rate| Sample::from([(Measure::Rate, rate + f64::from(round))]);
///     rounds.push(vec![0, 1], vec![sample(200.0), sample(100.0)]);
/// }
/// let matrix = Matrix::of(&rounds, Measure::Rate, 0.99);
/// assert!(matrix.to_string().starts_with("      per second"));
/// assert!(matrix.markdown().starts_with("|      | per second |"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    measure: Measure,
    names: Vec<String>,
    medians: Vec<f64>,
    cells: Vec<Vec<Option<Interval>>>,
    confidence: f64,
}

impl Matrix {
    /// Of the variants that have this measure.
    #[must_use]
    pub fn of(rounds: &Rounds, measure: Measure, confidence: f64) -> Self {
        let median = |place| rounds.median(place, measure);
        let mut rows: Vec<(f64, &str)> = rounds
            .variants
            .iter()
            .enumerate()
            .filter_map(|(place, variant)| Some((median(place)?, variant.name.as_str())))
            .collect();
        rows.sort_by(|one, other| one.0.total_cmp(&other.0));
        if !measure.more_is_better() {
            rows.reverse();
        }
        let against = |name: &str, other: &str| {
            (name != other).then(|| rounds.interval(name, other, measure, confidence)).flatten()
        };
        let cells = rows.iter().map(|(_, name)| rows.iter().map(|(_, other)| against(name, other)).collect());
        Self {
            measure,
            cells: cells.collect(),
            medians: rows.iter().map(|(median, _)| *median).collect(),
            names: rows.iter().map(|(_, name)| (*name).to_owned()).collect(),
            confidence,
        }
    }

    /// As a table of Markdown. See [`Matrix`].
    #[must_use]
    pub fn markdown(&self) -> String {
        self.table().markdown() + "\n" + &self.legend()
    }

    /// Name, median, and each cell as text. See [`Matrix`].
    pub fn rows(&self) -> impl Iterator<Item = (&str, String, Vec<String>)> {
        let row = |place: usize| {
            let cells = self.cells[place].iter().enumerate();
            let cells = cells.map(|(other, cell)| if other == place { "--".to_owned() } else { shown(*cell) });
            (self.names[place].as_str(), self.measure.show(self.medians[place]), cells.collect())
        };
        (0..self.names.len()).map(row)
    }

    /// The names, in the order of the rows. See [`Matrix`].
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How to read it. See [`Matrix`].
    #[must_use]
    pub fn legend(&self) -> String {
        let percent = self.confidence * 100.0;
        format!(
            "How much more the row is than the column, in percent; in brackets the {percent} % interval over the rounds. \
             \"none shown\": no difference shown, the interval holds 0.\n"
        )
    }

    fn table(&self) -> Table {
        let head = [String::new(), self.measure.name().to_owned()].into_iter().chain(self.names.iter().cloned());
        let mut table = Table::new(head);
        for (name, median, cells) in self.rows() {
            table.row([name.to_owned(), median].into_iter().chain(cells).collect());
        }
        table
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.table(), self.legend())
    }
}

/// `+5.2 % [+4.1, +6.3]`, `none shown [-1.0, +1.2]`.
fn shown(interval: Option<Interval>) -> String {
    let Some(interval) = interval else { return "-".to_owned() };
    let percent = |ratio: f64| {
        let percent = (ratio - 1.0) * 100.0;
        if percent.abs() < 99.95 { format!("{percent:+.1}") } else { format!("{percent:+.0}") }
    };
    if !interval.has_bounds() {
        return format!("{} % (too few rounds)", percent(interval.ratio));
    }
    let bounds = format!("[{}, {}]", percent(interval.low), percent(interval.high));
    if interval.shows_a_difference() {
        format!("{} % {bounds}", percent(interval.ratio))
    } else {
        format!("none shown {bounds}")
    }
}

/// The matrices that are shown if nobody chose: the rate, and the CPU per request where it is known.
pub(crate) fn matrices(rounds: &Rounds, chosen: &[Measure], confidence: f64) -> Vec<(Measure, Matrix)> {
    let known = rounds.measures();
    let usual = [Measure::Rate, Measure::Cpu, Measure::Start, Measure::Swap, Measure::AfterSwap];
    let wanted = if chosen.is_empty() { &usual[..] } else { chosen };
    let wanted = wanted.iter().copied().filter(|measure| known.contains(measure));
    wanted.map(|measure| (measure, Matrix::of(rounds, measure, confidence))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Sample, Variant};

    fn rounds(measure: Measure, figures: &[(&str, f64)]) -> Rounds {
        let mut rounds = Rounds::new("", figures.iter().map(|(name, _)| Variant::new(*name, "")));
        for round in 0..6 {
            let wobble = 1.0 + f64::from(round % 3) / 1000.0;
            let samples = figures.iter().enumerate().map(|(place, (_, figure))| {
                let own = 1.0 + f64::from((round * 7 + i32::try_from(place).unwrap() * 3) % 5) / 1000.0;
                Sample::from([(measure, figure * wobble * own)])
            });
            rounds.push(vec![], samples.collect());
        }
        rounds
    }

    #[test]
    fn the_slowest_stands_first_and_its_cells_say_how_much_less_it_is() {
        let matrix = Matrix::of(&rounds(Measure::Rate, &[("a", 300.0), ("b", 100.0)]), Measure::Rate, 0.99);
        assert_eq!(matrix.names(), ["b", "a"]);
        let rows: Vec<_> = matrix.rows().collect();
        assert_eq!(rows[0].2[0], "--");
        assert!(rows[0].2[1].starts_with("-66.7 % [-66."), "{rows:?}");
        assert!(rows[1].2[0].starts_with("+200 % [+19") || rows[1].2[0].starts_with("+201 % [+19"), "{rows:?}");
    }

    #[test]
    fn of_times_the_longest_stands_first() {
        let matrix = Matrix::of(&rounds(Measure::P99, &[("a", 300.0), ("b", 100.0)]), Measure::P99, 0.99);
        assert_eq!(matrix.names(), ["a", "b"]);
    }

    #[test]
    fn equals_show_no_difference_and_the_text_says_so() {
        let matrix = Matrix::of(&rounds(Measure::Rate, &[("a", 100.0), ("b", 100.0)]), Measure::Rate, 0.99);
        let text = matrix.to_string();
        assert!(text.contains("none shown [") && text.contains("no difference shown"), "{text}");
        assert!(matrix.markdown().contains("|-----"));
    }
}
