//! The files of a new application.

use super::Wanted;
use crate::deployment::{self, CLONE, files, named, template};

/// What every application has, beside what it is deployed with.
pub(super) const COMMON: &[(&str, &str)] = files!["starter": "rustfmt.toml", "skep.toml", "src/main.rs"];

/// That, too. Git follows no link of this name, so that the link has another one.
pub(super) const IGNORED: (&str, &str) = (".gitignore", template!("starter", "gitignore"));

/// What one with pages has besides.
pub(super) const PAGES: &[(&str, &str)] =
    files!["starter": "README.md", "build.rs", "static/icon.svg", "static/style.css"];

/// What one without pages has instead.
pub(super) const API: &[(&str, &str)] = files![
    "notes-api":
    "README.md",
    "build.rs",
    "migrations/0001_note.sql",
    "src/lib.rs",
    "src/note.rs",
    "tests/notes.rs",
];

/// What one without accounts has besides.
pub(super) const OPEN: &[(&str, &str)] = files![
    "starter":
    "migrations/0001_note.sql",
    "src/layout.rs",
    "src/lib.rs",
    "src/note.rs",
    "tests/browser.rs",
    "tests/notes.rs",
];

/// What one with accounts has besides.
pub(super) const MEMBERS: &[(&str, &str)] = files![
    "members":
    "migrations/0001_note.sql",
    "migrations/0002_account.sql",
    "src/account.rs",
    "src/home.rs",
    "src/layout.rs",
    "src/lib.rs",
    "src/note.rs",
    "tests/browser.rs",
    "tests/notes.rs",
    "tests/sign_in.rs",
    "tests/support/client.rs",
];

/// How tests without accounts come by their client, and how with a database of PostgreSQL.
const OPEN_CLIENT: (&str, &str) = (
    "fn client() -> Client {\n    Client::new(app())\n}\n",
    "#[path = \"support/client.rs\"]\nmod support;\n\nuse support::client;\n",
);

/// How a browser's test comes by its server, and how with a database of PostgreSQL.
const SERVER: (&str, &str) = (
    "Server::for_test(app).start().unwrap();",
    "Server::for_test(app)\n        .fix(\"database\", support::database())\n        .start()\n        .unwrap();",
);
const LAST_USE: &str = "use skep_server::Server;\n";

/// The same in the support of tests with accounts.
const VISITOR: &str = "    Client::new(app())\n";

impl Wanted {
    /// Path and text of each, but for `Cargo.toml` and its lock.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let (pages, own) = match (self.api, self.sign_in) {
            (true, _) => (API, &[][..]),
            (false, true) => (PAGES, MEMBERS),
            (false, false) => (PAGES, OPEN),
        };
        let files = deployment::FILES
            .iter()
            .chain([&IGNORED])
            .chain(COMMON)
            .chain(pages)
            .chain(own)
            .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        let mut files: Vec<(String, String)> = files.collect();
        if self.sign_in {
            let readme = files.iter_mut().filter(|(file, _)| file == "README.md");
            readme.for_each(|(_, text)| *text = text.replace(NOTES_ROW, &format!("{NOTES_ROW}{ACCOUNT_ROWS}")));
        }
        if self.postgres {
            self.move_to_postgres(&mut files);
        }
        files.into_iter().map(|(file, text)| (file.replace("starter", &self.name), self.named(&file, &text))).collect()
    }

    /// Other migrations, with the lock file of the statements; tests and CI with a server.
    fn move_to_postgres(&self, files: &mut Vec<(String, String)>) {
        files.retain(|(file, _)| !file.starts_with("migrations/"));
        let add = |file: &str, text: &str| (file.to_owned(), text.to_owned());
        files.push(add("migrations/postgres/0001_note.sql", include_str!("postgres/0001_note.sql")));
        let support = include_str!("postgres/support.rs.txt");
        if self.sign_in {
            files.push(add("migrations/postgres/0002_account.sql", include_str!("postgres/0002_account.sql")));
            files.push(add("migrations/postgres/sql.lock", include_str!("postgres/members.lock")));
        } else {
            let api = include_str!("postgres/notes-api.lock");
            let lock = if self.api { api } else { include_str!("postgres/starter.lock") };
            files.push(add("migrations/postgres/sql.lock", lock));
            files.push(add("tests/support/client.rs", support));
        }
        let opened =
            support.split_once("client() -> Client {\n").map_or("", |(_, opened)| opened.trim_end_matches("}\n"));
        for (file, text) in files {
            deployment::add_postgres(file, text);
            match file.as_str() {
                "tests/notes.rs" => {
                    *text = text.replace("use starter::app;\n", "").replace("use notes_api::app;\n\n", "");
                    *text = text.replace(OPEN_CLIENT.0, OPEN_CLIENT.1);
                }
                "tests/browser.rs" => {
                    *text = text.replace(SERVER.0, SERVER.1);
                    *text =
                        text.replace(LAST_USE, &format!("{LAST_USE}\n#[path = \"support/client.rs\"]\nmod support;\n"));
                }
                "tests/support/client.rs" if self.sign_in => {
                    *text = text.replace(VISITOR, opened);
                    *text = text.replace("TestResponse};\n", "TestResponse};\nuse skep::{Secret, Setup};\n");
                    *text = text.replace("/// A password.", &format!("{}/// A password.", database(support)));
                }
                "skep.toml" => text.push_str(include_str!("postgres/skep.toml")),
                "README.md" => {
                    *text = text.replace(SQLITE_ROW, POSTGRES_ROW).replace(AFTER, &format!("{AFTER}{POSTGRES_TESTS}"));
                }
                _ => {}
            }
        }
    }

    /// The text of a file with the name of this application in it.
    fn named(&self, file: &str, text: &str) -> String {
        named(&self.name, self.skep.to_str().unwrap_or(CLONE), file, text)
    }
}

/// The constant with the address for tests, and the function that returns it.
fn database(support: &str) -> String {
    let lines = support.lines().skip_while(|line| !line.starts_with("/// Of a user"));
    lines.take_while(|line| *line != "/// A browser.").flat_map(|line| [line, "\n"]).collect()
}

const NOTES_ROW: &str = "| `src/note.rs` | the notes |\n";
const ACCOUNT_ROWS: &str = "\
| `src/account.rs` | who may sign in, and how the pages for that look; in development, their mails are in the log |
";

const SQLITE_ROW: &str = "the database, which is `data/database.sqlite`; migrations are in the executable, too";
const POSTGRES_ROW: &str =
    "the database, and what PostgreSQL says of each statement (`sql.lock`); migrations are in the executable, too";
const AFTER: &str = "cargo test\n```\n";
const POSTGRES_TESTS: &str = "
`createdb starter` makes the database that `skep.toml` names. Tests make their own with the user of `TEST_DATABASE`. After a change of a
statement or a migration, `skep sql check` has PostgreSQL look at all of them.
";
