//! The articles that a new blog begins with.

use std::fs;
use std::io;
use std::path::Path;

macro_rules! seeds {
    ($($name:literal),* $(,)?) => {
        &[$((concat!($name, ".md"), include_str!(concat!("../../articles/", $name, ".md")))),*]
    };
}

const SEEDS: &[(&str, &str)] = seeds![
    "a-part-of-a-file",
    "a-service-is-a-struct",
    "atom-or-rss",
    "dark-mode-in-one-place",
    "error-pages-and-what-they-keep-quiet",
    "forged-forms-without-tokens",
    "forms-that-work-without-javascript",
    "full-text-search-in-forty-lines",
    "logs-that-never-wait",
    "measure-first",
    "migrations-in-the-executable",
    "module-caches-forks-and-fresh-copies",
    "one-file-to-deploy",
    "slow-clients-and-limits-with-names",
    "slugs-permalinks-and-percent-signs",
    "sqlite-on-the-request-thread",
    "testing-without-a-socket",
    "the-methods-nobody-writes",
    "the-place-decides-the-escaping",
    "two-ways-to-cache-a-file",
    "where-one-request-ends",
    "writing-the-first-application",
];

/// Makes the folder. It appears whole or not at all: a name that does not end in `articles` holds what is half done.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    let unfinished = folder.with_extension("new");
    fs::create_dir_all(&unfinished)?;
    for (name, text) in SEEDS {
        fs::write(unfinished.join(name), text)?;
    }
    fs::rename(unfinished, folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ArticleSource;

    #[test]
    fn every_article_in_the_source_is_a_seed_and_reads_well() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("articles");
        let mut files: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let seeds: Vec<&str> = SEEDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(files, seeds);
        for (name, text) in SEEDS {
            let stem = name.strip_suffix(".md").unwrap();
            ArticleSource::parse(stem, text.as_bytes()).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        }
    }
}
