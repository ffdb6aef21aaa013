//! Drives Chromium, for what only a real browser shows: scripts, live pages, passkeys, how a page looks.

mod chromium;
mod events;
mod keys;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use skep_units::lock;

use chromium::Chromium;
use events::exception;

/// A window of Chromium, without a head, at a server of the application. With the feature `browser`.
///
/// ```no_run
/// # mod skep_server {
/// #     pub struct Server; pub struct Running;
/// #     impl Server { pub fn for_test(_: fn() -> skep::App) -> Self { Self }
/// #         pub fn start(self) -> Result<Running, std::io::Error> { Ok(Running) } }
/// #     impl Running { pub fn url(&self) -> &str { "" } }
/// # }
/// # fn app() -> skep::App { skep::App::new() }
/// use skep::test::Browser;
/// use skep_server::Server;
///
/// let server = Server::for_test(app).start().unwrap(); // with a database of its own
/// let browser = Browser::open(server.url());
/// browser.visit("/"); // or `&Notes { at: None }.url()`
/// browser.click("Write a note");
/// browser.fill_in("Title", "Honey");
/// browser.click("Save");
/// browser.wait_for_text("Saved.");
/// assert_eq!(browser.text("h1"), "Honey");
/// ```
///
/// Each method waits up to 10 s ([`patience`](Self::patience)) until what it is about is on the page, shown, enabled,
/// and not covered; there is nothing to sleep for. After a click or a key, it waits for the page to which that leads,
/// up to 30 s like [`visit`](Self::visit), and while a form has `aria-busy`, as one that a live page sends in place.
/// `alert` and `confirm` are accepted, and downloads go to a temporary folder. Frames of other sites, shadow trees and
/// new tabs are not reached.
///
/// When it is dropped, a test fails in which the console had an error, a script an exception, or a request failed or
/// was answered with 400 or above, unless the test has [taken](Self::take_problems) it.
///
/// Two of them are two people. Chromium, Chrome or Edge is looked for on the `PATH`; its profile is a temporary folder,
/// and it ends with the test.
///
/// # Panics
/// All methods panic where a test should fail: with what was looked for, the address, the text of the page and its
/// problems. A picture is left in `target/screenshots`.
#[derive(Debug)]
pub struct Browser {
    chromium: Mutex<Chromium>,
    base: String,
}

/// The most of a page's text that is shown.
const MOST_TEXT: usize = 2000;

const FIND: &str = include_str!("browser/page.js");
const FILL: &str = include_str!("browser/fill.js");
/// A form is sent by a task of its own, which is before these.
const SENT: &str = "new Promise(done => { const end = performance.now() + 10000; const look = () => \
                    document.querySelector('form[aria-busy=true]') && performance.now() < end \
                    ? requestAnimationFrame(look) : done(); setTimeout(() => setTimeout(look)) })";

impl Browser {
    /// Opens one. `server` is the address of a server, such as `http://127.0.0.1:8800`, to which paths are added.
    ///
    /// # Panics
    /// If there is no Chromium: the text says what to install.
    #[must_use]
    pub fn open(server: &str) -> Self {
        let chromium = Chromium::start().unwrap_or_else(|error| panic!("{error}"));
        let browser = Self { chromium: Mutex::new(chromium), base: server.trim_end_matches('/').to_owned() };
        browser.resize(1100, 900);
        browser
    }

    /// Sets for how long a method waits until what it is about is on the page. At first 10 s.
    ///
    /// ```no_run
    /// # let browser = skep::test::Browser::open("http://127.0.0.1:8800");
    /// browser.patience(std::time::Duration::from_secs(60)); // a report takes long
    /// ```
    pub fn patience(&self, limit: Duration) {
        self.lock().patience = limit;
    }

    /// Opens a page: a path, such as `&Show { id: 1 }.url()`, or an address. Waits until it is loaded.
    pub fn visit(&self, url: &str) {
        let url = if url.starts_with('/') { format!("{}{url}", self.base) } else { url.to_owned() };
        let opened = self.command("Page.navigate", &json!({ "url": url }));
        if let Some(error) = opened["errorText"].as_str() {
            self.fail(&format!("{url}: {error}"));
        }
        // Without a loader it is a place in the same page.
        if let Some(loader) = opened["loaderId"].as_str() {
            let loaded = self.lock().listen(&url, |events| events.loaded == loader);
            self.check(loaded);
        }
    }

