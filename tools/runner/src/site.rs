//! What the servers serve: files, articles, and the configuration of those that read one.
//!
//! All of it lies in a directory for temporary files, and is gone when the runner ends.

use std::fs;
use std::path::{Path, PathBuf};

use articles::Article;

use crate::Result;
use crate::need::Need;
use crate::program::Place;

pub(crate) mod posts;

/// The small file, and what every hello answers.
const HELLO: &str = "Hello, world!";

/// Bytes of the large file.
const LARGE: usize = 1 << 20;

/// The article of the `markdown` experiment.
const MARKDOWN: &str = include_str!("../../peers/markdown/article.md");

/// The directory of one run.
pub(crate) struct Site(PathBuf);

impl Site {
    /// Writes the files.
    pub(crate) fn lay_out() -> Result<Self> {
        let site = Self(std::env::temp_dir().join(format!("skep-peers-{}", std::process::id())));
        fs::create_dir_all(site.files())?;
        fs::write(site.files().join("13.txt"), HELLO)?;
        let large: Vec<u8> = (0..LARGE).map(|place| b'a' + u8::try_from(place % 26).expect("a letter")).collect();
        fs::write(site.files().join("1m.bin"), large)?;
        // Who needs the database is left out where nothing can make it.
        if Need::SQLITE.missing().is_none() {
            site.make_database()?;
        }
        Ok(site)
    }

    /// The directory that static servers serve.
    pub(crate) fn files(&self) -> PathBuf {
        self.0.join("static")
    }

    /// A directory of this name, there or not.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The articles as the files that Skep's blog imports. Files that are there stay as they are: a blog that starts again
/// finds nothing new.
pub(crate) fn write_articles(data: &Path) -> Result<()> {
    let folder = data.join("articles");
    if folder.exists() {
        return Ok(());
    }
    fs::create_dir_all(&folder)?;
    for article in articles::all() {
        fs::write(folder.join(format!("{}.md", article.slug)), front_matter(&article, "A short text.\n"))?;
    }
    let long = Article { slug: "second-number".into(), ..articles::all().next().expect("there are articles") };
    Ok(fs::write(folder.join("second-number.md"), front_matter(&long, MARKDOWN))?)
}

fn front_matter(article: &Article, text: &str) -> String {
    let Article { title, summary, published, tags, .. } = article;
    // Debug's quotes and escapes are also TOML's, for texts as plain as these.
    format!("+++\ntitle = {title:?}\ndate = {published}\ntags = {tags:?}\nsummary = {summary:?}\n+++\n\n{text}")
}

/// Writes nginx's configuration for this place, and says where it is.
pub(crate) fn write_nginx(place: &Place, site: &Site, tuned: bool) -> Result<PathBuf> {
    let cache = if tuned { include_str!("../../peers/nginx/open-file-cache.conf") } else { "" };
    write_config("nginx.conf", &nginx(include_str!("../../peers/nginx/nginx.conf")), cache, place, site)
}

/// As root, nginx's workers would be `nobody`, who may not read the files.
fn nginx(template: &str) -> String {
    template.replace("{USER}", if rustix::process::geteuid().is_root() { "user root;" } else { "" })
}

/// Writes lighttpd's configuration for this place, and says where it is.
pub(crate) fn write_lighttpd(place: &Place, site: &Site, tuned: bool) -> Result<PathBuf> {
    let cache = if tuned { include_str!("../../peers/lighttpd/tuned.conf") } else { "" };
    write_config("lighttpd.conf", include_str!("../../peers/lighttpd/lighttpd.conf"), cache, place, site)
}

fn write_config(name: &str, template: &str, cache: &str, place: &Place, site: &Site) -> Result<PathBuf> {
    fs::create_dir_all(&place.dir)?;
    let file = place.dir.join(name);
    fs::write(&file, fill(template, cache, place, &site.files()))?;
    Ok(file)
}

/// Fills in the words in braces, outside the comments that explain them.
fn fill(template: &str, cache: &str, place: &Place, files: &Path) -> String {
    let lines = template.lines().filter(|line| !line.starts_with('#'));
    lines
        .fold(String::new(), |filled, line| filled + line + "\n")
        .replace("{CACHE}", cache)
        .replace("{PORT}", &place.port.to_string())
        .replace("{DIR}", &place.dir.display().to_string())
        .replace("{FILES}", &files.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_in_braces_is_left_in_a_configuration() {
        let place = Place { port: 8800, second: 8801, dir: "/dir".into() };
        let nginx = include_str!("../../peers/nginx/nginx.conf").replace("{USER}", "");
        let filled = fill(&nginx, "sendfile off;", &place, Path::new("/files"));
        assert!(filled.contains("listen 127.0.0.1:8800;") && filled.contains("root /files;"), "{filled}");
        assert!(!filled.contains("{DIR}") && !filled.contains("{CACHE}"), "{filled}");
    }

    #[test]
    fn an_article_becomes_a_file_with_front_matter() {
        let article = articles::all().next().unwrap();
        let file = front_matter(&article, "Text.\n");
        assert!(file.starts_with("+++\ntitle = \"A cache that tells the truth\"\ndate = 2024-01-01\n"), "{file}");
        assert!(file.ends_with("+++\n\nText.\n"), "{file}");
    }
}
