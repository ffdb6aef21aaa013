//! Apache prefork with `mod_php`: its configuration, its two pages, and the articles in SQLite.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Place;
use crate::Result;

const MODULES: &str = "/usr/lib/apache2/modules";

const CONFIGURATION: &str = include_str!("../../../peers/apache/apache.conf");

/// The pages that PHP serves, and what puts the articles into the database.
const FILES: [(&str, &str); 3] = [
    ("php/hello.php", include_str!("../../../peers/apache/hello.php")),
    ("php/list.php", include_str!("../../../peers/apache/list.php")),
    ("setup.php", include_str!("../../../peers/apache/setup.php")),
];

/// Lays out the directory of this place, and says where its configuration is.
pub(super) fn write(place: &Place, per_child: u32) -> Result<PathBuf> {
    fs::create_dir_all(place.dir.join("php"))?;
    for (name, text) in FILES {
        fs::write(place.dir.join(name), text)?;
    }
    let file = place.dir.join("apache.conf");
    fs::write(&file, fill(place, per_child, &module()?))?;
    if place.port != 0 {
        make_database(&place.dir)?;
    }
    Ok(file)
}

/// PHP's module, whatever its version.
fn module() -> Result<PathBuf> {
    let is_php =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("libphp"));
    let modules = fs::read_dir(MODULES).map_err(|error| format!("{MODULES}: {error}"))?;
    let found = modules.flatten().map(|entry| entry.path()).find(is_php);
    found.ok_or_else(|| format!("{MODULES} has no libphp*.so; on Debian: apt-get install libapache2-mod-php").into())
}

fn fill(place: &Place, per_child: u32, php: &Path) -> String {
    let lines = CONFIGURATION.lines().filter(|line| !line.starts_with('#'));
    lines
        .fold(String::new(), |filled, line| filled + line + "\n")
        .replace("{PORT}", &place.port.to_string())
        .replace("{DIR}", &place.dir.display().to_string())
        .replace("{MODULES}", MODULES)
        .replace("{PHP}", &php.display().to_string())
        .replace("{PER_CHILD}", &per_child.to_string())
}

/// PHP makes it, so that it is as its own library would have it.
fn make_database(dir: &Path) -> Result<()> {
    let (json, database) = (dir.join("articles.json"), dir.join("articles.sqlite"));
    if database.exists() {
        return Ok(());
    }
    let rows = articles::all().map(|article| {
        serde_json::json!([article.slug, article.title, article.summary, article.published, article.tags.join(" ")])
    });
    fs::write(&json, serde_json::Value::Array(rows.collect()).to_string())?;
    let output = Command::new("php").arg(dir.join("setup.php")).args([&json, &database]).output();
    let output = output.map_err(|error| format!("php does not start: {error}; on Debian: apt-get install php-cli"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("php could not make the database of articles: {}", String::from_utf8_lossy(&said).trim()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_in_braces_is_left_in_the_configuration() {
        let place = Place { port: 8800, dir: "/dir".into() };
        let filled = fill(&place, 1, Path::new("/modules/libphp.so"));
        assert!(
            filled.contains("Listen 127.0.0.1:8800\n") && filled.contains("MaxConnectionsPerChild 1\n"),
            "{filled}"
        );
        assert!(!filled.contains('{'), "{filled}");
    }
}
