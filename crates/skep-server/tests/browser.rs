//! The driver for Chromium (`skep::test::Browser`): what it finds, waits for, and fails for.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::json;
use skep::html::Trusted;
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Migrations, query};
use skep::test::{Browser, Client};
use skep_server::{Running, Server};

#[derive(Service)]
#[service(GET "/")]
struct Index;

impl Handle for Index {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" {
                head { title { "Hives" } style { (Trusted(STYLE)) } }
                body {
                    h1 { "Hives" }
                    nav {
                        a href=(Register) { "Register" }
                        " "
                        a href="#here" { "Here" }
                        " "
                        a href=(Broken) { "Broken" }
                    }
                    p id="here" hidden { "hidden" }
                    (Trusted(BUTTONS))
                    script { (Trusted(SCRIPT)) }
                }
            }
        }))
    }
}

const BUTTONS: &str = r#"
<button>Later</button> <p id=late hidden>It is late.</p> <button>Go</button> <button>Sure</button>
<button>Fetch</button> <button>Throw</button> <button>Log</button>
<button disabled>Off</button> <button>Twice</button> <button>Twice</button>
<div class=box><button>Under</button><div class=lid></div></div>
<p class=through><button>Over</button></p>
<a href="data:text/plain,7" download=skep-test-seven.txt>Download</a>
<p class=long></p> <button><b>Far</b>  down</button>"#;

const STYLE: &str = ".box { position: relative } .lid { position: absolute; inset: 0 } .long { height: 3000px }
    .through > * { pointer-events: none }";

/// What happens some time after a click, or goes wrong.
const SCRIPT: &str = "
    const actions = {
        'Later': () => setTimeout(() => { late.hidden = false }, 60),
        'Go': () => setTimeout(() => { location = '/register' }, 60),
        'Sure': () => { document.title = confirm('Sure?') },
        'Far down': () => { document.title = 'found' },
        'Fetch': () => fetch('/nowhere'),
        'Throw': () => nothing.at.all(),
        'Log': () => console.error('a', 7),
    };
    document.addEventListener('click', (event) => actions[event.target.closest('button')?.innerText.trim()]?.());";

#[derive(Service)]
#[service(GET "/register")]
struct Register;

impl Handle for Register {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" { head { title { "Register" } meta name="description" content="x"; } body { h1 { "Register" } (Trusted(FORM)) } }
        }))
    }
}

const FORM: &str = r#"<form method=get action="/done">
<label>Name <input name=name value="before"></label>
<label for=about>About</label> <textarea id=about name=about></textarea>
<label>Day <input type=date name=day></label> <label>Level <select name=level><option value=1>New</option><option value=2>Old hand</option></select></label>
<label><input type=checkbox name=news> News</label> <label>Picture <input type=file name=picture></label>
<input placeholder="Search" name=q> <button>Send</button></form>
<input type=hidden name=token> <input name=unseen hidden> <button name=action>Act</button>"#;

#[derive(Service)]
#[service(GET "/done")]
struct Done;

impl Handle for Done {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        // A test that did not wait for the page would still see the one before.
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" { head { title { "Done" } } body { h1 { "Done" } } }
        }))
    }
}

#[derive(Service)]
#[service(GET "/broken")]
struct Broken;

impl Handle for Broken {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Err(Error::internal("it is broken"))
    }
}

/// Fails after some work.
#[derive(Service)]
#[service(GET "/mistake/{slug}")]
struct Mistake {
    slug: String,
}

impl Handle for Mistake {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        const SEEN: Key<String> = Key::new("seen");
        cx.session().set(&SEEN, &self.slug).await?;
        for number in 0..12 {
            cx.db()
                .execute(query("select ? as number, 'a longer text than fits into a small window' as text", number))
                .await?;
        }
        tracing::warn!(slug = self.slug, "about to fail");
        let title: Option<(String,)> = cx.db().one(query("select title from post where slug = ?", &self.slug)).await?;
        Ok(Response::text(title.or_404()?.0))
    }
}

fn app() -> App {
    App::new().serve(services![Index, Register, Done, Broken, Mistake]).database(Migrations::NONE)
}

fn open(path: &str) -> (Running, Browser) {
    let server = Server::for_test(app).start().unwrap();
    let browser = Browser::open(server.url());
    browser.visit(path);
    (server, browser)
}

