//! The files with which an application is deployed: those of `examples/starter`, under another name.

use std::path::{Component, Path, PathBuf};

use skep_sql_lock::Dialect;

/// The text of a file of an example. `templates` has links to what is in `examples`, which cargo packages as files.
macro_rules! template {
    ($example:literal, $file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/", $example, "/", $file))
    };
}
pub(crate) use template;

/// Files of an example, and their texts.
macro_rules! files {
    ($example:literal: $($file:literal),* $(,)?) => {
        &[$(($file, $crate::deployment::template!($example, $file))),*]
    };
}
pub(crate) use files;

/// Path and text of each in the example.
pub(crate) const FILES: &[(&str, &str)] = files![
    "starter":
    ".dockerignore",
    ".github/workflows/ci.yml",
    "Dockerfile",
    "deploy/nginx.conf",
    "deploy/skep.toml",
    "deploy/starter.service",
];

/// Where the clone of Skep is, in the examples.
pub(crate) const CLONE: &str = "/path/to/skep";

/// What `skep gen deploy` writes.
pub(crate) struct Deployment {
    /// That of the executable.
    pub(crate) name: String,
    /// The clone of Skep, as Cargo.toml has it; none if cargo fetches Skep.
    pub(crate) clone: Option<PathBuf>,
    pub(crate) dialect: Dialect,
}

impl Deployment {
    /// Path and text of each.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let clone = self.clone.as_deref().and_then(Path::to_str).unwrap_or(CLONE);
        let written = FILES.iter().map(|(file, text)| {
            let mut text = match self.clone {
                Some(_) => self.in_the_image(text),
                None => without_clone(text),
            };
            if self.dialect == Dialect::Postgres {
                add_postgres(file, &mut text);
            }
            (file.replace("starter", &self.name), named(&self.name, clone, file, &text))
        });
        written.collect()
    }

    /// In an image, the clone is where Cargo.toml looks for it from there.
    fn in_the_image(&self, dockerfile: &str) -> String {
        let Some(clone) = &self.clone else { return dockerfile.to_owned() };
        let place = place_from(&Path::new("/").join(&self.name), clone);
        dockerfile.replace(&format!("skep . {CLONE}"), &format!("skep . {}", place.display()))
    }
}

/// The text for an application that has Skep from elsewhere.
fn without_clone(text: &str) -> String {
    let text = text.replace(&format!(" --build-context skep={CLONE}"), "").replace("#\n# Skep is not", "# Skep is not");
    let is_about_it = |line: &&str| line.starts_with("# Skep is not published") || line.starts_with("COPY --from=skep");
    text.split_inclusive('\n').filter(|line| !is_about_it(line)).collect()
}

/// What a file of a deployment says besides if the database is PostgreSQL.
pub(crate) fn add_postgres(file: &str, text: &mut String) {
    match file {
        ".github/workflows/ci.yml" => *text = text.replace("    steps:\n", SERVICE),
        "Dockerfile" => *text = text.replace(ENVIRONMENT, ENVIRONMENT_WITH_DATABASE),
        "deploy/skep.toml" => text.push_str(DATABASE_OF_SERVER),
        "deploy/starter.service" => *text = text.replace(EXECUTABLE, &format!("{VARIABLES}{EXECUTABLE}")),
        _ => {}
    }
}

/// The text of a file of an example, with the name of an application in it, and where the clone of Skep is.
pub(crate) fn named(application: &str, clone: &str, file: &str, text: &str) -> String {
    let is_rust = Path::new(file).extension().is_some_and(|extension| extension == "rs");
    let name = if is_rust { application.replace('-', "_") } else { application.to_owned() };
    let host = format!("{}.example", application.replace('_', "-"));
    let title = title(application);
    let places = [
        ("starter.example", host.as_str()),
        ("starter", &name),
        ("members", &name),
        ("notes_api", &name),
        ("notes-api", &name),
        ("Starter", &title),
        ("Notes API", &title),
        ("Members", &title),
        (CLONE, clone),
    ];
    substituted(text, &places)
}

/// The name for people: "My shop".
pub(crate) fn title(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// The text with something else for each word, in one pass: what is put in may have such a word in it. The first that
/// fits counts.
fn substituted(text: &str, places: &[(&str, &str)]) -> String {
    let (mut new, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let (taken, put) = match places.iter().find(|(word, _)| rest.starts_with(word)) {
            Some((word, value)) => (word.len(), *value),
            None => (first.len_utf8(), &rest[..first.len_utf8()]),
        };
        new.push_str(put);
        rest = &rest[taken..];
    }
    new
}

/// Where a path leads from a folder, without looking.
fn place_from(folder: &Path, path: &Path) -> PathBuf {
    let mut place = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::ParentDir => _ = place.pop(),
            Component::CurDir => {}
            other => place.push(other),
        }
    }
    place
}

const SERVICE: &str = "    services:
      postgres:
        image: postgres:17
        env: { POSTGRES_HOST_AUTH_METHOD: trust }
        ports: [\"5432:5432\"]
        options: --health-cmd pg_isready --health-interval 2s --health-retries 30
    env:
      TEST_DATABASE: postgres://postgres@localhost/postgres
    steps:
";

const ENVIRONMENT: &str = "# Settings are in the environment: SKEP_BASE_URL=https://starter.example.org.\n";
const ENVIRONMENT_WITH_DATABASE: &str = "\
# Settings are in the environment: SKEP_BASE_URL=https://starter.example.org, and
# SKEP_DATABASE=postgres://starter:PASSWORD@HOST/starter (docker run --env-file FILE).
";
const DATABASE_OF_SERVER: &str = "
# The address of the database may have a password: SKEP_DATABASE in /etc/starter.env, which starter.service reads, has it.
# In a shell, read that file before starter --run and the like: set -a; . /etc/starter.env
";
const EXECUTABLE: &str = "ExecStart=";
const VARIABLES: &str = "\
# SKEP_DATABASE=postgres://starter:PASSWORD@HOST/starter, in a file that only root can read.
EnvironmentFile=/etc/starter.env
";

#[cfg(test)]
mod tests {
    use super::*;

    fn files(clone: Option<&str>, dialect: Dialect) -> Vec<(String, String)> {
        Deployment { name: "shop".to_owned(), clone: clone.map(PathBuf::from), dialect }.files()
    }

    #[test]
    fn the_clone_is_in_the_image_where_the_manifest_looks_for_it() {
        let dockerfile =
            |clone| files(clone, Dialect::Sqlite).into_iter().find(|(file, _)| file == "Dockerfile").unwrap().1;
        let beside = dockerfile(Some("../skep"));
        assert!(beside.contains("skep=../skep ") && beside.contains("--from=skep . /skep\n"), "{beside}");
        let elsewhere = dockerfile(Some("/srv/skep"));
        assert!(
            elsewhere.contains("skep=/srv/skep ") && elsewhere.contains("--from=skep . /srv/skep\n"),
            "{elsewhere}"
        );
        let published = dockerfile(None);
        assert!(!published.contains("--from=skep") && !published.contains("clone"), "{published}");
        assert!(published.contains("docker build -t shop .") && published.contains("WORKDIR /shop\n"), "{published}");
        let text = files(None, Dialect::Postgres).into_iter().map(|(_, text)| text).collect::<String>();
        assert!(text.contains("TEST_DATABASE: ") && text.contains("EnvironmentFile=/etc/shop.env"), "{text}");
        assert!(!text.contains("starter"), "{text}");
    }
}
