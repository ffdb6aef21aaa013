//! `cargo xtask pages`: every page of the examples passes the Nu Html Checker, with no error and no warning.
//!
//! Each example is built and started as for a visitor, with a data folder of its own. From the paths that its table of
//! routes names, every link is followed and every form is sent empty, so that pages with complaints are seen as well as
//! those that a visitor hopes for, and a page that is not there. Where there are accounts, the same is done signed in.
//! Start reading at [`run`].

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::site::{self, Site};
use crate::{command, vnu};
use crawl::Page;

mod crawl;

/// Somebody who may see all pages of an example.
struct Account {
    example: &'static str,
    flags: &'static [&'static str],
    /// Where the form is sent.
    path: &'static str,
    form: &'static str,
}

const ACCOUNTS: &[Account] = &[
    Account {
        example: "blog",
        flags: &["--set", "blog.author=ann@example.org", "--set", "blog.author_password=a straw basket"],
        path: "/sign-in",
        form: "email=ann%40example.org&password=a+straw+basket",
    },
    Account {
        example: "helpdesk",
        // Without it, pages have no forms for passkeys.
        flags: &["--set", "base_url=http://localhost"],
        path: "/sign-in",
        form: "email=ada%40example.org&password=straw+basket",
    },
    Account { example: "board", flags: &[], path: "/name", form: "name=Ann" },
    Account {
        example: "courses",
        flags: &["--set", "courses.demo=true"],
        path: "/sign-in",
        form: "email=ada%40example.org&password=straw+basket",
    },
];

/// Judges the pages of every example.
pub(crate) fn run() -> Result<ExitCode, String> {
    let complaints = complaints()?;
    for complaint in &complaints {
        println!("{complaint}");
    }
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is wrong with the pages: "example: GET /path, status: line and column: what".
pub(crate) fn complaints() -> Result<Vec<String>, String> {
    let root = command::root();
    let names = examples(&root)?;
    site::build(&names, &[])?;
    let mut complaints = Vec::new();
    for name in &names {
        let data = root.join("target/pages").join(format!("{name}.data"));
        let account = ACCOUNTS.iter().find(|account| account.example == name);
        let mut site = Site::start(&root, name, &data, account.map_or(&[], |account| account.flags))?;
        let mut pages = crawl::all(&site)?;
        if let Some(account) = account {
            site.sign_in(account.path, account.form)?;
            pages.extend(crawl::all(&site)?);
        }
        println!("{name}: {} pages", pages.len());
        complaints.extend(judge(&root, name, &pages)?);
    }
    Ok(complaints)
}

fn judge(root: &Path, name: &str, pages: &[Page]) -> Result<Vec<String>, String> {
    let folder = root.join("target/pages").join(name);
    let unwritten = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(unwritten)?;
    for (at, page) in pages.iter().enumerate() {
        fs::write(folder.join(format!("{at:03}.html")), &page.html).map_err(unwritten)?;
    }
    let findings = vnu::check(root, &folder)?;
    let findings: Vec<_> =
        findings.into_iter().filter(|finding| finding.is_error || !is_guess(&finding.text)).collect();
    let complaint = |finding: vnu::Finding| {
        let at: usize = finding.file.trim_end_matches(".html").parse().ok()?;
        let what = if finding.is_error { "" } else { "warning: " };
        Some(format!("{name}: {}: {what}{}", pages.get(at)?.called, finding.text))
    };
    findings
        .into_iter()
        .map(|finding| complaint(finding).ok_or_else(|| "it speaks of no page of ours".into()))
        .collect()
}

/// A warning that is the checker's guess and no rule: the last day of a date with a year of four digits keeps browsers
/// from offering six.
fn is_guess(warning: &str) -> bool {
    warning.contains("\"9999-12-31") && warning.contains("Year may be mistyped")
}

/// The packages in `examples` with a server of ours, which have the names of their folders.
fn examples(root: &Path) -> Result<Vec<String>, String> {
    let folders = fs::read_dir(root.join("examples")).map_err(|error| format!("examples: {error}"))?;
    let manifest = |folder: &fs::DirEntry| fs::read_to_string(folder.path().join("Cargo.toml"));
    let has_server = |folder: &fs::DirEntry| manifest(folder).is_ok_and(|manifest| manifest.contains("\nskep-server"));
    let folders = folders.flatten().filter(has_server);
    let mut names: Vec<String> = folders.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}
