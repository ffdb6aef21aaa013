//! `skep compile`, and code that is kept.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use skep_client::wait_until;

use super::Test;
use super::guests;
use super::server::{Folder, STRICT, Server, refused, run};

pub(crate) const TESTS: &[Test] = &[
    ("compiled_code_runs_without_the_component", compiled),
    ("a_compiled_application_has_its_database", database),
    ("a_compiled_blog_has_its_articles", blog),
    ("compiled_code_of_another_format_is_named", other_format),
    ("the_error_says_why_a_component_cannot_be_compiled", not_compiled),
    ("compiled_code_that_others_may_write_is_not_run", not_trusted),
    ("code_is_kept_and_found_again", kept),
    ("a_version_serves_before_it_is_optimised", baseline),
];

fn compiled() {
    let folder = Folder::new();
    let out = folder.0.join("app.cwasm");
    let out = out.to_str().unwrap();
    let guest = guests::with_init();
    let (well, text) = run("compile", &[guest.to_str().unwrap(), "-o", out]);
    assert!(well && text.contains("start-up code in its image"), "{text}");
    let server = Server::start(&[out]);
    assert_eq!(server.text("/table?3"), "ready value 3");
    assert_eq!(server.text("/counts"), "static 1 local 1");
    assert_eq!(server.text("/counts"), "static 1 local 1");
    let (well, text) = run("compile", &[out]);
    assert!(!well && text.contains("is compiled already"), "{text}");
    // Its file is not ours: written in place while it runs, it changes nothing.
    fs::File::options().write(true).open(out).unwrap().set_len(0).unwrap();
    assert_eq!(server.text("/counts"), "static 1 local 1");
    assert_eq!(server.text("/table?4"), "ready value 4");
    drop(server);
    assert!(run("compile", &[guest.to_str().unwrap(), "-o", out]).0);
    let text = refused(&[out, "--fuel", "1000"]);
    assert!(text.contains("was compiled for another engine"), "{text}");
}

fn compile(out: &Path, component: &Path, more: &[&str]) {
    let (out, component) = (out.to_str().unwrap(), component.to_str().unwrap());
    let (well, text) = run("compile", &[&[component, "-o", out], more].concat());
    assert!(well && text.contains("start-up code in its image"), "{text}");
}

/// What start-up code did to the database that went away, it does to the one that stays.
fn database() {
    let folder = Folder::new();
    let out = folder.0.join("app.cwasm");
    compile(&out, &guests::application("skep-isolate-app"), &[]);
    let out = out.to_str().unwrap();
    let data = folder.0.join("data");
    let (well, text) = run("serve", &[out, "--check", "--data", data.to_str().unwrap(), "--probe", "/notes"]);
    assert!(well && !data.join("app").exists(), "it only looks: {text}");
    let arguments = [out, "--data", data.to_str().unwrap(), "--probe", "/notes", "--status", "/-/isolate"];
    let server = Server::start(&arguments);
    assert!(server.text("/notes").contains("first"), "{}", server.text("/notes"));
    assert_eq!(server.ask("POST", "/notes/a/keep", "x", "").unwrap().status, 200);
    assert!(server.text("/-/isolate").contains("start-up code in its image"));
    assert!(!server.log().contains("start-up code has read another"), "{}", server.log());
    drop(server);
    // It is there at the next start, whose settings are others.
    let server = Server::start(&[&arguments[..], &["--env", "SKEP_LIMIT_PAGE=9000000"]].concat());
    let notes = server.text("/notes");
    assert!(notes.contains("first") && notes.contains("a, again"), "{notes}");
    server.wait_for("start-up code has read another SKEP_LIMIT_PAGE where this file was compiled");
    // Another application's migrations do not belong to this database, and change nothing.
    let blog = folder.0.join("b.cwasm");
    fs::copy(&compiled_blog().1, &blog).unwrap();
    fs::rename(blog, out).unwrap();
    server.wait_for("start-up code failed: the application does not start: ");
    assert_eq!(server.text("/notes").lines().next(), notes.lines().next());
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/blog")
}

fn lent(files: &Path) -> String {
    format!("{}::/data", files.display())
}

/// With their times, as a deployment does.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap().path();
        let there = to.join(file.file_name().unwrap());
        fs::copy(&file, &there).unwrap();
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        fs::File::options().append(true).open(there).unwrap().set_modified(modified).unwrap();
    }
}