    /// Clicks a link, a button or a label with this text, or the first element that fits this CSS selector.
    pub fn click(&self, what: &str) {
        let found = self.wait("click", &json!(what).to_string(), &format!("click({what:?})"));
        let place = &found["value"];
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": place["x"], "y": place["y"], "button": button, "clickCount": 1 });
            self.command("Input.dispatchMouseEvent", &event);
        }
        self.settle();
    }

    /// Types a value into a field instead of what it has, chooses the option, or the file with this path. The field is
    /// named by its label, its `name`, `placeholder` or `id`, or a CSS selector. Boxes and radio buttons are clicked:
    /// [`click`](Self::click) with their label.
    pub fn fill_in(&self, field: &str, value: &str) {
        let element = self.find("field", field);
        match self.call(&element, FILL, &json!([{ "value": value }])).as_str() {
            Some("done") => {}
            Some("type") if value.is_empty() => self.press("Delete"),
            Some("type") => drop(self.command("Input.insertText", &json!({ "text": value }))),
            Some("file") => {
                self.command("DOM.setFileInputFiles", &json!({ "objectId": element, "files": [value] }));
            }
            problem => self.fail(&format!("fill_in({field:?}, {value:?}): {}", problem.unwrap_or_default())),
        }
    }

    /// Presses a key, such as `Enter`, `Escape`, `Tab`, `ArrowDown` or `a`, in what has the focus.
    pub fn press(&self, key: &str) {
        let key = keys::event(key).unwrap_or_else(|| self.fail(&format!("press({key:?}): {}", keys::EXPECTED)));
        for kind in ["keyDown", "keyUp"] {
            let mut event = key.clone();
            event["type"] = kind.into();
            self.command("Input.dispatchKeyEvent", &event);
        }
        self.settle();
    }

    /// Waits until an element is shown that fits this CSS selector.
    pub fn wait_for(&self, selector: &str) {
        self.find("element", selector);
    }

    /// Waits until the page shows this text. However it is broken into lines, it counts as one line.
    pub fn wait_for_text(&self, text: &str) {
        self.wait("text", &json!(text).to_string(), &format!("wait_for_text({text:?})"));
    }

    /// Waits until this JavaScript expression is true.
    pub fn wait_until(&self, expression: &str) {
        self.wait("until", &format!("() => ({expression})"), &format!("wait_until({expression:?})"));
    }

    /// What a user reads in the first element that is shown and fits this CSS selector.
    #[must_use]
    pub fn text(&self, selector: &str) -> String {
        let element = self.find("element", selector);
        let text = self.call(&element, "function () { return this.innerText }", &json!([]));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Path and query of the page.
    #[must_use]
    pub fn path(&self) -> String {
        self.evaluate("location.pathname + location.search").as_str().unwrap_or_default().to_owned()
    }

    /// The value of a JavaScript expression, as JSON; of a promise, what it becomes.
    pub fn evaluate(&self, expression: &str) -> Value {
        let (asked, value) = (self.lock().evaluate(expression, true), format!("evaluate({expression:?})"));
        asked.unwrap_or_else(|error| self.fail(&format!("{value}: {error}")))["value"].take()
    }

    /// Sets the size of the window, in pixels. Below 600 it is a telephone. At first it is 1100 by 900.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.command("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Whether the user prefers dark colours. At first not.
    pub fn prefer_dark(&self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.command("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Leaves a picture of the window in `target/screenshots/NAME.png`, and returns its path.
    pub fn screenshot(&self, name: &str) -> PathBuf {
        let picture = self.lock().picture(name);
        self.check(picture)
    }

    /// The errors of the console, exceptions and failed requests since the last call: for a test that expects some.
    #[must_use]
    pub fn take_problems(&self) -> Vec<String> {
        // What was said before is heard with the answer.
        self.command("Runtime.evaluate", &json!({ "expression": "0" }));
        std::mem::take(&mut self.lock().events.problems)
    }

    /// Executes a command of the [DevTools protocol](https://chromedevtools.github.io/devtools-protocol/), such as
    /// `WebAuthn.enable`, for what this has no method for.
    pub fn command(&self, method: &str, parameters: &Value) -> Value {
        let done = self.lock().command(method, parameters);
        self.check(done)
    }

    fn lock(&self) -> MutexGuard<'_, Chromium> {
        lock(&self.chromium)
    }

    fn check<T>(&self, result: Result<T, String>) -> T {
        result.unwrap_or_else(|error| self.fail(&error))
    }

    /// The element, by its id in the protocol, once the page has it.
    fn find(&self, kind: &str, what: &str) -> String {
        let asked = match kind {
            "field" => format!("fill_in({what:?}, ..)"),
            _ => format!("the selector {what:?}"),
        };
        self.wait(kind, &json!(what).to_string(), &asked)["objectId"].as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page has it: a page that is left meanwhile is followed by another one, which may have it.
    fn wait(&self, kind: &str, what: &str, asked: &str) -> Value {
        let end = Instant::now() + self.lock().patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let expression = format!("({FIND})({kind:?}, {what}, {})", left.as_millis());
            let found = self.lock().evaluate(&expression, kind == "click");
            match found {
                Ok(found) => match found["value"].as_str() {
                    Some(problem) => self.fail(&format!("{asked}: {problem}")),
                    None => return found,
                },
                Err(error) if is_of_navigation(&error) && !left.is_zero() => {}
                Err(error) => self.fail(&format!("{asked}: {error}")),
            }
        }
    }

    /// Calls a function on an element.
    fn call(&self, element: &str, function: &str, arguments: &Value) -> Value {
        let parameters = json!({
            "objectId": element, "functionDeclaration": function, "arguments": arguments,
            "returnByValue": true, "userGesture": true,
        });
        let called = self.command("Runtime.callFunctionOn", &parameters);
        if !called["exceptionDetails"].is_null() {
            self.fail(&exception(&called["exceptionDetails"]));
        }
        called["result"]["value"].clone()
    }

    /// Waits for the page to which a click or a key leads, if it does.
    fn settle(&self) {
        let mut chromium = self.lock();
        // A page that is gone answers with an error.
        let _ = chromium.evaluate(SENT, true);
        let settled = chromium.listen("the page that this leads to", |events| !events.is_leaving);
        drop(chromium);
        self.check(settled);
    }

    /// Ends the test, with what a person would look at.
    fn fail(&self, text: &str) -> ! {
        let mut chromium = self.lock();
        let page = "`${location.href}\\n\\n${document.body?.innerText ?? ''}`";
        let page = chromium.evaluate(page, true).ok().and_then(|page| Some(page["value"].as_str()?.to_owned()));
        let page = page.unwrap_or_default();
        let picture = chromium.picture(&format!("failed-{}", thread::current().name().unwrap_or("test")));
        let picture = picture.map(|path| format!("\n\na picture: {}", path.display())).unwrap_or_default();
        let problems = chromium.events.problems.join("\n");
        drop(chromium);
        panic!("{text}\n\nthe page: {}\n{problems}{picture}", &page[..page.floor_char_boundary(MOST_TEXT)]);
    }
}

/// Whether the page was left while it was asked.
fn is_of_navigation(error: &str) -> bool {
    let text = error.strip_prefix("Runtime.evaluate: ").unwrap_or_default();
    ["context", "navigated", "Promise was collected"].iter().any(|reason| text.contains(reason))
}

impl Chromium {
    /// The value of an expression: as JSON, or as an object of the page.
    fn evaluate(&mut self, expression: &str, by_value: bool) -> Result<Value, String> {
        let parameters = json!({
            "expression": expression, "returnByValue": by_value, "awaitPromise": true, "userGesture": true,
        });
        let mut evaluated = self.command("Runtime.evaluate", &parameters)?;
        if !evaluated["exceptionDetails"].is_null() {
            return Err(exception(&evaluated["exceptionDetails"]));
        }
        Ok(evaluated["result"].take())
    }

    fn picture(&mut self, name: &str) -> Result<PathBuf, String> {
        let picture = self.command("Page.captureScreenshot", &json!({ "format": "png" }))?;
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
        let path = folder().join(format!("{}.png", name.replace(['/', ':'], "-")));
        let written = std::fs::create_dir_all(folder()).and_then(|()| std::fs::write(&path, bytes));
        written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// `target/screenshots`: a test is `target/debug/deps/NAME`.
fn folder() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let target = test.ancestors().find(|folder| folder.ends_with("deps")).and_then(|deps| deps.parent()?.parent());
    target.unwrap_or(Path::new("target")).join("screenshots")
}

impl Drop for Browser {
    fn drop(&mut self) {
        // What was said before is heard with the answer. It may have ended, which the test has heard then.
        let mut chromium = self.lock();
        let _ = chromium.evaluate("0", true);
        let problems = std::mem::take(&mut chromium.events.problems);
        drop(chromium);
        assert!(
            thread::panicking() || problems.is_empty(),
            "the pages had problems (a test that expects some takes them, `take_problems`):\n{}",
            problems.join("\n")
        );
    }
}
