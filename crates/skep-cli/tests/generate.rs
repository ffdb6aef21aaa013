//! `skep gen` as a whole.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn skep(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skep")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// An application, with a table that others refer to.
fn shop() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let made = skep(folder.path(), &["new", "shop"]);
    assert!(made.status.success(), "{made:?}");
    let shop = folder.path().join("shop");
    let account = "create table account (id integer primary key autoincrement, name text not null) strict;\n";
    fs::write(shop.join("migrations/0002_account.sql"), account).unwrap();
    (folder, shop)
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap().flatten().filter(|entry| entry.file_name() != "target") {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push((path.clone(), fs::read(&path).unwrap())) }
    }
    found.sort();
    found
}

/// What `--dry-run` shows is what is written. With `GENERATED=overwrite` in the environment, the expected texts are.
#[test]
fn what_is_generated_is_as_expected() {
    let (_folder, shop) = shop();
    let before = files(&shop);
    for (name, line) in [
        ("scaffold", "scaffold post title:text body:lines published:date? author:account"),
        ("numbers", "scaffold blog_entry size:real done:bool visits:integer? writer:account?"),
        ("table", "table post title:text published:date? author:account"),
        ("service", "service report GET /reports/{year}/{id}"),
        ("form", "form contact name:text reply:email day:date? text:lines"),
        ("mail", "mail welcome name:text visits:integer"),
        ("job", "job clean_up older:date author:account?"),
        ("topic", "topic chat text:text done:bool note:lines?"),
    ] {
        let words: Vec<&str> = ["gen"].into_iter().chain(line.split(' ')).chain(["--dry-run"]).collect();
        let shown = skep(&shop, &words);
        assert!(shown.status.success(), "{line}: {}", text(&shown.stderr));
        let shown = text(&shown.stdout).replace(env!("CARGO_MANIFEST_DIR"), "skep/crates/skep-cli");
        let shown =
            shown.replace(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_str().unwrap(), "skep/crates");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/generated/{name}.diff"));
        if std::env::var_os("GENERATED").is_some() {
            fs::write(&file, &shown).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        assert!(shown == expected, "{line}: is not {}, but\n{shown}", file.display());
    }
    assert!(files(&shop) == before, "a dry run has written something");
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_written() {
    let (folder, shop) = shop();
    let before = files(&shop);
    for (line, says) in [
        ("scaffold posts title:text", "did you mean `post`?"),
        ("service reports GET /notes/{number}", "src/note.rs has a service at GET /notes/{number} already"),
        ("mail welcome name:text?", "leave the ? out"),
        ("service client", "is the name of something that is there"),
        ("job outcome", "is the name of something that is there"),
        ("scaffold post title:string", "did you mean `title:text`?"),
        ("scaffold post author:acount", "did you mean `author:account`?"),
        ("scaffold post", "a post needs fields, such as title:text"),
        ("scaffold note title:text", "the migrations make a table \"note\" already"),
        ("scaffold order title:text", "a word of SQL"),
        ("scaffold layout title:text", "is the name of something that is there"),
        ("service note", "src/note.rs is there already, and nothing is overwritten"),
        ("service report FETCH", "is no method and no path"),
        ("form contact author:account", "no rows to choose from"),
        ("table ../x title:text", "is not the name of a table"),
    ] {
        let words: Vec<&str> = ["gen"].into_iter().chain(line.split(' ')).collect();
        let refused = skep(&shop, &words);
        let is_usage =
            ["did you mean `title", "did you mean `author", "needs fields", "something that is", "is not the name"];
        let code = if is_usage.iter().any(|usage| says.contains(usage)) { 2 } else { 1 };
        assert_eq!(refused.status.code(), Some(code), "{line}");
        assert!(text(&refused.stderr).contains(says), "{line}: {}", text(&refused.stderr));
    }
    assert!(files(&shop) == before);
    let refused = skep(folder.path(), &["gen", "table", "post", "title:text"]);
    assert!(text(&refused.stderr).contains("there is no Cargo.toml here"), "{}", text(&refused.stderr));
    let refused = skep(&shop, &["gen", "table", "post", "title:text", "--manifest-path", "src/Cargo.toml"]);
    assert!(text(&refused.stderr).contains("there is no src/Cargo.toml"), "{}", text(&refused.stderr));
    let library = fs::read_to_string(shop.join("src/lib.rs")).unwrap();
    fs::write(shop.join("src/lib.rs"), library.replace(".database(migrations!(\"migrations\"))", "")).unwrap();
    for line in ["scaffold post title:text", "table post title:text", "job clean_up"] {
        let words: Vec<&str> = ["gen"].into_iter().chain(line.split(' ')).collect();
        let refused = skep(&shop, &words);
        assert!(text(&refused.stderr).contains("add the line `.database("), "{line}: {}", text(&refused.stderr));
    }
}

/// With a shop that has no table of accounts yet.
#[test]
fn accounts_and_a_deployment_are_as_skep_new_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    assert!(skep(folder.path(), &["new", "shop"]).status.success());
    let shop = folder.path().join("shop");
    let before = files(&shop);
    let refused = skep(&shop, &["gen", "deploy"]);
    assert!(text(&refused.stderr).contains("all files are there"), "{refused:?}");
    fs::remove_dir_all(shop.join("deploy")).unwrap();
    fs::remove_file(shop.join("Dockerfile")).unwrap();
    let made = skep(&shop, &["gen", "deploy"]);
    assert!(made.status.success() && text(&made.stdout).contains("ci.yml: there already"), "{made:?}");
    assert!(files(&shop) == before);
    let taken = shop.join("src/form.rs");
    fs::write(&taken, "#[derive(Service)]\n#[service(POST \"/sign-out\")]\nstruct Leave;\n").unwrap();
    let refused = skep(&shop, &["gen", "sign-in", "--dry-run"]);
    assert!(text(&refused.stderr).contains("a service at POST /sign-out already"), "{refused:?}");
    fs::remove_file(&taken).unwrap();
    let shown = skep(&shop, &["gen", "sign-in", "--dry-run"]);
    let shown = text(&shown.stdout);
    for file in ["migrations/0002_account.sql", "src/account.rs", "tests/sign_in.rs"] {
        assert!(shown.contains(&format!("+++ b/{file}\n")), "{file}: {shown}");
    }
    assert!(shown.contains("+skep-people = ") && shown.contains("account::AccountPage"), "{shown}");
    assert_eq!(skep(&shop, &["gen", "deploy", "all"]).status.code(), Some(2));
    assert!(skep(folder.path(), &["new", "club", "--sign-in"]).status.success());
    let refused = skep(&folder.path().join("club"), &["gen", "sign-in"]);
    assert!(text(&refused.stderr).contains("there is a way to sign in already"), "{refused:?}");
}

#[test]
fn nobody_chooses_who_they_are() {
    let folder = tempfile::tempdir().unwrap();
    assert!(skep(folder.path(), &["new", "shop", "--sign-in"]).status.success());
    let refused = skep(&folder.path().join("shop"), &["gen", "scaffold", "post", "title:text", "author:account"]);
    let said = text(&refused.stderr);
    assert!(said.contains("leave it out") && said.contains("author: Signed<Account>"), "{said}");
}

/// As a field: a prefix would be guarded with all that is there already and comes later.
#[test]
fn a_service_has_the_guard_that_all_must_have() {
    let folder = tempfile::tempdir().unwrap();
    assert!(skep(folder.path(), &["new", "shop", "--sign-in"]).status.success());
    for line in ["service report GET /{year}", "form contact name:text"] {
        let words: Vec<&str> = ["gen"].into_iter().chain(line.split(' ')).chain(["--dry-run"]).collect();
        let shown = skep(&folder.path().join("shop"), &words);
        let shown = text(&shown.stdout);
        assert!(shown.contains("+    #[guard]\n+    _account: Signed<Account>,\n"), "{shown}");
        assert!(shown.contains("+use skep_people::Signed;\n+\n+use crate::account::Account;\n"), "{shown}");
        assert!(!shown.contains("+        .guard::<"), "{shown}");
        assert_eq!(shown.contains("+fn a_visitor_is_refused()"), line.starts_with("service"), "{shown}");
    }
}

/// An application whose `skep` is an empty crate, so that nothing which is generated compiles.
fn empty() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    write("skep/Cargo.toml", &package("skep"));
    write("skep/src/lib.rs", "");
    write("app/Cargo.toml", &format!("{}[dependencies]\nskep = {{ path = \"../skep\" }}\n", package("app")));
    write("app/src/lib.rs", LIBRARY);
    write("app/src/layout.rs", "");
    write("app/build.rs", BUILD);
    let app = folder.path().join("app");
    assert!(
        Command::new(env!("CARGO")).args(["check", "-q", "--offline"]).current_dir(&app).status().unwrap().success()
    );
    (folder, app)
}

