//! Wapiti: crawls the blog, the forms and the help-desk over TLS, and attacks what it finds: injections, scripts,
//! cookies, header fields. In the help-desk it has signed in as an administrator.
//!
//! Left out are the modules that need a server outside (`ssrf`, `xxe`, `log4shell`) and those that look for products.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::{Report, Stage};
use crate::site::Site;

const LIMIT: Duration = Duration::from_secs(150);

const MODULES: &str = "cookieflags,crlf,csp,csrf,exec,file,http_headers,ldap,permanentxss,redirect,shellshock,sql,timesql,\
                       upload,xss";

/// Bounds of a run. A form with more parameters is left out, and that of `forms` has 21. Rows of forms multiply while
/// it crawls, and so do articles; each module has 10 s.
const BOUNDS: [&str; 8] = [
    "--max-scan-time=15",
    "--max-attack-time=10",
    "--max-parameters=30",
    "--max-files-per-dir=4",
    "--timeout=10",
    "--scope=folder",
    "--flush-session",
    "--no-bugreport",
];

/// One after the other would take longer: it computes more than the server does.
pub(super) fn run(stage: &Stage) -> Result<Report, String> {
    std::thread::scope(|scope| {
        let blog = scope.spawn(|| attack(stage, "blog", &stage.secure_blog, 30, &[]));
        let helpdesk = scope.spawn(|| attack_signed_in(stage));
        let forms = attack(stage, "forms", &stage.secure_forms, 5, &[])?;
        let mut all = Report::default();
        let others = [blog, helpdesk].map(|other| other.join().map_err(|_| "a thread panicked"));
        for report in std::iter::once(Ok(Ok(forms))).chain(others) {
            let Report { tried, findings } = report??;
            all.tried = if all.tried.is_empty() { tried } else { format!("{}, {tried}", all.tried) };
            all.findings.extend(findings);
        }
        Ok(all)
    })
}

/// The help-desk. What would sign it out is left out.
fn attack_signed_in(stage: &Stage) -> Result<Report, String> {
    let site = &stage.secure_helpdesk;
    let page = |path: &str| format!("{}{path}", site.url());
    let [tickets, sign_in, sign_out, users] = ["/tickets", "/sign-in", "/sign-out*", "/users/*"].map(page);
    let account = ["--form-user", "ada@example.org", "--form-password", "straw basket", "--form-url", &sign_in];
    let more = [&account[..], &["--start", &tickets, "--exclude", &sign_out, "--exclude", &users]].concat();
    let report = attack(stage, "helpdesk", site, 60, &more)?;
    let said = fs::read_to_string(stage.file("wapiti-helpdesk.log")).unwrap_or_default();
    if said.contains("Login success") { Ok(report) } else { Err("helpdesk: it did not sign in".into()) }
}

/// An error if fewer than `least` requests were found that could be attacked.
fn attack(stage: &Stage, name: &str, site: &Site, least: u64, more: &[&str]) -> Result<Report, String> {
    let file = stage.file(&format!("wapiti-{name}.json"));
    let run = || {
        let mut wapiti = stage.python("wapiti3", "wapiti");
        wapiti
            .args(["--url", &format!("{}/", site.url()), "--module", MODULES, "--format=json", "--output"])
            .arg(&file);
        wapiti.args(more);
        wapiti.args(BOUNDS).arg("--store-session").arg(stage.file(&format!("wapiti-{name}")));
        wapiti.arg("--store-config").arg(stage.file(&format!("wapiti-{name}-config")));
        stage.run(wapiti, &format!("wapiti-{name}.log"), LIMIT)
    };
    let (mut status, said) = run()?;
    // Two of its own tasks now and then meet in the SQLite file in which it keeps what it has found.
    if !file.exists() && said.contains("database is locked") {
        (status, _) = run()?;
    }
    let text = fs::read_to_string(&file).map_err(|error| format!("{name}: {status}, and no report: {error}"))?;
    let report = serde_json::from_str(&text).map_err(|error| format!("{name}: the report is no JSON: {error}"))?;
    let found = report_of(&report, name)?;
    match report["infos"]["crawled_pages_nbr"].as_u64() {
        Some(pages) if pages >= least => Ok(Report { tried: format!("{name}: {pages} requests attacked"), ..found }),
        pages => Err(format!("{name}: {pages:?} requests were found to attack, where {least} were expected")),
    }
}

/// Vulnerabilities and anomalies, such as a 500.
fn report_of(report: &Value, name: &str) -> Result<Report, String> {
    let mut findings = Vec::new();
    for part in ["vulnerabilities", "anomalies"] {
        let kinds = report[part].as_object().ok_or_else(|| format!("{name}: the report has no {part}"))?;
        for (kind, places) in kinds {
            for place in places.as_array().into_iter().flatten() {
                let text = |key: &str| place[key].as_str().unwrap_or_default();
                findings.push(format!("{name}: {kind}: {} {}: {}", text("method"), text("path"), text("info")));
            }
        }
    }
    Ok(Report { findings, ..Report::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn vulnerabilities_and_anomalies_are_findings() {
        let place = json!({ "method": "POST", "path": "/order", "info": "500", "parameter": "name", "level": 2 });
        let report = json!({
            "vulnerabilities": { "SQL Injection": [], "CRLF Injection": [place] },
            "anomalies": { "Internal Server Error": [place] },
            "additionals": { "HTTP Methods": [place] },
        });
        let found = report_of(&report, "forms").unwrap().findings;
        assert_eq!(
            found,
            ["forms: CRLF Injection: POST /order: 500", "forms: Internal Server Error: POST /order: 500"]
        );
        assert!(report_of(&json!({ "vulnerabilities": {} }), "forms").is_err());
    }
}
