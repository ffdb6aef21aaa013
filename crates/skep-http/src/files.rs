//! Static files: a directory, or a folder inside the executable, below a prefix.
//!
//! A name from a request never leaves the directory: not by `..`, not by a symlink, not by any encoding. What was
//! checked is what is sent: a file is opened once, looked at through its handle, and the handle goes into the answer.
//! Small files are answered from memory, after one look at whether the disk still has the same.
//!
//! Start reading at [`Files::answer`]; then `dir` (which file), `resource` (what is said about it), `reply` (how much
//! of it is sent). `assets!` puts a folder into the executable.

mod conditional;
mod csv;
mod dir;
mod embedded;
mod encoding;
mod held;
mod listing;
mod memory;
mod mime;
mod multipart;
mod path;
mod range;
mod remote;
mod reply;
mod resource;
mod root;
mod stamp;
mod stored;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use http::header::{ALLOW, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, LOCATION, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

#[cfg(feature = "compression")]
pub(crate) use self::conditional::names_tag;
pub use self::conditional::{Verdict, conditional, not_modified, verdict_on};
use self::dir::Dir;
use self::embedded::Embedded;
#[doc(hidden)]
pub use self::embedded::EmbeddedFile;
pub use self::embedded::{Asset, Assets};
#[cfg(feature = "compression")]
pub(crate) use self::encoding::{Accepted, Encoding};
pub use self::held::Held;
pub use self::remote::RemoteFile;
pub use self::stored::{StoredFile, StoredFileExt};
use crate::request::Fields;
use crate::{Error, Response, Result};

/// The largest file held in memory, unless [`Files::held_file`] says otherwise: 64 KiB.
pub const HELD_FILE: usize = 64 << 10;

/// What all files held in memory take together, unless [`Files::held`] says otherwise: 4 MiB.
pub const HELD: usize = 4 << 20;

/// Static files below a prefix.
///
/// Answers GET and HEAD with all that RFC 9110 has for them: entity tags, conditional requests, ranges, encodings.
/// Of `style.css`, the siblings `style.css.br`, `.zst` and `.gz` are sent to clients that accept them, unless they
/// are older. Names that begin with a dot are never served, nor is anything that a symlink fetches from outside.
///
/// ```
/// use skep::files::Files;
/// use skep::{HeaderMap, Method};
///
/// # let temp = tempfile::tempdir()?;
/// # let folder = temp.path();
/// std::fs::write(folder.join("hello.txt"), "Hello, world!")?;
/// let files = Files::dir(folder).cache_control("public, max-age=3600");
/// files.check()?;
///
/// let answer = files.answer(&Method::GET, "hello.txt", "/static/hello.txt", &HeaderMap::new()).unwrap();
/// assert_eq!(answer.status(), 200);
/// assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
/// assert_eq!(answer.headers()["content-length"], "13");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Files {
    source: Source,
    options: Options,
    served: OnceLock<Served>,
}

#[derive(Debug)]
enum Source {
    Dir(PathBuf),
    Assets(Assets),
}

/// A [`Source`] that is open.
#[derive(Debug)]
enum Served {
    Dir(Dir),
    Embedded(Embedded),
}

skep_units::with_defaults! {
    #[derive(Debug)]
    struct Options {
        index: Cow<'static, str> = Cow::Borrowed("index.html"),
        listing: bool = false,
        cache_control: Cow<'static, str> = Cow::Borrowed("no-cache"),
        precompressed: bool = true,
        untrusted: bool = false,
        held_file: usize = HELD_FILE,
        held: usize = HELD,
    }
}

/// A request, as far as files are concerned.
struct Asked<'a> {
    method: &'a Method,
    /// Clean, relative to the mount.
    path: &'a str,
    /// As the client sent it.
    full_path: &'a str,
    headers: &'a Fields,
}

impl Files {
    /// The files of a directory, and of those in it. Only noted here; opened by [`check`](Self::check).
    ///
    /// The directory is opened once: if another takes its name later, this one goes on being served.
    #[must_use]
    pub fn dir(path: impl Into<PathBuf>) -> Self {
        Self::new(Source::Dir(path.into()))
    }

    fn new(source: Source) -> Self {
        Self { source, options: Options::default(), served: OnceLock::new() }
    }

    /// The file that stands for its directory (`index.html`, if nobody says otherwise); empty for none.
    #[must_use]
    pub fn index(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(|options| options.index = name.into())
    }

    /// Whether a directory without an index file is answered with a list of what is in it (no, if nobody says
    /// otherwise: it is not found). Files inside the executable are never listed.
    #[must_use]
    pub fn listing(self, listing: bool) -> Self {
        self.with(|options| options.listing = listing)
    }

    /// The value of `Cache-Control` (`no-cache`, if nobody says otherwise: kept, but asked about each time, which an
    /// entity tag makes cheap); empty for none. Hashed names inside the executable have their own.
    #[must_use]
    pub fn cache_control(self, value: impl Into<Cow<'static, str>>) -> Self {
        self.with(|options| options.cache_control = value.into())
    }

    /// For files that users sent: each is a download (`Content-Disposition: attachment`) in a `sandbox`, so that HTML
    /// or SVG among them runs no code on this site, and a directory has no index file.
    ///
    /// ```
    /// use skep::files::Files;
    /// use skep::prelude::*;
    ///
    /// let app = App::new().files("/pictures", Files::dir("data/pictures").untrusted());
    /// ```
    #[must_use]
    pub fn untrusted(self) -> Self {
        self.index("").with(|options| options.untrusted = true)
    }