/// The blog, compiled once for all tests, and the folder with the files that it had then.
fn compiled_blog() -> &'static (PathBuf, PathBuf) {
    static COMPILED: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    COMPILED.get_or_init(|| {
        // A static is never dropped, which would remove a temporary folder.
        let folder = guests::target().join("compiled");
        let _ = fs::remove_dir_all(&folder);
        let (files, out) = (folder.join("files"), folder.join("blog.cwasm"));
        copy(&examples().join("articles"), &files.join("articles"));
        compile(&out, &guests::application("blog"), &["--dir", &lent(&files)]);
        (files, out)
    })
}

/// It keeps in memory what it has seen of its folder, and in the database what was in it.
fn blog() {
    let folder = Folder::new();
    let component = guests::application("blog");
    let (well, text) = run("compile", &[component.to_str().unwrap(), "-o", "never.cwasm"]);
    assert!(!well && text.contains("start-up code failed: the application does not start: /data/articles: "), "{text}");
    assert!(text.contains("lend start-up code a folder with the files that it wants, --dir DIR::/data"), "{text}");
    assert!(text.lines().count() == 1 && text.matches("does not start").count() == 1, "{text}");
    let (files, out) = compiled_blog();
    let (data, out) = (folder.0.join("data"), out.to_str().unwrap());
    copy(&files.join("articles"), &data.join("blog/files/articles"));
    // The very files, whose times the image knows; and no files, of which the blog makes its own.
    let elsewhere = folder.0.join("elsewhere");
    for data in [&data, &elsewhere] {
        let server = Server::start(&[out, "--data", data.to_str().unwrap()]);
        assert!(server.text("/").contains("/writings/"), "{}: {}", data.display(), server.text("/"));
        let found = server.text("/writings/measure-first");
        assert!(found.contains("</article>") || found.contains("<h1"), "{found}");
    }
    // A file that appears while it runs is an article.
    let server = Server::start(&[out, "--data", elsewhere.to_str().unwrap()]);
    let known = fs::read_to_string(examples().join("articles/measure-first.md")).unwrap();
    fs::write(elsewhere.join("blog/files/articles/another-one.md"), known).unwrap();
    wait_until(|| server.log(), || server.get("/writings/another-one").status == 200);
}

fn other_format() {
    let folder = Folder::new();
    let out = folder.0.join("app.cwasm");
    let guest = guests::plain();
    assert!(run("compile", &[guest.to_str().unwrap(), "-o", out.to_str().unwrap()]).0);
    let whole = fs::read(&out).unwrap();
    let code = whole.windows(4).position(|bytes| bytes == b"\x7fELF").unwrap();
    let mut newer = whole.clone();
    newer[8] += 1;
    for (content, why) in [
        (
            &whole[code..],
            "is machine code of another tool, or of an earlier version of skep: `skep compile` the component again",
        ),
        (&whole[..whole.len() / 2], "is not complete: `skep compile` the component again"),
        (&newer, "(format 2), and this is skep"),
        (&[&whole[..whole.len() - 1], b"x"].concat(), "is damaged (its checksum is wrong)"),
    ] {
        let text = refused(&[folder.write("other.cwasm", content).to_str().unwrap()]);
        assert!(text.contains("other.cwasm: ") && text.contains(why), "{why}: {text}");
    }
}

fn not_compiled() {
    let folder = Folder::new();
    let guest = guests::plain();
    let guest = guest.to_str().unwrap();
    let module = folder.write("module.wasm", wat::parse_str("(module)").unwrap());
    let text = folder.write("app.wat", "(component)");
    let missing = folder.0.join("missing/app.cwasm");
    let cases: &[(&[&str], &str)] = &[
        (&["--memory", "1MiB"], "name the component first: skep compile app.wasm"),
        (&["no-such-file.wasm"], "no-such-file.wasm: cannot be read: No such file"),
        (&[module.to_str().unwrap()], "module.wasm: is a core module, and not a component"),
        (&[text.to_str().unwrap()], "app.wat: is WebAssembly as text; `wasm-tools parse"),
        (&[guest, "--time", "5s"], "--time is a setting of `skep serve`: compiled code does not depend on it"),
        (&[guest, "--status", "/x"], "--status is a setting of `skep serve`"),
        (&[guest, "--memory", "lots"], "--memory: component.memory = \"lots\": expected a size"),
        (&[guest, "-o"], "-o needs a path"),
        (&[guest, "--optimise"], "there is no flag --optimise"),
        (&[guest, "-o", missing.to_str().unwrap()], "missing/app.cwasm cannot be written: No such file"),
    ];
    for (arguments, why) in cases {
        let (well, text) = run("compile", arguments);
        assert!(!well && text.contains(why), "{arguments:?}: {text}");
    }
    let start = guests::with_init();
    let (well, text) = run("compile", &[start.to_str().unwrap(), "--env", "INIT=time", "-o", "never.cwasm"]);
    assert!(!well && text.contains("start-up code asked for the time"), "{text}");
    for (how, why) in [
        ("INIT=fail", "start-up code failed: the application does not start: it does not like this machine\n"),
        ("INIT=panic", "no way to start; wasm trap: wasm `unreachable` instruction executed, in function "),
    ] {
        let (well, text) = run("compile", &[start.to_str().unwrap(), "--env", how, "-o", "never.cwasm"]);
        assert!(!well && text.contains(why), "{how}: {text}");
        assert!(!text.to_lowercase().contains("backtrace") && text.lines().count() == 1, "{how}: {text}");
    }
}