/// Compiled without what only the real `skep` has.
const LIBRARY: &str =
    "mod layout;\n#[cfg(any())]\nfn app() { App::new().database(migrations!(\"migrations\")).serve(services![]) }\n";

/// Says to a test that it is compiled, and waits until the test ends.
const BUILD: &str = "fn main() {
    if let Some(path) = std::env::var_os(\"BUILD_SOCKET\") {
        let mut socket = std::os::unix::net::UnixStream::connect(path).unwrap();
        let _ = std::io::Read::read(&mut socket, &mut [0]);
    }
}
";

#[test]
fn what_does_not_compile_is_taken_back() {
    let (_folder, app) = empty();
    let before = files(&app);
    let refused = skep(&app, &["gen", "table", "post", "title:text"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains("src/post.rs") && said.contains("all files are as they were"), "{said}");
    assert!(files(&app) == before && !app.join("migrations").exists());
}

#[test]
fn what_is_interrupted_is_taken_back_but_for_what_was_saved_meanwhile() {
    let (_folder, app) = empty();
    let before = files(&app);
    let socket = UnixListener::bind(app.parent().unwrap().join("socket")).unwrap();
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skep"));
        command.args(["gen", "table", "post", "title:text"]).current_dir(&app);
        command.env("BUILD_SOCKET", app.parent().unwrap().join("socket")).env("CARGO_NET_OFFLINE", "true");
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let building = socket.accept().unwrap();
        assert!(app.join("migrations/0001_post.sql").exists());
        if signal == "-HUP" {
            fs::write(app.join("src/lib.rs"), "// Mine.\n").unwrap();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        // Its standard error is that of the build script, too, which therefore has to end.
        drop(building);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(1), "{signal}: {ended:?}");
        let said = text(&ended.stderr);
        assert!(said.contains("interrupted"), "{signal}: {said}");
        assert_eq!(said.contains("src/lib.rs was changed meanwhile"), signal == "-HUP", "{said}");
    }
    assert_eq!(fs::read_to_string(app.join("src/lib.rs")).unwrap(), "// Mine.\n");
    fs::write(app.join("src/lib.rs"), LIBRARY).unwrap();
    assert!(files(&app) == before);
}

