//! The manual: `cargo xtask book` builds `docs/` into `target/book` with mdBook, and checks every link of what was
//! built.
//!
//! mdBook brings the search. Records of decisions (`docs/decisions/`) are not part of the book.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command;

const VERSION: &str = "0.5.4";

/// What stands in `docs/` and is no page.
const NO_PAGES: [&str; 2] = ["SUMMARY.md", "decisions"];

/// Every built page: its path, as links write it, with its text.
type Pages = BTreeMap<String, String>;

pub(crate) fn run() -> Result<ExitCode, String> {
    install()?;
    let folder = command::root().join("target/book");
    let _ = fs::remove_dir_all(&folder);
    command::output("mdbook", &["build", "docs"])?;
    let paths = files(&folder)?;
    let pages: Pages = paths
        .iter()
        .filter(|path| Path::new(path).extension().is_some_and(|extension| extension == "html"))
        .map(|path| Ok((path.clone(), fs::read_to_string(folder.join(path))?)))
        .collect::<std::io::Result<_>>()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut complaints = forgotten(&files(&command::root().join("docs"))?, &pages);
    complaints.extend(dead_links(&paths, &pages));
    for complaint in &complaints {
        println!("{complaint}");
    }
    println!("{} pages in {}", pages.len(), folder.display());
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn install() -> Result<(), String> {
    let installed = command::on_path("mdbook").then(|| command::output("mdbook", &["--version"])).transpose()?;
    if installed.is_some_and(|version| version.trim().trim_start_matches("mdbook v") == VERSION) {
        return Ok(());
    }
    let version = format!("mdbook@{VERSION}");
    // Not optimised, it is there in half the time, and builds the book in seconds.
    let install = ["install", "--debug", "--locked", &version, "--no-default-features", "--features", "search"];
    command::output("cargo", &install).map(drop)
}

/// Pages that SUMMARY.md does not name: mdBook does not build them.
fn forgotten(sources: &BTreeSet<String>, pages: &Pages) -> Vec<String> {
    let markdown = sources.iter().filter_map(|path| Some((path, path.strip_suffix(".md")?)));
    markdown
        .filter(|(path, _)| !NO_PAGES.iter().any(|other| path.starts_with(other)))
        .filter(|(_, name)| !pages.contains_key(&format!("{}.html", name.replace("README", "index"))))
        .map(|(path, _)| format!("docs/{path}: no reader finds this page; name it in docs/SUMMARY.md"))
        .collect()
}

/// Links within the book that lead to no file, or to no element of a page.
fn dead_links(paths: &BTreeSet<String>, pages: &Pages) -> Vec<String> {
    let mut complaints = Vec::new();
    for (page, text) in pages {
        // mdBook shows all pages once more in one, for printing, and page 404 is served at every depth.
        if matches!(page.as_str(), "print.html" | "404.html" | "toc.html") {
            continue;
        }
        for link in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { Some(page.clone()) } else { resolve(page, file) };
            let problem = match target {
                None => "leaves the book: name the file without a link",
                Some(target) if !paths.contains(&target) => "leads to no file",
                Some(target) if !has_anchor(pages.get(&target), anchor) => "leads to no heading",
                Some(_) => continue,
            };
            complaints.push(format!("{page}: the link to {link} {problem}"));
        }
    }
    complaints
}

/// The values of `href` and `src`. In text, `<` is escaped, so nothing else looks like a tag.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let tags = page.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    let values = tags.flat_map(|tag| ["href=\"", "src=\""].into_iter().filter_map(|name| tag.split_once(name)));
    values.filter_map(|(_, rest)| rest.split('"').next()).filter(|link| !link.contains(':') && !link.is_empty())
}

fn has_anchor(page: Option<&String>, anchor: &str) -> bool {
    anchor.is_empty() || page.is_none_or(|text| text.contains(&format!("id=\"{anchor}\"")))
}

/// The path that `link` means in the page `from`; none if it leaves the folder.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The paths of all files below a folder, relative to it.
fn files(folder: &Path) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).map_err(|error| format!("{}: {error}", next.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            match path.strip_prefix(folder) {
                _ if path.is_dir() => folders.push(path),
                Ok(path) => drop(found.insert(path.to_string_lossy().into_owned())),
                Err(_) => {}
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(links: &str) -> usize {
        let page = |text: &str| format!("<h1 id=\"top\">A</h1>{text}");
        let pages = Pages::from([("a/b.html".into(), page(links)), ("index.html".into(), page(""))]);
        let paths = ["a/b.html", "index.html", "book.css"].map(str::to_owned);
        dead_links(&BTreeSet::from(paths), &pages).len()
    }

    #[test]
    fn a_link_leads_to_a_page_and_a_heading() {
        let good =
            r##"<a href="../index.html#top"> <a href="#top"> <img src="../book.css"> <a href="https://example.org">"##;
        assert_eq!(complaints(good), 0);
        assert_eq!(
            complaints(r#"<a href="gone.html"> <a href="../index.html#gone"> <a href="../../tools/README.md">"#),
            3
        );
    }

    #[test]
    fn a_page_that_the_summary_lacks_is_named() {
        let pages = Pages::from([("index.html".into(), String::new())]);
        let sources = ["README.md", "SUMMARY.md", "decisions/a.md", "guides/a.md", "a.png"].map(str::to_owned);
        let complaints = forgotten(&BTreeSet::from(sources), &pages);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("docs/guides/a.md:"));
    }
}