fn not_trusted() {
    let folder = Folder::new();
    let out = folder.0.join("app.cwasm");
    let guest = guests::plain();
    assert!(run("compile", &[guest.to_str().unwrap(), "-o", out.to_str().unwrap()]).0);
    fs::set_permissions(&out, fs::Permissions::from_mode(0o666)).unwrap();
    let text = refused(&[out.to_str().unwrap()]);
    assert!(
        text.contains("is machine code, which is not run unless it is sure whose it is: others may write it"),
        "{text}"
    );
}

fn baseline() {
    let folder = Folder::new();
    let (cache, second) = (folder.0.join("cache"), folder.0.join("second"));
    let (once, guest) = ("not optimised yet", guests::with_init());
    let with = |cache: &Path, more: &[&str]| {
        let arguments = [guest.to_str().unwrap(), "--compile-cache", cache.to_str().unwrap()];
        Server::start(&[&arguments[..], STRICT, more].concat())
    };
    let server = with(&cache, &["--baseline", "true"]);
    let begun = Instant::now();
    // Whatever code it is, and while one takes the other's place.
    let mut asked = 0;
    while asked == 0 || server.text("/-/isolate").contains(once) {
        assert_eq!(server.text("/table?7"), "ready value 7");
        asked += 1;
        assert!(begun.elapsed() < Duration::from_mins(2), "it is never optimised: {}", server.log());
    }
    server.wait_for("optimised");
    // An answer may be here before it is counted.
    let all = format!("requests: {asked} succeeded, 0 failed");
    while !server.text("/-/isolate").contains(&all) {
        assert!(begun.elapsed() < Duration::from_mins(2), "never {all}: {}", server.text("/-/isolate"));
    }
    assert!(server.text("/-/isolate").contains("swaps: 0") && !server.log().contains("not optimised"));
    drop(server);
    // Who starts again has the code of before; and who wants no other waits for it.
    for (cache, more) in [(&cache, &["--baseline", "true"][..]), (&second, &[])] {
        let server = with(cache, more);
        assert!(!server.text("/-/isolate").contains(once));
        assert_eq!(server.text("/table?7"), "ready value 7");
        assert!(!server.log().contains("optimised"), "{}", server.log());
    }
}

fn kept() {
    let folder = Folder::new();
    let cache = folder.0.join("cache");
    let guest = guests::plain();
    let arguments = [guest.to_str().unwrap(), "--compile-cache", cache.to_str().unwrap()];
    Server::start(&arguments).wait_for("ready");
    let files = code_in(&cache);
    assert_eq!(files.len(), 1);
    let about = || files.iter().map(|file| fs::metadata(file).unwrap()).collect::<Vec<_>>();
    let made = about();
    let server = Server::start(&arguments);
    assert_eq!(server.text("/"), "one");
    // They are the files that they were, and are known to be of use.
    for (now, made) in about().iter().zip(&made) {
        assert_eq!(now.ino(), made.ino(), "it was not compiled again");
        assert!(now.modified().unwrap() > made.modified().unwrap());
    }
    drop(server);
    for file in &files {
        // Somebody else could have written it: it is compiled again and replaced.
        fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
        let server = Server::start(&arguments);
        server.wait_for("compiled code is not used: others may write it");
        assert_eq!(server.text("/"), "one");
        let begun = Instant::now();
        while fs::metadata(file).unwrap().permissions().mode() & 0o777 != 0o600 {
            assert!(begun.elapsed() < Duration::from_mins(1), "{}", server.log());
        }
        drop(server);
        // A broken file is compiled again, too.
        fs::write(file, b"\x7fELF nonsense").unwrap();
        assert_eq!(Server::start(&arguments).text("/"), "one");
    }
}

fn code_in(cache: &Path) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(cache).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "cwasm")).collect()
}
