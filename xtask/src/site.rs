//! An example that runs, and answers on a port of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use skep_client::Response;

use crate::command;

/// So long one answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Ends with this value.
pub(crate) struct Site {
    server: Child,
    program: PathBuf,
    /// Without a slash at the end.
    url: String,
    /// Of somebody who has signed in.
    cookie: String,
}

/// What came of a request.
pub(crate) struct PageResponse {
    pub(crate) status: u16,
    /// Of the body, without parameters.
    pub(crate) kind: String,
    pub(crate) location: Option<String>,
    /// Name and value.
    pub(crate) cookie: Option<String>,
    pub(crate) body: String,
}

impl Site {
    /// With an empty data folder, `data`, and these flags.
    pub(crate) fn start(root: &Path, name: &str, data: &Path, flags: &[&str]) -> Result<Self, String> {
        let program = target(root).join("debug").join(name);
        let _ = fs::remove_dir_all(data);
        fs::create_dir_all(data).map_err(|error| format!("{}: {error}", data.display()))?;
        let mut command = Command::new(&program);
        command.args(["--listen", "127.0.0.1:0", "--set", "log.access=false"]).args(flags).arg("--data").arg(data);
        command.current_dir(data).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().map_err(|error| format!("{name} does not start: {error}"))?;
        let said = server.stdout.take().map(BufReader::new).ok_or("its output is ours")?;
        let mut lines = said.lines().map_while(Result::ok);
        let found = lines.find_map(|line| line.split_once(" listens on ").map(|(_, rest)| rest.to_owned()));
        let mut site = Self { server, program, url: String::new(), cookie: String::new() };
        let found = found.ok_or_else(|| format!("{name} ended without listening"))?;
        found.split_whitespace().next().unwrap_or_default().clone_into(&mut site.url);
        // Whatever else it says is read, so that it never waits for us.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(site)
    }

    /// Such as `http://127.0.0.1:8800`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Such as `127.0.0.1:8800`.
    pub(crate) fn address(&self) -> &str {
        self.url.split_once("://").map_or("", |(_, address)| address)
    }

    /// The paths of its table of routes that need no parameter.
    pub(crate) fn paths(&self) -> Result<Vec<String>, String> {
        let output = Command::new(&self.program).arg("--routes").output();
        let output = output.map_err(|error| format!("{} does not start: {error}", self.program.display()))?;
        let table = String::from_utf8_lossy(&output.stdout);
        let gets = table.lines().filter_map(|line| line.strip_prefix("GET"));
        let paths = gets.filter_map(|line| line.split_whitespace().next());
        Ok(paths.filter(|path| !path.contains('{')).map(ToOwned::to_owned).collect())
    }

    pub(crate) fn get(&self, path: &str) -> Result<PageResponse, String> {
        self.ask("GET", path, &self.cookie, ("", ""))
    }

    /// Sends a form without any field.
    pub(crate) fn post(&self, path: &str) -> Result<PageResponse, String> {
        self.send(path, "")
    }

    fn send(&self, path: &str, form: &str) -> Result<PageResponse, String> {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        self.ask("POST", path, &self.cookie, (&format!("{kind}\r\nContent-Length: {}\r\n", form.len()), form))
    }

    /// Sends a form, and returns the page that it leads to, with the message that it left there.
    pub(crate) fn submit(&self, path: &str, form: &str) -> Result<PageResponse, String> {
        let PageResponse { location: Some(next), cookie, .. } = self.send(path, form)? else {
            return Err(format!("POST {path} leads nowhere"));
        };
        self.ask("GET", &next, &format!("{}; {}", self.cookie, cookie.unwrap_or_default()), ("", ""))
    }

    /// Signs in with this form: requests that follow are those of its user.
    pub(crate) fn sign_in(&mut self, path: &str, form: &str) -> Result<(), String> {
        let answer = self.send(path, form)?;
        self.cookie = answer.cookie.ok_or_else(|| format!("{path} signs nobody in: {}", answer.body))?;
        Ok(())
    }

    /// As a browser does on a page of the same site, over a connection of its own.
    fn ask(&self, method: &str, path: &str, cookie: &str, (more, body): (&str, &str)) -> Result<PageResponse, String> {
        let (host, wrong) = (self.address(), |error: std::io::Error| format!("{method} {path}: {error}"));
        let mut stream = TcpStream::connect(host).map_err(wrong)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(wrong)?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n\
             Accept: text/html\r\nCookie: {cookie}\r\nConnection: close\r\n{more}\r\n{body}"
        );
        skep_client::exchange(&mut stream, head.as_bytes(), false, PATIENCE).map(PageResponse::from).map_err(wrong)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Builds these examples.
pub(crate) fn build<N: AsRef<str>>(names: &[N], more: &[&str]) -> Result<(), String> {
    let mut cargo = command::program("cargo");
    // Of the whole workspace and with a test among them, as `cargo test` builds it: without what tests depend on,
    // features of dependencies differ, and all of them would be built again.
    cargo
        .args(["build", "--workspace", "--test", "desk"])
        .args(names.iter().flat_map(|name| ["--bin", name.as_ref()]))
        .args(more);
    let status = cargo.status().map_err(|error| format!("cargo does not start: {error}"))?;
    if status.success() { Ok(()) } else { Err("the examples do not build".to_owned()) }
}

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

impl From<Response> for PageResponse {
    fn from(response: Response) -> Self {
        let field = |name| response.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let kind = field("content-type").unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
        let location = field("location").map(ToOwned::to_owned);
        let cookie = field("set-cookie").and_then(|field| field.split(';').next()).map(ToOwned::to_owned);
        Self {
            status: response.status,
            kind,
            location,
            cookie,
            body: String::from_utf8_lossy(&response.body).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_status_a_type_and_a_body() {
        let fields = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        let found = PageResponse::from(Response { status: 404, fields, body: b"<p>\r\n\r\n".to_vec(), keeps: false });
        assert_eq!((found.status, found.kind.as_str(), found.body.as_str()), (404, "text/html", "<p>\r\n\r\n"));
    }
}
