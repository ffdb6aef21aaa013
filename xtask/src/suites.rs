//! `cargo xtask test suites`: test suites that others wrote, against examples that run on this machine.
//!
//! Each suite has a time limit, talks to loopback only, and says what it found. A finding is a complaint, unless
//! [`ACCEPTED`] says why it is not. What the programs print is in `target/suites`. The results are recorded in
//! `tools/suites.md`. Start reading at [`complaints`].

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::site::{self, Site};
use crate::{command, needs};
use accepted::ACCEPTED;

mod accepted;
mod h2spec;
mod schemathesis;
mod slowhttptest;
mod sslyze;
mod wapiti;

/// One suite.
struct Suite {
    name: &'static str,
    run: fn(&Stage) -> Result<Report, String>,
}

const SUITES: [Suite; 5] = [
    Suite { name: "h2spec", run: h2spec::run },
    Suite { name: "sslyze", run: sslyze::run },
    Suite { name: "slowhttptest", run: slowhttptest::run },
    Suite { name: "wapiti", run: wapiti::run },
    Suite { name: "schemathesis", run: schemathesis::run },
];

/// What came of a suite.
#[derive(Debug, Default)]
struct Report {
    /// What was tried, with its number.
    tried: String,
    /// What is wrong, by the suite's own words and numbers.
    findings: Vec<String>,
}

/// What the suites are run on.
struct Stage {
    /// For logs and reports.
    folder: PathBuf,
    /// A page that answers late, over clear text and over TLS.
    late: Site,
    secure_late: Site,
    /// The blog, over clear text.
    blog: Site,
    /// The blog, over TLS.
    secure_blog: Site,
    /// The forms, over TLS.
    secure_forms: Site,
    /// The help-desk over clear text, with an administrator who has signed in.
    helpdesk: Site,
    /// The same, over TLS.
    secure_helpdesk: Site,
}

/// What is wrong: findings that are not accepted, what is accepted and was not found, and suites that did not run.
pub(crate) fn complaints() -> Result<Vec<String>, String> {
    site::build(&["blog", "forms", "helpdesk"], &["--example", "odd"])?;
    let stage = Stage::set()?;
    let mut complaints = Vec::new();
    for suite in SUITES {
        let started = Instant::now();
        let report = match (suite.run)(&stage) {
            Ok(report) => report,
            Err(error) => {
                complaints.push(format!("{}: {error}", suite.name));
                continue;
            }
        };
        let (new, accepted) = judge(suite.name, &report.findings);
        println!(
            "{}: {}; findings: {} new, {accepted} accepted; {:.0} s",
            suite.name,
            report.tried,
            new.len(),
            started.elapsed().as_secs_f64()
        );
        for one in ACCEPTED.iter().filter(|one| one.suite == suite.name) {
            println!("  accepted: {}: {}", one.finding, one.reason);
        }
        complaints.extend(new);
    }
    Ok(complaints)
}

/// Complaints, and how many findings are accepted.
fn judge(suite: &str, findings: &[String]) -> (Vec<String>, usize) {
    let ours = || ACCEPTED.iter().filter(|accepted| accepted.suite == suite);
    let is_accepted = |finding: &&String| ours().any(|accepted| finding.contains(accepted.finding));
    let new: Vec<_> = findings.iter().filter(|finding| !is_accepted(finding)).collect();
    let is_stale = |finding: &&str| !findings.iter().any(|found| found.contains(finding));
    let stale = ours().map(|accepted| accepted.finding).filter(is_stale);
    let stale = stale.map(|finding| format!("{suite}: \"{finding}\" is accepted, and was not found; remove it"));
    let accepted = findings.len() - new.len();
    (new.into_iter().map(|finding| format!("{suite}: {finding}")).chain(stale).collect(), accepted)
}

