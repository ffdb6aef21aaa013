//! Schemathesis: requests made up from the OpenAPI documents of the blog and, with a token, the help-desk, right ones
//! and wrong ones, and whether the answers are as the document says.

use std::process::ExitStatus;
use std::time::Duration;

use super::{Report, Stage};
use crate::site::Site;

/// How much it tries is fixed, and takes a slow machine longer.
const LIMIT: Duration = Duration::from_mins(4);

/// Fewer requests than this would mean that it gave up.
const REQUESTS: usize = 100;

pub(super) fn run(stage: &Stage) -> Result<Report, String> {
    let blog = try_out(stage, "blog", &stage.blog, &[])?;
    let token = format!("Authorization: Bearer {}", token(&stage.helpdesk)?);
    let helpdesk = try_out(stage, "helpdesk", &stage.helpdesk, &["--header", &token])?;
    let findings = blog.findings.into_iter().chain(helpdesk.findings).collect();
    Ok(Report { tried: format!("{}, {}", blog.tried, helpdesk.tried), findings })
}

fn try_out(stage: &Stage, name: &str, site: &Site, more: &[&str]) -> Result<Report, String> {
    let mut schemathesis = stage.python("schemathesis", "schemathesis");
    schemathesis.args(["run", &format!("{}/api.json", site.url()), "--no-color", "--continue-on-failure"]);
    schemathesis.args(["--checks=all", "--generation-deterministic", "--max-examples=200"]).args(more);
    let (status, said) = stage.run(schemathesis, &format!("schemathesis-{name}.log"), LIMIT)?;
    report(name, status, &said)
}

/// An access token of an administrator. The page after the form shows it, and nothing else as long.
fn token(helpdesk: &Site) -> Result<String, String> {
    const LEAST: usize = 50;
    let page = helpdesk.submit("/profile/tokens", "purpose=schemathesis")?.body;
    let mut words = page.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_');
    words
        .find(|word| word.len() >= LEAST)
        .map(ToOwned::to_owned)
        .ok_or(format!("the help-desk shows no token:\n{page}"))
}

fn report(name: &str, status: ExitStatus, said: &str) -> Result<Report, String> {
    let requests = requests(said).unwrap_or(0);
    let findings: Vec<_> = findings(said).into_iter().map(|finding| format!("{name}: {finding}")).collect();
    if requests < REQUESTS || status.success() != findings.is_empty() || said.contains("Rate limited") {
        return Err(format!("{name}: it ended with {status} after {requests} requests:\n{said}"));
    }
    Ok(Report { tried: format!("{name}: {requests} requests"), findings })
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
        let report = report("blog", ExitStatus::from_raw(1 << 8), FAILED).unwrap();
        assert_eq!(report.findings, ["blog: GET /api/articles: ST201 Schema-violating request accepted"]);
        assert_eq!(report.tried, "blog: 238 requests");
    }

    #[test]
    fn a_run_that_tried_little_or_failed_without_a_finding_is_none() {
        let ended = |code: i32, said: &str| report("blog", ExitStatus::from_raw(code << 8), said);
        assert!(ended(0, "Test cases:\n  238 generated, 238 passed\n").unwrap().findings.is_empty());
        assert!(ended(0, "Test cases:\n  9 generated, 9 passed\n").is_err());
        assert!(ended(1, "Test cases:\n  238 generated, 238 passed\n").is_err());
        assert!(ended(1, "Error: no such option\n").is_err());
        assert!(ended(0, "Rate limited: 4 operations\nTest cases:\n  238 generated, 238 passed\n").is_err());
    }
}
