//! A real browser: headless Chromium, driven through chromedriver. `cargo xtask setup` installs both.
//!
//! Pictures are left in `target/screenshots`.
#![allow(dead_code, unreachable_pub, reason = "tests of several examples use it, none of them all of it")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A process that ends with the test.
pub struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts a server of an example with a data folder of its own; where it listens.
    pub fn server(program: &str, folder: &Path) -> (Self, String) {
        let mut command = Command::new(program);
        command.args(["--listen", "127.0.0.1:0", "--set", "log.access=false", "--data"]).arg(folder);
        Self::start(&mut command, |line| {
            let at = line.find("http://")?;
            line[at..].split_whitespace().next().map(ToOwned::to_owned)
        })
    }

    /// Starts a program and waits for a line in which `find` finds what it is waited for.
    pub fn start(command: &mut Command, find: impl Fn(&str) -> Option<String>) -> (Self, String) {
        let name = command.get_program().to_string_lossy().into_owned();
        Self::try_start(command, find).unwrap_or_else(|| panic!("{name} ended without getting ready"))
    }

    /// `None` if the program ends before such a line.
    fn try_start(command: &mut Command, find: impl Fn(&str) -> Option<String>) -> Option<(Self, String)> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
        let mut process =
            Self(child.unwrap_or_else(|error| panic!("{name} does not start ({error}): run `cargo xtask setup`")));
        let stdout = BufReader::new(process.0.stdout.take().expect("it is piped"));
        let mut lines = stdout.lines().map_while(Result::ok);
        let found = lines.find_map(|line| find(&line))?;
        // Whatever else it says is read, so that it never waits for us.
        std::thread::spawn(move || lines.for_each(drop));
        Some((process, found))
    }
}

/// A browser window.
pub struct Browser {
    session: String,
    _driver: Process,
}

impl Browser {
    /// Opens one.
    pub fn open() -> Self {
        // With port 0 it takes a free port of IPv4, and ends if that of IPv6 is taken.
        let start = |_| {
            Process::try_start(Command::new("chromedriver").arg("--port=0"), |line| {
                let (_, port) = line.split_once("started successfully on port ")?;
                Some(port.trim_end_matches('.').to_owned())
            })
        };
        let (driver, port) = (0..5).find_map(start).expect("chromedriver ends without getting ready");
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

    /// Sends a command of the protocol of `WebDriver`.
    pub fn post(&self, command: &str, body: &Value) -> Value {
        call(&format!("{}/{command}", self.session), body)
    }

    /// Opens an address.
    pub fn go(&self, url: &str) {
        self.post("url", &json!({ "url": url }));
    }

    /// The value of a JavaScript expression.
    pub fn eval(&self, expression: &str) -> Value {
        self.post("execute/sync", &json!({ "script": format!("return {expression}"), "args": [] }))
    }

    /// What a user reads in the first element that fits.
    pub fn text(&self, selector: &str) -> String {
        let found = self.eval(&format!("document.querySelector({selector:?})?.innerText"));
        found.as_str().unwrap_or_else(|| panic!("no {selector} on this page")).to_owned()
    }

    /// Waits until the expression is true: a page that is being loaded has it soon or never.
    pub fn wait_for(&self, expression: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.eval(expression) != json!(true) {
            assert!(Instant::now() < end, "{expression} did not come true; the page is {}", self.text("body"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The id of the first element that fits.
    pub fn element(&self, selector: &str) -> String {
        let found = self.post("element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no {selector} on this page: {found}")).to_owned()
    }

    /// Clicks it.
    pub fn click(&self, selector: &str) {
        self.post(&format!("element/{}/click", self.element(selector)), &json!({}));
    }

    /// Presses keys in it.
    pub fn type_into(&self, selector: &str, text: &str) {
        self.post(&format!("element/{}/value", self.element(selector)), &json!({ "text": text }));
    }

    /// Sends a command of the protocol of `DevTools`.
    pub fn cdp(&self, command: &str, parameters: Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Sets size and colours, and leaves a picture.
    pub fn picture(&self, name: &str, width: u32, dark: bool) {
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

    /// What axe finds wrong with the page: nothing, if it is `[]`.
    pub fn axe(&self) -> Value {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools/axe-core/node_modules/axe-core/axe.min.js");
        let axe = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask setup`", file.display()));
        self.post("execute/sync", &json!({ "script": axe, "args": [] }));
        let script = "const done = arguments[0]; axe.run().then(done, error => done(String(error)))";
        let mut result = self.post("execute/async", &json!({ "script": script, "args": [] }));
        assert!(result["passes"].as_array().is_some_and(|rules| rules.len() > 10), "axe has not run: {result}");
        result["violations"].take()
    }

    /// Nothing was said on the console: no error, no warning, no file that is missing.
    pub fn assert_quiet(&self) {
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