/// The text with which a test fails.
fn failure(test: impl FnOnce()) -> String {
    let failed = catch_unwind(AssertUnwindSafe(test)).expect_err("it fails");
    *failed.downcast::<String>().unwrap()
}

#[test]
fn a_click_waits_for_the_page_to_which_it_leads() {
    let (_server, browser) = open("/");
    browser.click("Register");
    assert_eq!((browser.path().as_str(), browser.text("h1").as_str()), ("/register", "Register"));
    browser.click("Send");
    assert_eq!(browser.text("h1"), "Done");
    // A place in the same page, which is not loaded again.
    browser.visit("/");
    browser.evaluate("window.same = 1");
    browser.click("Here");
    assert_eq!(browser.evaluate("[location.hash, window.same]"), json!(["#here", 1]));
    browser.visit(&format!("{}#here", Index.url()));
    assert_eq!(browser.evaluate("window.same"), json!(1));
    browser.click("Go");
    browser.wait_for("form");
    assert_eq!(browser.text("h1"), "Register");
}

#[test]
fn what_comes_late_is_waited_for_and_dialogs_are_accepted() {
    let (_server, browser) = open("/");
    browser.click("Later");
    browser.wait_for_text("It is  late.");
    browser.wait_for("#late");
    browser.click("Sure");
    browser.wait_until("document.title === 'true'");
    browser.click("Far down");
    assert_eq!(browser.evaluate("document.title"), json!("found"));
    assert_eq!(browser.evaluate("Promise.resolve({ a: [1] })"), json!({ "a": [1] }));
}

#[test]
fn a_field_of_each_kind_is_filled_in() {
    let (_server, browser) = open("/register");
    let picture = std::env::current_exe().unwrap();
    browser.fill_in("Name", "Ann \u{e9}");
    browser.fill_in("About", "One\nTwo");
    browser.fill_in("day", "2026-11-21");
    browser.fill_in("Level", "Old hand");
    browser.fill_in("Search", "wax");
    browser.fill_in("[type=file]", picture.to_str().unwrap());
    browser.click("News");
    let name = picture.file_name().unwrap().to_str().unwrap();
    assert_eq!(browser.evaluate("document.querySelector('[type=file]').files[0].name"), json!(name));
    browser.press("Tab");
    browser.click("[name=q]");
    browser.press("Enter");
    assert_eq!(browser.text("h1"), "Done");
    let sent = "Object.fromEntries(new URLSearchParams(location.search))";
    let expected = json!({
        "name": "Ann \u{e9}", "about": "One\r\nTwo", "day": "2026-11-21", "level": "2", "news": "on", "picture": name,
        "q": "wax",
    });
    assert_eq!(browser.evaluate(sent), expected);
    browser.visit("/register");
    browser.fill_in("Name", "");
    assert_eq!(browser.evaluate("document.querySelector('[name=name]').value"), json!(""));
}

#[test]
fn problems_of_pages_fail_a_test_that_does_not_take_them() {
    for (button, expected) in
        [("Fetch", "404"), ("Throw", "ReferenceError"), ("Log", "console.error: a 7"), ("Broken", "500")]
    {
        let text = failure(|| {
            let (_server, browser) = open("/");
            browser.click(button);
            browser.evaluate("fetch('/').then(() => 1)");
        });
        assert!(text.contains(expected), "{button}: {text}");
    }
    let (_server, browser) = open("/broken");
    let problems = browser.take_problems();
    assert!(problems.len() == 1 && problems[0].contains("500"), "{problems:?}");
    assert!(browser.take_problems().is_empty());
}

