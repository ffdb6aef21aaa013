//! What a drill found out: what was expected, what was, and whether it held.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::time::Duration;

use crate::load::Tally;

/// One thing that a drill looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Of which drill, and which case of it.
    pub of: String,
    /// What was looked at: `refused connections`.
    pub what: String,
    /// What it should be: `0`. Empty if nothing is promised.
    pub expected: String,
    /// What it was.
    pub was: String,
    /// False if a promise was broken.
    pub held: bool,
}

/// All that drills found out, in their order.
#[derive(Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
    of: String,
    /// Each finding is printed at once.
    aloud: bool,
}

impl Report {
    /// One that prints each finding at once, to standard output.
    #[must_use]
    pub fn aloud() -> Self {
        Self { aloud: true, ..Self::default() }
    }

    /// What follows is of this drill and case.
    pub(crate) fn case(&mut self, drill: &str, case: &str) {
        self.of = if case.is_empty() { drill.to_owned() } else { format!("{drill}: {case}") };
        self.print(&format!("\n{}\n", self.of));
    }

    /// Notes what was, beside what should be.
    pub(crate) fn expect(&mut self, what: &str, expected: impl Display, was: impl Display, held: bool) {
        self.add(what, expected.to_string(), was.to_string(), held);
    }

    /// Notes what nothing is promised of.
    pub(crate) fn note(&mut self, what: &str, was: impl Display) {
        self.add(what, String::new(), was.to_string(), true);
    }

    fn add(&mut self, what: &str, expected: String, was: String, held: bool) {
        let finding = Finding { of: self.of.clone(), what: what.to_owned(), expected, was, held };
        self.print(&line(&finding));
        self.findings.push(finding);
    }

    /// No connection was refused and no answer was an error. At most `cut` requests were cut.
    pub(crate) fn little_lost(&mut self, tally: &Tally, cut: u64) {
        let [good, refused, bad, was] = [&tally.good, &tally.refused, &tally.bad, &tally.cut].map(Tally::of);
        self.expect("requests answered", "some", good, good > 0);
        self.expect("connections refused", 0, refused, refused == 0);
        self.expect("answers with another status", 0, bad, bad == 0);
        let most = if cut == 0 { "0".to_owned() } else { format!("at most {cut}") };
        self.expect("requests cut", most, was, was <= cut);
        self.slowest(tally);
        let problems = tally.problems();
        if !problems.is_empty() {
            self.note("what was lost", problems);
        }
    }

    /// Nothing was refused, cut or answered with an error.
    pub(crate) fn nothing_lost(&mut self, tally: &Tally) {
        self.little_lost(tally, 0);
    }

    pub(crate) fn slowest(&mut self, tally: &Tally) {
        self.note("slowest request", millis(Duration::from_micros(Tally::of(&tally.slowest))));
    }

    /// All of it.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The promises that were broken, a line for each; empty if all was well.
    #[must_use]
    pub fn broken(&self) -> String {
        self.findings.iter().filter(|finding| !finding.held).fold(String::new(), |mut text, finding| {
            let Finding { of, what, expected, was, .. } = finding;
            let _ = writeln!(text, "{of}: {what}: {was} (expected: {expected})");
            text
        })
    }

    fn print(&self, text: &str) {
        if self.aloud {
            // Its reader may have gone.
            let _ = std::io::stdout().write_all(text.as_bytes());
        }
    }
}

fn line(finding: &Finding) -> String {
    let Finding { what, expected, was, held, .. } = finding;
    match (expected.is_empty(), held) {
        (true, _) => format!("            {what:<42} {was}\n"),
        (_, true) => format!("  held      {what:<42} {was} (expected: {expected})\n"),
        (_, false) => format!("  NOT HELD  {what:<42} {was} (expected: {expected})\n"),
    }
}

/// `12.3 ms`.
pub(crate) fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_hold_is_reported_with_what_was_expected() {
        let mut report = Report::default();
        report.case("crash", "threads");
        report.expect("connections refused", 0, 0, true);
        report.note("slowest request", "3 ms");
        assert_eq!(report.broken(), "");
        report.expect("requests cut", "at most 31", 40, false);
        assert_eq!(report.broken(), "crash: threads: requests cut: 40 (expected: at most 31)\n");
        assert_eq!(
            line(&report.findings()[2]),
            "  NOT HELD  requests cut                               40 (expected: at most 31)\n"
        );
    }
}