#[test]
fn no_migration_is_written_while_a_server_runs() {
    let (_folder, app) = empty();
    let before = files(&app);
    fs::create_dir(app.join("data")).unwrap();
    let server = UnixListener::bind(app.join("data/control")).unwrap();
    let refused = skep(&app, &["gen", "table", "post", "title:text"]);
    assert!(text(&refused.stderr).contains("a server of this application listens"), "{refused:?}");
    drop(server);
    fs::remove_dir_all(app.join("data")).unwrap();
    assert!(files(&app) == before);
}

/// Applications as their authors make them, built and tested.
struct Author {
    /// The address of a PostgreSQL, for those that need one.
    database: Option<String>,
}

impl Author {
    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        // One for all: the framework is compiled once.
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/new");
        command.current_dir(folder).env("CARGO_TARGET_DIR", target);
        command.envs(self.database.iter().map(|address| ("TEST_DATABASE", address)));
        command
    }

    /// `skep new` with these flags, every generator, and then what CI of the application runs.
    fn generate_all(&self, flags: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let made = skep(folder.path(), &[&["new", "shop"], flags].concat());
        assert!(made.status.success(), "{made:?}");
        let shop = folder.path().join("shop");
        for line in [
            "scaffold author name:text email:email?",
            "scaffold post title:text body:lines published:date? done:bool author:author size:real",
            "scaffold visit begun:datetime until:time? guests:integer? site:url? guest:author? post:post",
            "table hive name:text author:author? frames:integer",
            "service report GET /reports/{year}",
            "service ping POST",
            "form contact name:text reply:email day:date? text:lines news:bool",
            "mail welcome name:text visits:integer",
            "job clean_up older:date author:author?",
            "topic chat text:text done:bool day:date? note:lines? number:integer",
            "sign-in",
        ] {
            if line == "sign-in" && flags.contains(&"--sign-in") {
                continue;
            }
            let words: Vec<&str> = ["gen"].into_iter().chain(line.split(' ')).collect();
            let done = self.command(env!("CARGO_BIN_EXE_skep"), &shop).args(words).output().unwrap();
            assert!(done.status.success(), "{flags:?} {line}: {}{}", text(&done.stdout), text(&done.stderr));
        }
        for line in ["fmt --check", "clippy --quiet --all-targets -- -D warnings", "test --quiet"] {
            let status = self.command(env!("CARGO"), &shop).args(line.split(' ')).status().unwrap();
            assert!(status.success(), "{flags:?}: cargo {line}");
        }
        let routes = self.command(env!("CARGO_BIN_EXE_skep"), &shop).arg("routes").output().unwrap();
        assert!(text(&routes.stdout).contains("  src/visit.rs:"), "{routes:?}");
    }
}

mod long {
    use super::Author;

    #[test]
    #[ignore = "takes minutes: the framework is compiled again"]
    fn what_is_generated_passes_its_own_tests_and_clippy() {
        let author = Author { database: None };
        author.generate_all(&[]);
        author.generate_all(&["--sign-in"]);
    }

    #[test]
    #[ignore = "needs PostgreSQL, and takes minutes"]
    fn what_is_generated_for_postgres_does_so_too() {
        let cluster = skep_cluster::Cluster::start();
        let author = Author { database: Some(cluster.address()) };
        author.generate_all(&["--postgres"]);
        author.generate_all(&["--postgres", "--sign-in"]);
    }
}
