//! What static files from a directory promise, against real directories.
//!
//! The clocks of file systems cannot be moved, so [`settle`] waits: a file is held in memory only when its last change
//! is a tick away.

#![cfg(unix)]

mod answers;
mod conditions;
mod encodings;
mod memory;
mod paths;
mod ranges;

use std::fs;
use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skep::files::Files;
use skep::{Body, Error, HeaderMap, HeaderName, HeaderValue, Method, Response, header};
use tempfile::TempDir;

/// A directory of files, mounted at `/static`.
struct Site {
    temp: TempDir,
    files: Files,
}

impl Site {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |files| files)
    }

    fn with(files: &[(&str, &str)], options: impl FnOnce(Files) -> Files) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let served = options(Files::dir(temp.path().join("site")));
        let site = Self { temp, files: served };
        fs::create_dir(site.path("")).unwrap();
        for (name, content) in files {
            fs::create_dir_all(site.path(name).parent().unwrap()).unwrap();
            fs::write(site.path(name), content).unwrap();
        }
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join("site").join(name)
    }

    fn ask(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<Response, Error> {
        self.files.answer(method, path, &format!("/static/{path}"), headers)
    }

    fn get(&self, path: &str) -> Response {
        self.ask(&Method::GET, path, &HeaderMap::new()).unwrap()
    }

    fn get_with(&self, path: &str, fields: &[(HeaderName, &str)]) -> Response {
        self.ask(&Method::GET, path, &headers(fields)).unwrap()
    }

    /// The status, also where it is that of an error.
    fn status(&self, path: &str, fields: &[(HeaderName, &str)]) -> u16 {
        let answer = self.ask(&Method::GET, path, &headers(fields));
        answer.map_or_else(|error| error.status().as_u16(), |response| response.status().as_u16())
    }

    fn text(&self, path: &str) -> String {
        text(self.get(path))
    }
}

fn headers(fields: &[(HeaderName, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// Long enough for what was written before to be held in memory.
fn settle() {
    std::thread::sleep(Duration::from_millis(40));
}

/// The field, or nothing.
fn field(response: &Response, name: HeaderName) -> &str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

fn etag(response: &Response) -> String {
    field(response, header::ETAG).to_owned()
}

/// Bodies of files never wait.
fn read(body: Body) -> Vec<u8> {
    let mut whole = pin!(body.collect(u64::MAX));
    match whole.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(bytes) => bytes.unwrap().to_vec(),
        Poll::Pending => panic!("a file had to be waited for"),
    }
}

fn text(response: Response) -> String {
    String::from_utf8(read(response.into_body())).unwrap()
}

fn is_from_memory(response: &Response) -> bool {
    response.body().as_whole().is_some()
}
