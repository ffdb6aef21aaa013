//! What came of the steps.

use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

/// How a step ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) step: &'static str,
    pub(crate) passed: bool,
    pub(crate) took: Duration,
    /// What its tests that failed said, as [`failures`] has it.
    pub(crate) failures: String,
}

/// The most lines of what a test that failed said.
const LINES_OF_A_FAILURE: usize = 40;

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passed { "passed" } else { "FAILED" };
        write!(f, "{:<8} {word} {:>7.1} s", self.step, self.took.as_secs_f64())
    }
}

/// What tests say that failed, then a table, and alone on the last line how many passed and failed: CI reads that line.
pub(crate) fn summary(outcomes: &[Outcome]) -> String {
    let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
    let mut text: String = outcomes.iter().map(|outcome| outcome.failures.as_str()).collect();
    text.push('\n');
    for outcome in outcomes {
        let _ = writeln!(text, "{outcome}");
    }
    let _ = writeln!(text, "\n{passed} passed, {} failed", outcomes.len() - passed);
    text
}

/// The parts of a log that belong to tests that failed, by the lines with which the test runner begins them: they stand
/// far from the end, where nobody finds them between all that passed.
pub(crate) fn failures(log: &str) -> String {
    let mut text = String::new();
    let mut left = 0;
    for line in log.lines() {
        if line.starts_with("---- ") && line.ends_with("----") {
            left = LINES_OF_A_FAILURE;
        } else if line == "failures:" || line.starts_with("test result:") {
            left = 0;
        }
        if left > 0 {
            left -= 1;
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The sum of all `test result:` lines, in the words of such a line; nothing if no test ran.
pub(crate) fn total(log: &str) -> Option<String> {
    let mut sums = [0_u64; 3];
    let mut seen = false;
    for line in log.lines().filter(|line| line.starts_with("test result:")) {
        seen = true;
        for (sum, word) in sums.iter_mut().zip(["passed", "failed", "ignored"]) {
            *sum += count(line, word);
        }
    }
    let [passed, failed, ignored] = sums;
    let word = if failed == 0 { "ok" } else { "FAILED" };
    seen.then(|| format!("test result: {word}. {passed} passed; {failed} failed; {ignored} ignored"))
}

/// The number before `word` in "3 passed; 0 failed; ...".
fn count(line: &str, word: &str) -> u64 {
    let before = line.split_once(word).map_or("", |(before, _)| before.trim_end());
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_the_steps() {
        let outcome =
            |step, passed| Outcome { step, passed, took: Duration::from_millis(1250), failures: String::new() };
        let text = summary(&[outcome("format", true), outcome("clippy", false), outcome("test", true)]);
        assert_eq!(text.lines().last(), Some("2 passed, 1 failed"));
        assert!(text.contains("\nclippy   FAILED     1.2 s\n"), "{text}");
    }

    #[test]
    fn the_lines_of_many_test_programs_become_one() {
        let log = "\
            running 3 tests\n\
            test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        assert_eq!(total(log).unwrap(), "test result: FAILED. 13 passed; 2 failed; 1 ignored");
    }

    #[test]
    fn what_failed_is_said_again() {
        let log = "test one ... ok\ntest two ... FAILED\n\nfailures:\n\n---- two stdout ----\nleft: 1\n\nfailures:\n    two\n\n\
            test result: FAILED. 1 passed; 1 failed\n---- three ----\nwaited in vain\ntest result: FAILED.\n";
        let said = failures(log);
        assert_eq!(said, "---- two stdout ----\nleft: 1\n\n---- three ----\nwaited in vain\n");
        let outcome = Outcome { step: "test", passed: false, took: Duration::ZERO, failures: said.clone() };
        assert!(summary(&[outcome]).starts_with(&said));
    }

    #[test]
    fn without_tests_there_is_no_sum() {
        assert_eq!(total("Finished `dev` profile\n"), None);
    }
}
