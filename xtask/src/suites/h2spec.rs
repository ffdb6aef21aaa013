//! h2spec: a case for each rule of HTTP/2 (RFC 9113) and HPACK (RFC 7541), over clear text and over TLS.
//!
//! It asks for a page that answers late. A case may send a second frame when the response to the first could have ended
//! its stream, and would then fail by chance: behind that, a real fault could hide.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::{Report, Stage};
use crate::needs;
use crate::site::Site;

const LIMIT: Duration = Duration::from_mins(2);

/// The page.
const PATH: &str = "/late";

/// The number of its cases with `--strict`. Fewer would mean that it gave up.
const CASES: usize = 147;

/// How often a case that failed is run again, alone: the machine may be busy for longer than the page waits. What fails
/// each time is a fault.
const TRIES: usize = 2;

/// One case.
#[derive(Debug, PartialEq)]
struct Case {
    /// As h2spec takes it as an argument: `http2/3.5/2`.
    id: String,
    about: String,
    failed: bool,
}

pub(super) fn run(stage: &Stage) -> Result<Report, String> {
    let mut report = Report::default();
    let mut tried = Vec::new();
    for (name, site, is_secure) in [("clear text", &stage.late, false), ("TLS", &stage.secure_late, true)] {
        let file = stage.file(if is_secure { "h2spec-tls.xml" } else { "h2spec.xml" });
        let mut all = h2spec(stage, site, is_secure);
        all.arg("--junit-report").arg(&file);
        let (_, said) = stage.run(all, if is_secure { "h2spec-tls.log" } else { "h2spec.log" }, LIMIT)?;
        let cases = cases(&fs::read_to_string(&file).map_err(|error| format!("no report: {error}\n{said}"))?);
        if cases.len() != CASES {
            return Err(format!("{name}: {} cases, where {CASES} were expected\n{said}", cases.len()));
        }
        let failed: Vec<_> = cases.iter().filter(|case| case.failed).collect();
        for case in &failed {
            if !passes_alone(stage, site, is_secure, case)? {
                report.findings.push(format!("{name}: {}: {}", case.id, case.about));
            }
        }
        tried.push(format!("{CASES} cases over {name}, {} failed at first", failed.len()));
    }
    report.tried = tried.join(", ");
    Ok(report)
}

fn h2spec(stage: &Stage, site: &Site, is_secure: bool) -> Command {
    let (host, port) = site.address().split_once(':').unwrap_or_default();
    let mut h2spec = stage.program(&needs::h2spec());
    h2spec.args(["--strict", "--timeout", "3", "--path", PATH, "-h", host, "-p", port]);
    if is_secure {
        h2spec.args(["--tls", "--insecure"]);
    }
    h2spec
}

fn passes_alone(stage: &Stage, site: &Site, is_secure: bool, case: &Case) -> Result<bool, String> {
    for _ in 0..TRIES {
        let mut alone = h2spec(stage, site, is_secure);
        alone.arg(&case.id);
        let (status, said) = stage.run(alone, "h2spec-alone.log", LIMIT)?;
        if status.success() && said.contains("1 tests, 1 passed") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a report in the format of `JUnit`. Cases are counted from 1 in each package.
fn cases(report: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for case in report.split("<testcase ").skip(1) {
        let value = |name: &str| {
            let (_, rest) = case.split_once(&format!("{name}=\""))?;
            rest.split('"').next()
        };
        let section = format!("{}/", value("package").unwrap_or_default());
        let number = 1 + cases.iter().filter(|case| case.id.strip_prefix(&*section).is_some_and(is_number)).count();
        cases.push(Case {
            id: format!("{section}{number}"),
            about: value("classname").unwrap_or_default().to_owned(),
            failed: case.contains("<failure") || case.contains("<error"),
        });
    }
    cases
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_the_name_by_which_it_is_run_alone() {
        let report = r#"<testsuites><testsuite name="3.5." package="http2/3.5" tests="2">
            <testcase package="http2/3.5" classname="Sends client preface" time="0.0004"></testcase>
            <testcase package="http2/3.5" classname="Sends invalid preface" time="2.0"><failure>GOAWAY</failure></testcase>
            </testsuite><testsuite package="http2/3"><testcase package="http2/3" classname="x" time="0"></testcase>"#;
        let cases = cases(report);
        let ids: Vec<_> = cases.iter().map(|case| (case.id.as_str(), case.failed)).collect();
        assert_eq!(ids, [("http2/3.5/1", false), ("http2/3.5/2", true), ("http2/3/1", false)]);
        assert_eq!(cases[1].about, "Sends invalid preface");
    }
}
