//! The process of Chromium, and its protocol for tools on a pipe: JSON, each message ended by a zero byte.
//!
//! No port is open, and Chromium ends when its pipe does, so also after a test that was killed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::events::Events;
use crate::context::setup::TemporaryFolder;

/// The names of Chromium and of browsers made of it.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge"];

/// Without its sandbox, which containers and root have not: it opens the pages of the test.
const FLAGS: [&str; 12] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

/// It reads commands at descriptor 3, and writes to 4.
const SHELL: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// Longer, no command and no page takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// So long it may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// A browser with one page.
#[derive(Debug)]
pub(super) struct Chromium {
    process: Child,
    /// None once it is to end.
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
    session: Option<String>,
    pub(super) events: Events,
    /// So long a page may take to have what is looked for.
    pub(super) patience: Duration,
    /// Its profile, and what it prints.
    folder: TemporaryFolder,
}

impl Chromium {
    pub(super) fn start() -> Result<Self, String> {
        let executable = find()?;
        let failed = |error: std::io::Error| format!("{} does not start: {error}", executable.display());
        let folder = TemporaryFolder::create().map_err(|error| format!("no temporary folder: {error}"))?;
        let output = File::create(folder.path().join("output")).map_err(failed)?;
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(SHELL).arg(&executable).args(FLAGS);
        command.arg(format!("--user-data-dir={}", folder.path().display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(output);
        let mut process = command.spawn().map_err(failed)?;
        let (sender, messages) = channel();
        if let Some(pipe) = process.stdout.take() {
            let read = move || {
                let messages = BufReader::new(pipe).split(0).map_while(Result::ok);
                let mut messages = messages.filter_map(|message| serde_json::from_slice(&message).ok());
                let _ = messages.try_for_each(|message| sender.send(message));
            };
            thread::Builder::new().name("skep test browser".into()).spawn(read).map_err(failed)?;
        }
        let commands = process.stdin.take();
        let (last, session, events) = Default::default();
        let patience = Duration::from_secs(10);
        let mut chromium = Self { process, commands, messages, last, session, events, patience, folder };
        chromium.open_page()?;
        Ok(chromium)
    }

    fn open_page(&mut self) -> Result<(), String> {
        let downloads = json!({ "behavior": "allow", "downloadPath": self.folder.path().join("downloads") });
        self.command("Browser.setDownloadBehavior", &downloads)?;
        let target = self.command("Target.createTarget", &json!({ "url": "about:blank" }))?["targetId"].take();
        let attached =
            self.command("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }))?["sessionId"].take();
        self.session = attached.as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            self.command(&format!("{domain}.enable"), &json!({}))?;
        }
        self.command("Page.setLifecycleEventsEnabled", &json!({ "enabled": true }))?;
        self.command("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }))?;
        let frames = self.command("Page.getFrameTree", &json!({}))?;
        frames["frameTree"]["frame"]["id"].as_str().unwrap_or_default().clone_into(&mut self.events.frame);
        Ok(())
    }

    /// Executes a command. What is heard meanwhile is noted.
    pub(super) fn command(&mut self, method: &str, parameters: &Value) -> Result<Value, String> {
        let id = self.send(method, parameters)?;
        let end = Instant::now() + PATIENCE;
        loop {
            let mut message = self.receive(method, end)?;
            if message["id"] == id {
                return match message["error"]["message"].as_str() {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    /// Listens until `is_done`. `what` completes "waited for".
    pub(super) fn listen(&mut self, what: &str, is_done: impl Fn(&Events) -> bool) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        while !is_done(&self.events) {
            self.receive(what, end)?;
        }
        Ok(())
    }

    fn send(&mut self, method: &str, parameters: &Value) -> Result<u64, String> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let written = self.commands.as_ref().map(|mut pipe| pipe.write_all(format!("{message}\0").as_bytes()));
        match written {
            Some(Ok(())) => Ok(self.last),
            _ => Err(self.ended()),
        }
    }

    fn receive(&mut self, what: &str, end: Instant) -> Result<Value, String> {
        let left = end.saturating_duration_since(Instant::now());
        let message = self.messages.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("waited for {what}, {PATIENCE:?} long"),
            RecvTimeoutError::Disconnected => self.ended(),
        })?;
        if let Some((method, parameters)) = self.events.note(&message) {
            self.send(method, &parameters)?;
        }
        Ok(message)
    }

    fn ended(&self) -> String {
        let printed = std::fs::read_to_string(self.folder.path().join("output")).unwrap_or_default();
        format!("Chromium has ended: {}", printed.trim())
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.send("Browser.close", &json!({}));
        self.commands = None;
        let end = Instant::now() + GRACE;
        let left = || end.saturating_duration_since(Instant::now());
        // Its side of the pipe is closed by its end.
        while self.messages.recv_timeout(left()).is_ok() {}
        if left().is_zero() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// The first of the names on the `PATH`.
fn find() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let of_name = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    NAMES.iter().find_map(of_name).ok_or_else(|| {
        format!(
            "no Chromium on the PATH ({}): install one, such as with `apt-get install chromium`, \
             `dnf install chromium` or https://www.google.com/chrome",
            NAMES.join(", ")
        )
    })
}
