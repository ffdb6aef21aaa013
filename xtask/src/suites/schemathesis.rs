//! Schemathesis: requests made up from the blog's OpenAPI document, right ones and wrong ones, and whether the answers are as the
//! document says.

use std::process::ExitStatus;
use std::time::Duration;

use super::{Report, Stage};

const LIMIT: Duration = Duration::from_mins(1);

/// Fewer requests than this would mean that it gave up.
const REQUESTS: usize = 100;

pub(super) fn run(stage: &Stage) -> Result<Report, String> {
    let mut schemathesis = stage.python("schemathesis", "schemathesis");
    schemathesis.args(["run", &format!("{}/api.json", stage.blog.url()), "--no-color", "--continue-on-failure"]);
    schemathesis.args(["--checks=all", "--generation-deterministic", "--max-examples=200"]);
    let (status, said) = stage.run(schemathesis, "schemathesis.log", LIMIT)?;
    report(status, &said)
}

fn report(status: ExitStatus, said: &str) -> Result<Report, String> {
    let requests = requests(said).unwrap_or(0);
    let findings = findings(said);
    if requests < REQUESTS || status.success() != findings.is_empty() {
        return Err(format!("it ended with {status} after {requests} requests:\n{said}"));
    }
    Ok(Report { tried: format!("{requests} requests"), findings })
}

/// Of "238 generated, 238 passed", which is indented.
fn requests(said: &str) -> Option<usize> {
    let (before, _) = said.split_once(" generated")?;
    before.rsplit([' ', '\n']).next()?.parse().ok()
}

/// Failures stand behind "- ", below the operation, which stands between underscores.
fn findings(said: &str) -> Vec<String> {
    let mut operation = "";
    let mut findings = Vec::new();
    for line in said.lines() {
        if line.starts_with('_') && line.ends_with('_') {
            operation = line.trim_matches(['_', ' ']);
        } else if let Some(failure) = line.strip_prefix("- ").filter(|_| !operation.is_empty()) {
            findings.push(format!("{operation}: {failure}"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const FAILED: &str = "= FAILURES =\n____ GET /api/articles ____\n1. Test Case ID: ghDaCj\n\n- ST201 Schema-violating \
                          request accepted\n\n    Invalid data\n= SUMMARY =\nTest cases:\n  238 generated, 1 found\n";

    #[test]
    fn a_failure_is_a_finding_about_an_operation() {
        let report = report(ExitStatus::from_raw(1 << 8), FAILED).unwrap();
        assert_eq!(report.findings, ["GET /api/articles: ST201 Schema-violating request accepted"]);
        assert_eq!(report.tried, "238 requests");
    }

    #[test]
    fn a_run_that_tried_little_or_failed_without_a_finding_is_none() {
        let ended = |code: i32, said: &str| report(ExitStatus::from_raw(code << 8), said);
        assert!(ended(0, "Test cases:\n  238 generated, 238 passed\n").unwrap().findings.is_empty());
        assert!(ended(0, "Test cases:\n  9 generated, 9 passed\n").is_err());
        assert!(ended(1, "Test cases:\n  238 generated, 238 passed\n").is_err());
        assert!(ended(1, "Error: no such option\n").is_err());
    }
}
