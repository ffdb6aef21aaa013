//! What the programs of the posts' experiments read: one database for all, and their configurations.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Site;
use crate::Result;
use crate::build::executable;
use crate::need::{Made, Need};
use crate::program::{Module, StartOptions, peer};

/// Where Debian has Neko's libraries.
const NEKO: &str = "/usr/lib/x86_64-linux-gnu/neko";

const COLUMNS: &str = "id integer primary key, slug text not null, title text not null, summary text not null, \
                       published text not null, tags text not null";

impl Site {
    /// The database of the list: a table with 200 articles, and one without any.
    pub(crate) fn database(&self) -> PathBuf {
        self.folder("posts.sqlite")
    }

    /// Makes the database.
    pub(crate) fn make_database(&self) -> Result<()> {
        let mut sqlite = Command::new(executable(Need::SQLITE));
        let mut sqlite = sqlite.arg(self.database()).stdin(Stdio::piped()).spawn()?;
        sqlite.stdin.take().ok_or("sqlite3 has no input")?.write_all(statements().as_bytes())?;
        if sqlite.wait()?.success() { Ok(()) } else { Err("sqlite3 cannot make the database".into()) }
    }

    /// The folder that servers of scripts serve: those of PHP, and of Neko if they are made.
    pub(crate) fn www(&self) -> Result<PathBuf> {
        let www = self.folder("www");
        if !www.exists() {
            fs::create_dir_all(&www)?;
            fs::copy(self.files().join("13.txt"), www.join("13.txt"))?;
            copy_all(&peer("php"), &www)?;
            copy_all(&Made::Neko.result(), &www)?;
            fs::copy(peer("neko/page.mtt"), www.join("page.mtt"))?;
        }
        Ok(www)
    }
}

/// All files of a folder that is there.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).into_iter().flatten() {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// SQL, for the text of articles has no quotes that it would have to escape but the single one.
fn statements() -> String {
    let mut sql = String::from("begin;\n");
    for table in ["article", "blank"] {
        let _ = writeln!(sql, "create table {table} ({COLUMNS}) strict;");
        let _ = writeln!(sql, "create index {table}_by_day on {table} (published desc);");
    }
    for article in articles::all() {
        let articles::Article { slug, title, summary, published, tags, .. } = article;
        let values = [slug, title, summary, published, tags.join(" ")];
        let values = values.map(|value| format!("'{}'", value.replace('\'', "''")));
        let _ = writeln!(
            sql,
            "insert into article (slug, title, summary, published, tags) values ({});",
            values.join(", ")
        );
    }
    sql + "commit;\n"
}

/// Apache looks once a second whether processes are missing. With Debian's 5 to 10, a process for each connection would
/// be 5 to 10 answers a second.
const MANY_SPARE: &str = "StartServers 64\nMinSpareServers 64\nMaxSpareServers 128";

pub(crate) fn apache(place: &StartOptions, site: &Site, module: Module) -> Result<PathBuf> {
    let modules = match module {
        Module::Event => include_str!("../../../peers/apache/event.conf"),
        Module::Php { .. } => include_str!("../../../peers/apache/php.conf"),
        Module::Neko => include_str!("../../../peers/apache/neko.conf"),
    };
    let (opcache, per_child) = match module {
        Module::Php { opcache, per_child } => (opcache, per_child),
        Module::Event | Module::Neko => (false, 0),
    };
    // As root, Apache must be told whom its processes become.
    let user = if rustix::process::geteuid().is_root() { "User www-data\nGroup www-data" } else { "" };
    let config = include_str!("../../../peers/apache/apache.conf")
        .replace("{MODULES}", modules)
        .replace("{USER}", user)
        .replace("{OPCACHE}", if opcache { "1" } else { "0" })
        .replace("{PER_CHILD}", &per_child.to_string())
        .replace("{SPARE}", if per_child == 1 { MANY_SPARE } else { "" })
        .replace("{NEKO}", NEKO)
        .replace("{WWW}", &site.www()?.display().to_string());
    super::write_config("apache.conf", &config, "", place, site)
}

pub(crate) fn fastcgi(place: &StartOptions, site: &Site, processes: u16) -> Result<PathBuf> {
    let config = concat!(
        include_str!("../../../peers/lighttpd/lighttpd.conf"),
        include_str!("../../../peers/lighttpd/fastcgi.conf")
    );
    let config = config
        .replace("{FASTCGI}", &Made::FastCgi.result().display().to_string())
        .replace("{PROCESSES}", &processes.to_string());
    super::write_config("lighttpd.conf", &config, "", place, site)
}

pub(crate) fn ocsigen(place: &StartOptions, site: &Site) -> Result<PathBuf> {
    fs::create_dir_all(&place.dir)?;
    fs::write(place.dir.join("mime.types"), "text/plain txt\n")?;
    let config = include_str!("../../../peers/eliom/ocsigenserver.conf")
        .replace("{MODULE}", &Made::Eliom.result().display().to_string());
    super::write_config("ocsigenserver.conf", &config, "", place, site)
}

pub(crate) fn proxy(place: &StartOptions, site: &Site) -> Result<PathBuf> {
    let config =
        super::nginx(include_str!("../../../peers/nginx/proxy.conf")).replace("{SECOND}", &place.second.to_string());
    super::write_config("nginx.conf", &config, "", place, site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_article_is_inserted_into_the_table_that_has_rows() {
        let sql = statements();
        assert_eq!(sql.matches("insert into article ").count(), articles::COUNT);
        assert_eq!(sql.matches("create table").count(), 2);
    }
}