impl Stage {
    /// Starts the examples. The suites come from one address and write many comments, so these limits are lifted.
    fn set() -> Result<Self, String> {
        const LIMITS: [&str; 3] =
            ["limits.connections_per_address=20000", "limits.once_per_address=0", "limits.sessions_per_address=0"];
        let flags = |more: &[&'static str]| [LIMITS.map(|limit| ["--set", limit]).as_flattened(), more].concat();
        let (comments, tls) = (["--set", "blog.max_comments=1000000"], ["--tls-self-signed"]);
        let calls = ["--set", "cache.skep-limits.tiers=null"];
        let root = command::root();
        let folder = root.join("target/suites");
        let _ = fs::remove_dir_all(&folder);
        let start = |name, data: &str, flags: &[&str]| Site::start(&root, name, &folder.join(data), flags);
        let mut helpdesk = start("helpdesk", "helpdesk.data", &flags(&calls))?;
        helpdesk.sign_in("/sign-in", "email=ada%40example.org&password=straw+basket")?;
        Ok(Self {
            late: start("examples/odd", "late.data", &flags(&[]))?,
            secure_late: start("examples/odd", "secure_late.data", &flags(&tls))?,
            blog: start("blog", "blog.data", &flags(&comments))?,
            secure_blog: start("blog", "secure_blog.data", &flags(&[&comments[..], &tls].concat()))?,
            secure_forms: start("forms", "secure_forms.data", &flags(&tls))?,
            helpdesk,
            secure_helpdesk: start("helpdesk", "secure_helpdesk.data", &flags(&[&calls[..], &tls].concat()))?,
            folder,
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A program of a package of Python that `cargo xtask setup` installs.
    fn python(&self, package: &str, program: &str) -> Command {
        self.program(&command::root().join(needs::python_folder(package)).join("bin").join(program))
    }

    /// Some programs write files where they are started.
    fn program(&self, program: &Path) -> Command {
        let mut command = command::program(&program.to_string_lossy());
        command.current_dir(&self.folder).env("NO_COLOR", "1");
        command
    }

    /// Runs a program, and returns what it prints, which is then in `log` too. An error if it takes too long.
    fn run(&self, mut program: Command, log: &str, limit: Duration) -> Result<(ExitStatus, String), String> {
        let log = self.file(log);
        let wrong = |error: std::io::Error| format!("{}: {error}", log.display());
        let file = File::create(&log).map_err(wrong)?;
        program.stderr(file.try_clone().map_err(wrong)?).stdout(file);
        let mut child =
            program.spawn().map_err(|error| format!("{} does not start: {error}", program.get_program().display()))?;
        let latest = Instant::now() + limit;
        let status = loop {
            match child.try_wait().map_err(wrong)? {
                Some(status) => break status,
                None if Instant::now() < latest => sleep(Duration::from_millis(50)),
                None => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("does not end within {limit:?}; see {}", log.display()));
                }
            }
        };
        let said = fs::read(&log).map_err(wrong)?;
        Ok((status, String::from_utf8_lossy(&said).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_is_no_complaint_as_long_as_it_is_found() {
        let found = |findings: &[&str]| {
            judge("h2spec", &findings.iter().map(|finding| (*finding).to_owned()).collect::<Vec<_>>())
        };
        let known = "clear text: http2/3.5/2: Sends invalid connection preface";
        assert_eq!(found(&[known]), (vec![], 1));
        assert_eq!(found(&[known, "TLS: http2/5.1/8: x"]), (vec!["h2spec: TLS: http2/5.1/8: x".to_owned()], 1));
        let (complaints, accepted) = found(&[]);
        assert!(complaints[0].contains("was not found; remove it") && accepted == 0, "{complaints:?}");
    }

    #[test]
    fn what_is_accepted_belongs_to_a_suite_and_has_a_reason() {
        for accepted in ACCEPTED {
            assert!(SUITES.iter().any(|suite| suite.name == accepted.suite), "{}", accepted.suite);
            assert!(accepted.reason.ends_with('.') && !accepted.finding.is_empty(), "{}", accepted.finding);
        }
    }
}
