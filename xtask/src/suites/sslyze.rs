//! `SSLyze`: versions, cipher suites, curves and known holes of TLS, held against Mozilla's configuration
//! "intermediate".

use std::time::Duration;

use super::{Report, Stage};

const LIMIT: Duration = Duration::from_mins(1);

pub(super) fn run(stage: &Stage) -> Result<Report, String> {
    let mut sslyze = stage.python("sslyze", "sslyze");
    sslyze.args(["--mozilla_config=intermediate", stage.secure_blog.address()]);
    let (_, said) = stage.run(sslyze, "sslyze.log", LIMIT)?;
    let findings = findings(&said).ok_or_else(|| format!("it came to no judgement:\n{said}"))?;
    let tried = format!("{} connections refused or judged", attempts(&said));
    Ok(Report { tried, findings })
}

/// The points in which the server does not comply. None if there is no judgement.
fn findings(said: &str) -> Option<Vec<String>> {
    let (_, judgement) = said.split_once("COMPLIANCE AGAINST TLS CONFIGURATION")?;
    let points = judgement.lines().filter_map(|line| line.trim().strip_prefix("* "));
    let points: Vec<_> = points.map(ToOwned::to_owned).collect();
    let complies = judgement.contains("OK - Compliant");
    let fails = judgement.contains("FAILED - Not compliant");
    (complies != fails && fails != points.is_empty()).then_some(points)
}

/// The sum of all "Attempted to connect using 80 cipher suites".
fn attempts(said: &str) -> usize {
    let numbers = said.split("Attempted to connect using ").skip(1);
    numbers.filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_comply_is_a_finding() {
        let head = " COMPLIANCE AGAINST TLS CONFIGURATION\n ---\n\n";
        let said =
            format!("{head}    127.0.0.1:1: FAILED - Not compliant.\n        * tls_versions: TLS 1.0 is supported.\n");
        assert_eq!(findings(&said), Some(vec!["tls_versions: TLS 1.0 is supported.".to_owned()]));
        assert_eq!(findings(&format!("{head}    127.0.0.1:1: OK - Compliant.\n")), Some(vec![]));
    }

    #[test]
    fn without_a_judgement_there_is_no_result() {
        assert_eq!(findings("ERROR: could not connect"), None);
        assert_eq!(findings("COMPLIANCE AGAINST TLS CONFIGURATION\n 127.0.0.1:1: ERROR - Scan did not run\n"), None);
        assert_eq!(findings("COMPLIANCE AGAINST TLS CONFIGURATION\n 127.0.0.1:1: FAILED - Not compliant.\n"), None);
    }

    #[test]
    fn attempts_are_added_up() {
        let said = "Attempted to connect using 7 cipher suites;\nAttempted to connect using 80 cipher suites.";
        assert_eq!(attempts(said), 87);
    }
}
