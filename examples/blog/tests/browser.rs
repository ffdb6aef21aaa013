//! The blog in a real browser: headless Chromium, driven through chromedriver. `cargo xtask setup` installs both.
//!
//! Pictures of what a visitor sees are left in `target/screenshots`.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts a program and waits for a line in which `find` finds what it is waited for.
    fn start(command: &mut Command, find: impl Fn(&str) -> Option<String>) -> (Self, String) {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
        let mut process =
            Self(child.unwrap_or_else(|error| panic!("{name} does not start ({error}): run `cargo xtask setup`")));
        let stdout = BufReader::new(process.0.stdout.take().expect("it is piped"));
        let mut lines = stdout.lines().map_while(Result::ok);
        let found = lines.find_map(|line| find(&line)).unwrap_or_else(|| panic!("{name} ended without getting ready"));
        // Whatever else it says is read, so that it never waits for us.
        std::thread::spawn(move || lines.for_each(drop));
        (process, found)
    }
}

/// A browser window.
struct Browser {
    session: String,
    _driver: Process,
}

impl Browser {
    fn open() -> Self {
        let (driver, port) = Process::start(Command::new("chromedriver").arg("--port=0"), |line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let base = format!("http://127.0.0.1:{port}/session");
        let answer = call(&base, &wanted);
        let id = answer["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}"));
        Self { session: format!("{base}/{id}"), _driver: driver }
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        call(&format!("{}/{command}", self.session), body)
    }

    fn go(&self, url: &str) {
        self.post("url", &json!({ "url": url }));
    }

    /// The value of a JavaScript expression.
    fn eval(&self, expression: &str) -> Value {
        self.post("execute/sync", &json!({ "script": format!("return {expression}"), "args": [] }))
    }

    fn text(&self, selector: &str) -> String {
        let found = self.eval(&format!("document.querySelector({selector:?})?.innerText"));
        found.as_str().unwrap_or_else(|| panic!("no {selector} on this page")).to_owned()
    }

    /// Waits until the expression is true: a page that is being loaded has it soon or never.
    fn wait_for(&self, expression: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.eval(expression) != json!(true) {
            assert!(Instant::now() < end, "{expression} did not come true; the page is {}", self.text("body"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no {selector} on this page: {found}")).to_owned()
    }

    fn click(&self, selector: &str) {
        self.post(&format!("element/{}/click", self.element(selector)), &json!({}));
    }

    fn type_into(&self, selector: &str, text: &str) {
        self.post(&format!("element/{}/value", self.element(selector)), &json!({ "text": text }));
    }

    fn cdp(&self, command: &str, parameters: Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Sets size and colours, and leaves a picture.
    fn picture(&self, name: &str, width: u32, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": features }));
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.cdp("Emulation.setDeviceMetricsOverride", size);
        assert_eq!(
            self.eval("document.documentElement.scrollWidth <= innerWidth"),
            json!(true),
            "{name} scrolls sideways"
        );
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let picture = self.cdp("Page.captureScreenshot", json!({ "format": "png" }));
        std::fs::write(folder.join(format!("{name}.png")), base64(picture["data"].as_str().unwrap())).unwrap();
    }

    /// Nothing was said on the console: no error, no warning, no file that is missing.
    fn assert_quiet(&self) {
        let log = self.post("se/log", &json!({ "type": "browser" }));
        assert_eq!(log, json!([]), "the console is not empty");
    }
}

impl Drop for Browser {
    /// Closes the window: chromedriver alone would leave it behind.
    fn drop(&mut self) {
        let _ = ureq::delete(&self.session).call();
    }
}

fn call(url: &str, body: &Value) -> Value {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut answer = agent.post(url).send_json(body).unwrap_or_else(|error| panic!("{url}: {error}"));
    let mut json: Value = answer.body_mut().read_json().unwrap_or_else(|error| panic!("{url}: {error}"));
    let value = json["value"].take();
    assert!(value.get("error").is_none(), "{url}: {value}");
    value
}

/// What standard base64 stands for.
fn base64(text: &str) -> Vec<u8> {
    let digits = text.bytes().filter(|byte| *byte != b'=').map(|byte| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    });
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for digit in digits {
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}

fn blog(folder: &std::path::Path) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blog"));
    command.args(["--listen", "127.0.0.1:0", "--set", "log.access=false", "--data"]).arg(folder);
    Process::start(&mut command, |line| {
        let at = line.find("http://")?;
        line[at..].split_whitespace().next().map(ToOwned::to_owned)
    })
}

#[test]
fn a_visitor_reads_comments_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = blog(folder.path());
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

    browser.type_into("header input[type=search]", "escaping\u{e007}");
    browser.wait_for("location.pathname === '/search'");
    browser.wait_for("document.querySelectorAll('.teaser mark').length > 0");
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