#[test]
fn what_is_not_found_is_named_with_the_page() {
    let (_server, browser) = open("/");
    browser.patience(Duration::from_millis(200));
    for (what, expected) in [
        ("Twice", "2 elements have this text"),
        ("Off", "it is disabled"),
        ("Under", "it is covered by <div"),
        ("Over", "it is covered by <p"),
        ("No such button!", "it is not on the page"),
    ] {
        let text = failure(|| browser.click(what));
        assert!(text.contains(expected) && text.contains("Hives"), "{what}: {text}");
    }
    let text = failure(|| browser.fill_in("Title", "x"));
    assert!(text.contains("no field has this label"), "{text}");
    let text = failure(|| browser.wait_until("no.such.thing"));
    assert!(text.contains("ReferenceError"), "{text}");
    let text = failure(|| browser.visit("http://127.0.0.1:1/"));
    assert!(text.contains("ERR_"), "{text}");
    assert!(failure(|| browser.press("Nothing")).contains("expected one character, or Enter"));
    browser.visit("/register");
    assert!(failure(|| browser.fill_in("Level", "Queen")).contains("no option \"Queen\": New, Old hand"));
    for what in ["description", "token", "unseen", "action"] {
        assert!(failure(|| browser.fill_in(what, "x")).contains("no field has this label"), "{what}");
    }
    browser.evaluate("document.querySelector('[name=q]').focus = () => {}");
    assert!(failure(|| browser.fill_in("Search", "x")).contains("does not take the focus"));
    drop(browser.take_problems());
}

#[test]
fn a_download_goes_to_a_temporary_folder() {
    let (_server, browser) = open("/");
    browser.click("Download");
    browser.wait_for("h1");
    drop(browser);
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    assert!(!home.join("Downloads/skep-test-seven.txt").exists());
}

#[test]
fn a_picture_is_of_the_size_and_in_the_colours_that_were_set() {
    let (server, browser) = open("/");
    browser.resize(390, 500);
    browser.prefer_dark(true);
    assert_eq!(browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"), json!(true));
    let picture = std::fs::read(browser.screenshot("browser-driver")).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture[16..24] == [0, 0, 1, 134, 0, 0, 1, 244]);
    // The application is the one that a client without a socket sees.
    assert_eq!(Client::of_site(server.site()).get("/").status(), 200);
}

#[test]
fn a_failure_in_development_is_for_this_machine_only() {
    let server = Server::for_test(app).fix("development", "true").start().unwrap();
    let address = server.url().strip_prefix("http://").unwrap();
    let ask = |version: &str, fields: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /broken HTTP/{version}\r\nHost: {address}\r\nConnection: close\r\n{fields}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 500 Internal Server Error"), "{answer}");
        answer
    };
    let page = "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\n";
    let json = "Accept: application/json\r\n";
    assert!(ask("1.1", page).contains("Copy as Markdown") && ask("1.1", json).contains("it is broken"));
    for kind in [page, json] {
        for proxy in ["X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "X-Real-IP: 192.0.2.1", "Via: 1.1 shop"]
        {
            let answer = ask("1.1", &format!("{kind}{proxy}\r\n"));
            assert!(!answer.contains("it is broken"), "{proxy}: {answer}");
        }
        assert!(!ask("1.0", kind).contains("it is broken"));
    }
}

#[test]
fn a_failure_in_development_is_a_page_to_work_with() {
    let server = Server::for_test(app).fix("development", "true").start().unwrap();
    let browser = Browser::open(server.url());
    browser.visit("/mistake/bees?token=private");
    assert!(browser.take_problems()[0].contains("500"));
    assert_eq!(browser.text("h1"), "no such table: post; in: select title from post where slug = ?");
    for text in ["No migration makes this table", "tests/browser.rs", "one statement for all of them?", "seen"] {
        browser.wait_for_text(text);
    }
    let log = "[...document.querySelectorAll('section')].find(part => part.innerText.startsWith('Log')).innerText";
    assert!(browser.evaluate(log).as_str().unwrap().contains("about to fail"));
    for (name, width, dark) in
        [("light", 1100, false), ("dark", 1100, true), ("phone", 390, false), ("phone-dark", 390, true)]
    {
        browser.resize(width, 900);
        browser.prefer_dark(dark);
        assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), json!(true), "{name}");
        browser.screenshot(&format!("development-{name}"));
    }
    browser.command(
        "Browser.grantPermissions",
        &json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] }),
    );
    browser.click("Copy as Markdown");
    browser.wait_for_text("Copied");
    let copied = browser.evaluate("navigator.clipboard.readText()");
    let copied = copied.as_str().unwrap();
    assert!(copied.starts_with("# 500 Internal Server Error: no such table") && copied.contains("## Log"), "{copied}");
    assert!(!copied.contains("private"), "{copied}");
}
