//! The Nu Html Checker of WHATWG's validator project: someone else's reading of the same standard.
//!
//! Two have use for it: [`pages`](super::pages) for what the examples answer, and the tests of `skep-macros`, which
//! include this file, to hold our checker against it. It is a Java program in one file of npm's package `vnu-jar`;
//! `cargo xtask setup` puts it into `target/tools`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Of npm's package. Its number is the day of its release: year, month, day.
pub(crate) const VERSION: &str = "26.9.27";

/// Its thread's stack: with less it does not read its own table of HTML.
const STACK: &str = "-Xss8m";

/// Compiled once and lightly: twice as quick for some thousands of small files as what Java does by itself.
const QUICK: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// What it says about one place of one file.
#[derive(Debug)]
pub(crate) struct Finding {
    /// The name of the file, without its folder.
    pub(crate) file: String,
    pub(crate) is_error: bool,
    /// Where, by line and column, and what: `1.5-1.9: ...`. With plain quotation marks around names.
    pub(crate) text: String,
}

/// The folder that npm fills, under the root of the repository.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join("target/tools/vnu")
}

fn jar(root: &Path) -> PathBuf {
    folder(root).join("node_modules/vnu-jar/build/dist/vnu.jar")
}

/// Is this version there, and something that runs it?
pub(crate) fn is_there(root: &Path) -> bool {
    let manifest = folder(root).join("node_modules/vnu-jar/package.json");
    let is_version = std::fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"{VERSION}\"")));
    let mut java = Command::new("java");
    java.arg("-version").stdout(Stdio::null()).stderr(Stdio::null());
    is_version && jar(root).is_file() && java.status().is_ok_and(|status| status.success())
}

/// Judges every `.html` file of a folder. All of what it says counts, but what it calls an information.
pub(crate) fn check(root: &Path, folder: &Path) -> Result<Vec<Finding>, String> {
    if !is_there(root) {
        return Err(format!("the Nu Html Checker {VERSION} is not here, or Java is not: run `cargo xtask setup`"));
    }
    let mut java = Command::new("java");
    java.arg(STACK).args(QUICK).arg("-jar").arg(jar(root));
    java.args(["--format", "gnu", "--asciiquotes", "--no-langdetect", "--stdout", "--exit-zero-always"]);
    let output = java.arg(folder).output().map_err(|error| format!("java does not start: {error}"))?;
    let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() || !complaint.trim().is_empty() {
        return Err(format!("the Nu Html Checker failed: {}\n{complaint}", output.status));
    }
    said.lines().filter(|line| !line.is_empty()).filter_map(|line| finding(line).transpose()).collect()
}

/// Reads `"file:/a/b.html":1.2-1.3: error: text`. Nothing if it is an information.
fn finding(line: &str) -> Result<Option<Finding>, String> {
    let strange = || format!("the Nu Html Checker says what is not understood: {line}");
    let (url, rest) = line.strip_prefix('"').and_then(|line| line.split_once("\":")).ok_or_else(strange)?;
    let file = url.rsplit('/').next().unwrap_or_default().to_owned();
    let (place, rest) = rest.split_once(": ").ok_or_else(strange)?;
    let found = |is_error, text: &str| Finding { file, is_error, text: format!("{place}: {text}") };
    match rest.split_once(": ") {
        Some(("error" | "non-document-error" | "error fatal", text)) => Ok(Some(found(true, text))),
        Some(("info warning", text)) => Ok(Some(found(false, text))),
        Some(("info", _)) => Ok(None),
        _ => Err(strange()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_counts_and_an_information_does_not() {
        let line = |rest: &str| format!("\"file:/a/b/007.html\":1.5-1.9: {rest}");
        let error = finding(&line("error: An \"img\" element: x")).unwrap().unwrap();
        assert_eq!((error.file.as_str(), error.is_error), ("007.html", true));
        assert_eq!(error.text, "1.5-1.9: An \"img\" element: x");
        assert!(!finding(&line("info warning: Section lacks heading.")).unwrap().unwrap().is_error);
        assert!(finding(&line("info: Trailing slash.")).unwrap().is_none());
        assert!(finding("java: out of memory").unwrap_err().contains("out of memory"));
    }
}