    /// Whether `.br`, `.zst` and `.gz` beside a file are looked for (yes, if nobody says otherwise).
    #[must_use]
    pub fn precompressed(self, precompressed: bool) -> Self {
        self.with(|options| options.precompressed = precompressed)
    }

    /// The largest file that is held in memory, in bytes ([`HELD_FILE`], if nobody says otherwise).
    #[must_use]
    pub fn held_file(self, bytes: usize) -> Self {
        self.with(|options| options.held_file = bytes)
    }

    /// What all files held in memory may take together, in bytes ([`HELD`], if nobody says otherwise); 0 holds none.
    #[must_use]
    pub fn held(self, bytes: usize) -> Self {
        self.with(|options| options.held = bytes)
    }

    /// What is open by now was opened under other options.
    fn with(mut self, note: impl FnOnce(&mut Options)) -> Self {
        note(&mut self.options);
        self.served = OnceLock::new();
        self
    }

    /// Opens the directory, so that a wrong one is found at start-up.
    ///
    /// # Errors
    ///
    /// A directory that does not exist or cannot be read, and an option that makes no sense; the text names it.
    ///
    /// ```
    /// let error = skep::files::Files::dir("no/such/folder").check().unwrap_err();
    /// assert!(error.to_string().contains("no/such/folder"));
    /// ```
    pub fn check(&self) -> io::Result<()> {
        self.served().map(drop)
    }

    /// The prefix that links to these files have, where that is fixed: assets must be mounted there.
    #[must_use]
    pub fn prefix(&self) -> Option<&'static str> {
        match &self.source {
            Source::Dir(_) => None,
            Source::Assets(assets) => assets.prefix(),
        }
    }

    /// Answers a request.
    ///
    /// `path` is the rest of the path after the prefix, without the slash at its front and still percent-encoded;
    /// `full_path` is the whole path, with its query if it has one, as it came.
    ///
    /// # Errors
    ///
    /// 400 for a path that is no path, 403 for a file that the system does not let us read, 404, 405 with `Allow`,
    /// 406 where `Accept-Encoding` forbids what there is, 412, 416 with `Content-Range`.
    pub fn answer(&self, method: &Method, path: &str, full_path: &str, headers: &HeaderMap) -> Result {
        self.answer_to(method, path, full_path, &Fields::from(headers.clone()))
    }

    fn served(&self) -> io::Result<&Served> {
        if let Some(served) = self.served.get() {
            return Ok(served);
        }
        let served = match &self.source {
            Source::Dir(path) => Served::Dir(Dir::open(path, &self.options).map_err(|error| named(path, &error))?),
            Source::Assets(assets) => Served::Embedded(Embedded::open(*assets, &self.options)?),
        };
        Ok(self.served.get_or_init(|| served))
    }
}

extension! {
    /// What a framework does with files.
    pub trait FilesExt for Files {
        /// The answer to a request for `path`, below the prefix, of `full_path`.
        fn answer_to(&self, method: &Method, path: &str, full_path: &str, headers: &Fields) -> Result {
            if method != Method::GET && method != Method::HEAD {
                return Err(
                    Error::new(StatusCode::METHOD_NOT_ALLOWED).with_header(ALLOW, HeaderValue::from_static("GET, HEAD"))
                );
            }
            let path = path::clean(path)?;
            if path.is_empty() && !path_of(full_path).ends_with('/') {
                return redirect(full_path);
            }
            let asked = Asked { method, path: &path, full_path, headers };
            let mut response = match self.served()? {
                Served::Dir(dir) => dir.answer(&asked, &self.options),
                Served::Embedded(embedded) => embedded.answer(&asked, &self.options),
            }?;
            if self.options.untrusted {
                let headers = response.headers_mut();
                headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
                headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
                headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            }
            Ok(response)
        }

        /// Whether there is a page at the prefix itself: an index, or a listing.
        fn has_page(&self) -> bool {
            self.served().is_ok_and(|served| match served {
                Served::Dir(dir) => dir.has_page("", &self.options),
                Served::Embedded(embedded) => embedded.has_page(&self.options),
            })
        }
    }
}

impl Options {
    fn cache_control(&self) -> io::Result<HeaderValue> {
        let text = &*self.cache_control;
        HeaderValue::from_str(text)
            .map_err(|_| io::Error::other(format!("{text:?} cannot be the value of Cache-Control")))
    }
}

/// What it is, for the table of routes.
impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Dir(path) => write!(f, "the folder {}", path.display()),
            Source::Assets(_) => f.write_str("assets in the executable"),
        }
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the folder {} cannot be served: {error}", path.display()))
}

macro_rules! from_paths {
    ($($path:ty)*) => {$(
        impl From<$path> for Files {
            fn from(path: $path) -> Self {
                Self::dir(path)
            }
        }
    )*};
}

from_paths!(&str &Path PathBuf);

impl From<Assets> for Files {
    fn from(assets: Assets) -> Self {
        Self::new(Source::Assets(assets))
    }
}

/// Without the query.
fn path_of(full_path: &str) -> &str {
    full_path.split('?').next().unwrap_or_default()
}

/// To the same with a slash after the path: relative links of a directory's page need it.
fn redirect(full_path: &str) -> Result {
    let (path, query) = full_path.split_once('?').map_or((full_path, None), |(path, query)| (path, Some(query)));
    // `//name/` would be a host, not a path.
    let path = path.trim_start_matches('/');
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let slash = if path.is_empty() { "" } else { "/" };
    let location = HeaderValue::try_from(format!("/{path}{slash}{query}"));
    let location = location.map_err(|_| Error::bad_request("the path has characters that no path has"))?;
    Ok(Response::empty(StatusCode::PERMANENT_REDIRECT).with_header(LOCATION, location))
}
