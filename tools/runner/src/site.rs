//! What the servers serve: files, articles, and the configuration of those that read one.
//!
//! All of it lies in a directory for temporary files, and is gone when the runner ends.

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use articles::Article;

use crate::Result;
use crate::cluster::Cluster;
use crate::need::Need;
use crate::program::{Nginx, StartOptions};

pub(crate) mod data;
pub(crate) mod posts;

/// The small file, and what every hello answers.
const HELLO: &str = "Hello, world!";

/// Bytes of the large file.
const LARGE: usize = 1 << 20;

/// Bytes of the largest.
const LARGEST: u64 = 100 << 20;

/// Articles of the page that is compressed, which has about 30 KB with them.
pub(crate) const PAGE_ARTICLES: usize = 93;

/// The article of the `markdown` experiment.
const MARKDOWN: &str = include_str!("../../peers/markdown/article.md");

/// The directory of one run, and a cluster of PostgreSQL in it, once it is needed.
pub(crate) struct Site(PathBuf, OnceCell<Cluster>);

impl Site {
    /// Writes the files.
    pub(crate) fn lay_out() -> Result<Self> {
        let site = Self(std::env::temp_dir().join(format!("skep-peers-{}", std::process::id())), OnceCell::new());
        fs::create_dir_all(site.files())?;
        fs::write(site.files().join("13.txt"), HELLO)?;
        let large: Vec<u8> = (0..LARGE).map(|place| b'a' + u8::try_from(place % 26).expect("a letter")).collect();
        fs::write(site.files().join("1m.bin"), large)?;
        // With nothing in it, which takes no room on the disk: what is served comes from the kernel's memory either
        // way.
        File::create(site.files().join("100m.bin"))?.set_len(LARGEST)?;
        fs::write(site.files().join("30k.html"), page())?;
        site.make_certificate()?;
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

    /// The certificate of those that speak TLS.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.0.join("certificate.pem")
    }

    /// Its key.
    pub(crate) fn key(&self) -> PathBuf {
        self.0.join("key.pem")
    }

    fn make_certificate(&self) -> Result<()> {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
        fs::write(self.certificate(), made.cert.pem())?;
        let mut key = File::options().write(true).create_new(true).mode(0o600).open(self.key())?;
        Ok(key.write_all(made.signing_key.serialize_pem().as_bytes())?)
    }

    /// A directory of this name, there or not.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.1.take());
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

/// A page that is worth compressing.
fn page() -> String {
    let articles = articles::all().take(PAGE_ARTICLES).fold(String::new(), |mut html, article| {
        let Article { slug, title, summary, published, tags, .. } = article;
        let _ = writeln!(
            html,
            "<article>\n<h2><a href=\"/writings/{slug}\">{title}</a></h2>\n<p><time datetime=\"{published}\">{published}</time></p>\n\
             <p>{summary}</p>\n<p class=\"tags\">{}</p>\n</article>",
            tags.join(", ")
        );
        html
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Writings</title></head>\n<body>\n{articles}</body>\n</html>\n"
    )
}

/// Writes nginx's configuration for this place, and says where it is.
pub(crate) fn write_nginx(place: &StartOptions, site: &Site, kind: Nginx) -> Result<PathBuf> {
    const OPEN_FILES: &str = include_str!("../../peers/nginx/open-file-cache.conf");
    let (more, listen, connections) = match kind {
        Nginx::Plain => (String::new(), "", "2048"),
        Nginx::Tuned => (OPEN_FILES.to_owned(), "", "2048"),
        Nginx::Tls => (OPEN_FILES.to_owned() + include_str!("../../peers/nginx/tls.conf"), " ssl http2", "2048"),
        Nginx::Gzip => (OPEN_FILES.to_owned() + include_str!("../../peers/nginx/gzip.conf"), "", "2048"),
        Nginx::Idle => (String::new(), "", "16384"),
    };
    let config = nginx(include_str!("../../peers/nginx/nginx.conf"))
        .replace("{LISTEN}", listen)
        .replace("{CONNECTIONS}", connections);
    let more = more
        .replace("{CERTIFICATE}", &site.certificate().display().to_string())
        .replace("{KEY}", &site.key().display().to_string());
    write_config("nginx.conf", &config, &more, place, site)
}

/// As root, nginx's workers would be `nobody`, who may not read the files.
fn nginx(template: &str) -> String {
    template.replace("{USER}", if rustix::process::geteuid().is_root() { "user root;" } else { "" })
}

/// Writes lighttpd's configuration for this place, and says where it is.
pub(crate) fn write_lighttpd(place: &StartOptions, site: &Site, tuned: bool) -> Result<PathBuf> {
    let cache = if tuned { include_str!("../../peers/lighttpd/tuned.conf") } else { "" };
    write_config("lighttpd.conf", include_str!("../../peers/lighttpd/lighttpd.conf"), cache, place, site)
}

fn write_config(name: &str, template: &str, cache: &str, place: &StartOptions, site: &Site) -> Result<PathBuf> {
    fs::create_dir_all(&place.dir)?;
    let file = place.dir.join(name);
    fs::write(&file, fill(template, cache, place, &site.files()))?;
    Ok(file)
}

/// Fills in the words in braces, outside the comments that explain them.
fn fill(template: &str, cache: &str, place: &StartOptions, files: &Path) -> String {
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
        let place = StartOptions { port: 8800, second: 8801, dir: "/dir".into() };
        let nginx = include_str!("../../peers/nginx/nginx.conf").replace("{USER}", "").replace("{LISTEN}", "");
        let filled = fill(&nginx, "sendfile off;", &place, Path::new("/files"));
        assert!(filled.contains("listen 127.0.0.1:8800;") && filled.contains("root /files;"), "{filled}");
        assert!(!filled.contains("{DIR}") && !filled.contains("{CACHE}"), "{filled}");
    }

    #[test]
    fn the_page_that_is_compressed_has_30_kilobytes() {
        let page = page();
        assert_eq!(page.matches("<article").count(), PAGE_ARTICLES);
        assert!((29_500..30_500).contains(&page.len()), "{}", page.len());
    }

    #[test]
    fn an_article_becomes_a_file_with_front_matter() {
        let article = articles::all().next().unwrap();
        let file = front_matter(&article, "Text.\n");
        assert!(file.starts_with("+++\ntitle = \"A cache that tells the truth\"\ndate = 2024-01-01\n"), "{file}");
        assert!(file.ends_with("+++\n\nText.\n"), "{file}");
    }
}
