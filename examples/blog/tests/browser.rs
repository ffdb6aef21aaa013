//! The blog in a real browser. Pictures of what a visitor sees are left in `target/screenshots`.

#[path = "browser/driver.rs"]
mod driver;

use std::process::Command;

use driver::{Browser, Process};
use serde_json::{Value, json};

#[test]
fn a_visitor_reads_comments_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = Process::server(env!("CARGO_BIN_EXE_blog"), folder.path());
    let browser = Browser::open();

    browser.go(&url);
    assert_eq!(browser.text("h1"), "The Skep blog");
    browser.picture("list-light", 1100, false);
    browser.picture("list-dark", 1100, true);
    browser.picture("list-phone", 390, false);

    let title = browser.text(".teaser h2 a");
    browser.click(".teaser h2 a");
    browser.wait_for("location.pathname.startsWith('/writings/')");
    assert_eq!(browser.text("article h1"), title);
    browser.picture("article-light", 1100, false);
    browser.picture("article-phone-dark", 390, true);

    browser.type_into("#comment-author", "Ann");
    browser.type_into("#comment-text", "What a *fine* page.");
    browser.click("button[name=preview]");
    browser.wait_for("!!document.querySelector('.preview em')");
    assert_eq!(browser.text("#comments"), "No comments yet");
    browser.picture("preview", 1100, false);
    browser.click("form[method=post] button:not([name])");
    browser.wait_for("document.querySelector('#comments')?.innerText === 'One comment'");
    assert_eq!(browser.text(".comment em"), "fine");

    // The browser's own checks are put aside, to see what the server says.
    browser.eval("document.querySelector('form[method=post]').noValidate = true");
    browser.type_into("#comment-text", "No name.");
    browser.click("form[method=post] button:not([name])");
    browser.wait_for("!!document.querySelector('#comment-author-problem')");
    assert_eq!(
        browser.eval("document.activeElement.id"),
        json!("comment-author"),
        "the cursor is where something is to mend"
    );
    assert_eq!(browser.eval("document.querySelector('#comment-text').value"), json!("No name."));
    browser.picture("problem", 1100, false);

    let loaded = browser.eval("performance.timeOrigin");
    browser.type_into("header input[type=search]", "escaping\u{e007}");
    browser.wait_for("location.pathname === '/search' && location.search === '?q=escaping'");
    browser.wait_for("document.querySelectorAll('.teaser mark').length > 0");
    assert_eq!(browser.eval("performance.timeOrigin"), loaded, "the search is shown in place");
    browser.picture("search", 1100, false);

    // A refused form is an error of the console by itself; everything else must be silent.
    let log = browser.post("se/log", &json!({ "type": "browser" }));
    let others: Vec<&Value> =
        log.as_array().unwrap().iter().filter(|entry| !entry.to_string().contains("422")).collect();
    assert!(others.is_empty(), "{others:?}");

    browser.go(&format!("{url}/nowhere"));
    assert_eq!(browser.text("h1"), "Not Found");
    browser.picture("not-found", 1100, false);
    browser.go(&format!("{url}/archive"));
    let expected = browser.post("se/log", &json!({ "type": "browser" }));
    assert!(expected.as_array().unwrap().iter().all(|entry| entry.to_string().contains("404")), "{expected}");
    browser.picture("archive", 1100, false);
    browser.assert_quiet();
}

/// With requests in its plots and tables, and an error.
#[test]
fn axe_finds_nothing_wrong_with_the_status_page() {
    let folder = tempfile::tempdir().unwrap();
    let blog = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blog"));
        command.args(["--listen", "127.0.0.1:0", "--set", "log.access=false"]).arg("--data").arg(folder.path());
        command.args(arguments);
        command
    };
    let (_server, url) = Process::start(&mut blog(&["--set", "status.listen=127.0.0.1:0"]), |line| {
        line.find("http://").and_then(|at| line[at..].split_whitespace().next()).map(ToOwned::to_owned)
    });
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    for path in ["/", "/", "/archive", "/nowhere"] {
        agent.get(format!("{url}{path}")).call().unwrap();
    }
    let status = blog(&["--control", "status json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let browser = Browser::open();
    for (name, width, dark) in [("light", 1100, false), ("dark", 1100, true), ("phone", 390, false)] {
        browser.go(&format!("{}/-/status", status["status_url"].as_str().unwrap()));
        browser.picture(&format!("status-{name}"), width, dark);
        assert_eq!(browser.axe(), json!([]), "{name}");
    }
    browser.assert_quiet();
}

/// Two readers of one article: what one sends appears at the other, who types meanwhile.
#[test]
fn a_comment_appears_where_somebody_else_types() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = Process::server(env!("CARGO_BIN_EXE_blog"), folder.path());
    let [ann, ben] = [Browser::open(), Browser::open()];
    for browser in [&ann, &ben] {
        browser.go(&url);
        browser.click(".teaser h2 a");
        browser.wait_for("location.pathname.startsWith('/writings/')");
    }
    comment(&ann, "Ann", "First.");
    ben.wait_for("document.querySelector('#comments').innerText === 'One comment'");

    ben.type_into("#comment-author", "Ben");
    ben.type_into("#comment-text", "I am still typing");
    // With a selection, and in the middle of the page.
    ben.eval("(document.querySelector('#comment-text').setSelectionRange(5, 10), window.same = document.querySelector('#comment-1'), 1)");
    comment(&ann, "Ann", "Second.");
    ben.wait_for("document.querySelector('#comments').innerText === '2 comments'");
    ben.wait_for("document.querySelectorAll('.comment').length === 2");
    let state = "(area => [document.activeElement === area, area.value, area.selectionStart, area.selectionEnd, \
                 document.querySelector('#comment-author').value, window.same === document.querySelector('#comment-1')])\
                 (document.querySelector('#comment-text'))";
    assert_eq!(ben.eval(state), json!([true, "I am still typing", 5, 10, "Ben", true]));
    ben.picture("live-comments", 1100, false);

    // Without a word of script, the form works as ever.
    ben.click("form[method=post] button:not([name])");
    ben.wait_for("document.querySelector('#comments')?.innerText === '3 comments'");
    ann.wait_for("document.querySelector('#comments').innerText === '3 comments'");
    assert_eq!(ann.eval("document.querySelectorAll('.comment').length"), json!(3));
    for browser in [&ann, &ben] {
        browser.assert_quiet();
    }
}

