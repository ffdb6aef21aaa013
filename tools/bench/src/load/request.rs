//! One request as it is planned, and as it is written.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::target::Target;

/// A request: what is asked for, and when, if its time is given.
///
/// ```
/// use skep_bench::load::RequestSpec;
///
/// let search = RequestSpec::get("/search?q=bees").header("accept-language", "de")?;
/// let form = RequestSpec::get("/comments").method("POST")?.body("name=Anna");
/// assert!(RequestSpec::get("/").header("x", "a\r\nb").is_err());
/// # let _ = (search, form);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSpec {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Over HTTP/1.1: the body is sent in chunks of this number of bytes.
    pub(crate) chunk: Option<NonZeroUsize>,
    /// With [`Pace::Replay`](super::Pace::Replay): how long after the beginning it is due.
    pub(crate) at: Duration,
}

impl RequestSpec {
    /// A GET of this path and query. See [`RequestSpec`].
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET".into(),
            path: path.into(),
            headers: Vec::new(),
            body: Vec::new(),
            chunk: None,
            at: Duration::ZERO,
        }
    }

    /// Another method. See [`RequestSpec`].
    pub fn method(mut self, method: &str) -> Result<Self, String> {
        if method.is_empty() || !method.bytes().all(is_token) {
            return Err(format!("\"{method}\" is no method; it would be GET, HEAD, POST or the like"));
        }
        method.clone_into(&mut self.method);
        Ok(self)
    }

    /// One more field of the head. `host` takes the place of the URL's. See [`RequestSpec`].
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, String> {
        if name.is_empty() || !name.bytes().all(is_token) || value.bytes().any(|byte| byte < b' ' && byte != b'\t') {
            return Err(format!("\"{name}: {value}\" is no field of a head; it would be \"accept: text/html\""));
        }
        if ["content-length", "transfer-encoding", "connection"].iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
            return Err(format!("\"{name}\" is written by the bench itself"));
        }
        self.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        Ok(self)
    }

    /// What is sent with it. See [`RequestSpec`].
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The body is sent in chunks of at most this number of bytes, and without its length (RFC 9112, 7.1). HTTP/2 has
    /// frames of its own.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use skep_bench::load::RequestSpec;
    ///
    /// let two_chunks = RequestSpec::get("/echo").method("POST")?.body("0123456789").chunked(NonZeroUsize::new(5).unwrap());
    /// # let _ = two_chunks;
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn chunked(mut self, bytes: NonZeroUsize) -> Self {
        self.chunk = Some(bytes);
        self
    }

    /// Path and query. See [`RequestSpec`].
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it may be asked once more than planned (RFC 9110, 9.2.1).
    pub(crate) fn is_safe(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// As it goes over an HTTP/1.1 connection (RFC 9112, 3).
    pub(crate) fn written(&self, target: &Target, reuse: bool) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let host = self.headers.iter().find(|(name, _)| name == "host").map_or(target.authority(), |(_, host)| host);
        let _ = write!(head, "host: {host}\r\n");
        for (name, value) in self.headers.iter().filter(|(name, _)| name != "host") {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if self.chunk.is_some() {
            head.push_str("transfer-encoding: chunked\r\n");
        } else if !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        if !reuse {
            head.push_str("connection: close\r\n");
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        match self.chunk {
            Some(most) => bytes.extend(in_chunks(&self.body, most)),
            None => bytes.extend_from_slice(&self.body),
        }
        bytes
    }
}

/// RFC 9112, 7.1: each chunk after its length, and an empty one at the end.
fn in_chunks(body: &[u8], most: NonZeroUsize) -> Vec<u8> {
    let chunks =
        body.chunks(most.get()).map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    chunks.chain([b"0\r\n\r\n".to_vec()]).flatten().collect()
}

/// RFC 9110, 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Requests from a text: a path or a URL on each line, a method before it if it is not GET. Blank lines and lines that
/// begin with `#` are left out.
///
/// ```
/// let requests = skep_bench::load::read_urls("/\n# comment\nHEAD /about\nhttp://127.0.0.1:8080/search?q=a\n")?;
/// assert_eq!(requests.iter().map(|one| one.path()).collect::<Vec<_>>(), ["/", "/about", "/search?q=a"]);
/// # Ok::<(), String>(())
/// ```
pub fn read_urls(text: &str) -> Result<Vec<RequestSpec>, String> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let meant = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let requests = meant.map(|(number, line)| of_line(line).map_err(|error| format!("line {number}: {error}")));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    if requests.is_empty() { Err("there is no URL in it".into()) } else { Ok(requests) }
}

fn of_line(line: &str) -> Result<RequestSpec, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (method, url) = match words.as_slice() {
        [url] => ("GET", *url),
        [method, url] => (*method, *url),
        _ => return Err(format!("\"{line}\" is neither a URL nor a method and a URL")),
    };
    let path = if url.starts_with('/') { url.to_owned() } else { url.parse::<Target>()?.path().to_owned() };
    RequestSpec::get(path).method(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        "http://h:1/".parse().unwrap()
    }

    #[test]
    fn a_request_is_written_as_rfc_9112_says() {
        let text = |spec: RequestSpec, reuse| String::from_utf8(spec.written(&target(), reuse)).unwrap();
        assert_eq!(text(RequestSpec::get("/a"), true), "GET /a HTTP/1.1\r\nhost: h:1\r\n\r\n");
        assert_eq!(text(RequestSpec::get("/"), false), "GET / HTTP/1.1\r\nhost: h:1\r\nconnection: close\r\n\r\n");
        let post = RequestSpec::get("/").method("POST").unwrap().header("Host", "other").unwrap().body("a=b");
        assert_eq!(text(post, true), "POST / HTTP/1.1\r\nhost: other\r\ncontent-length: 3\r\n\r\na=b");
    }

    #[test]
    fn a_body_in_chunks_has_their_lengths_and_not_its_own() {
        let post = RequestSpec::get("/").method("POST").unwrap().body("0123456789abcdefg");
        let written = post.chunked(NonZeroUsize::new(16).unwrap()).written(&target(), true);
        let expected = "POST / HTTP/1.1\r\nhost: h:1\r\ntransfer-encoding: chunked\r\n\r\n\
                        10\r\n0123456789abcdef\r\n1\r\ng\r\n0\r\n\r\n";
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn a_line_that_is_no_request_is_named() {
        assert_eq!(
            read_urls("/\nGET / HTTP/1.1\n").unwrap_err(),
            "line 2: \"GET / HTTP/1.1\" is neither a URL nor a method and a URL"
        );
        assert!(read_urls("a.html").unwrap_err().starts_with("line 1: \"a.html\" is no URL"));
        assert_eq!(read_urls("\n# nothing\n").unwrap_err(), "there is no URL in it");
    }

    #[test]
    fn nothing_is_smuggled_into_a_head() {
        assert!(RequestSpec::get("/").header("a\r\nb", "c").is_err());
        assert!(RequestSpec::get("/").header("content-length", "7").is_err());
        assert!(RequestSpec::get("/").method("GET /x").is_err());
    }
}