/// The script asks for the page by GET, of which the answer to a form knows nothing: that page is left alone, and no
/// form is sent again.
#[test]
fn an_answer_to_a_form_is_not_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = Process::server(env!("CARGO_BIN_EXE_blog"), folder.path());
    let browser = Browser::open();
    browser.go(&url);
    browser.click(".teaser h2 a");
    browser.wait_for("location.pathname.startsWith('/writings/')");
    browser.type_into("#comment-author", "Ann");
    browser.type_into("#comment-text", "What a *fine* page.");
    browser.click("button[name=preview]");
    browser.wait_for("!!document.querySelector('.preview em')");
    let loaded = browser.eval("performance.timeOrigin");
    assert_stays(&browser, &loaded);
    assert_eq!(browser.text(".preview em"), "fine");
    assert_eq!(browser.eval("document.querySelector('#comment-text').value"), json!("What a *fine* page."));

    // A form that is refused, too.
    browser.eval("document.querySelector('form[method=post]').noValidate = true");
    browser.eval("document.querySelector('#comment-author').value = ''");
    browser.click("form[method=post] button:not([name])");
    browser.wait_for("!!document.querySelector('#comment-author-problem')");
    let loaded = browser.eval("performance.timeOrigin");
    assert_stays(&browser, &loaded);
    assert_eq!(browser.eval("document.querySelector('#comment-text').value"), json!("What a *fine* page."));
}

/// Waits until the script has asked for the page, and then for two answers more, before which the page would have been
/// left.
fn assert_stays(browser: &Browser, loaded: &Value) {
    browser.wait_for("performance.getEntriesByType('resource').some(({ initiatorType }) => initiatorType === 'fetch')");
    for _ in 0..2 {
        let script =
            "const done = arguments[0]; fetch('/?' + Math.random(), { cache: 'no-store' }).then(() => done(1))";
        browser.post("execute/async", &json!({ "script": script, "args": [] }));
        assert_eq!(browser.eval("performance.timeOrigin"), *loaded, "the page was loaded again");
    }
}

/// Nothing is moved that stays, so a selection in it stays, too.
#[test]
fn a_selection_stays_when_something_above_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = Process::server(env!("CARGO_BIN_EXE_blog"), folder.path());
    let browser = Browser::open();
    browser.go(&url);
    browser.click(".teaser h2 a");
    browser.wait_for("location.pathname.startsWith('/writings/')");
    for text in ["First.", "Second.", "Third."] {
        comment(&browser, "Ann", text);
    }
    browser.eval("getSelection().selectAllChildren(document.querySelector('#comment-3 p'))");
    assert_eq!(browser.eval("getSelection().toString().trim()"), json!("Third."));
    // What the server would send if the first one were removed.
    let script = "const part = document.querySelector('#comments').parentNode.cloneNode(true); \
                  part.querySelector('#comment-1').remove(); \
                  const html = part.innerHTML.split('<!--/live')[0].replace(/^.*?-->/s, ''); \
                  const data = JSON.stringify({ name: 'comments', version: '1', html }); \
                  const headers = { 'content-type': 'text/event-stream' }; \
                  window.fetch = async () => new Response(`event: live\\ndata: ${data}\\n\\n`, { headers }); \
                  for (const name of ['pagehide', 'pageshow']) dispatchEvent(new Event(name));";
    browser.post("execute/sync", &json!({ "script": script, "args": [] }));
    browser.wait_for("!document.querySelector('#comment-1')");
    assert_eq!(browser.eval("getSelection().toString().trim()"), json!("Third."));
    browser.assert_quiet();
}

fn comment(browser: &Browser, author: &str, text: &str) {
    browser.type_into("#comment-author", author);
    browser.type_into("#comment-text", text);
    browser.click("form[method=post] button:not([name])");
    browser
        .wait_for(&format!("[...document.querySelectorAll('.comment')].some(one => one.innerText.includes({text:?}))"));
}
