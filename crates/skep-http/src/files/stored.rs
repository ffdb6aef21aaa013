//! One stored file behind a check: an attachment, an invoice, a picture.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY};
use http::{HeaderValue, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::dir::refusal;
use super::encoding::Encoding;
use super::mime;
use super::path;
use super::reply::reply;
use super::resource::{Content, Description, Variant};
use super::root::{Kind, Root};
use crate::request::Fields;
use crate::{Error, Response, Result};

/// A file that a handler sends once it has checked who asks: `Cx::send_file`. It has all that
/// the files of a [folder](crate::files::Files) have: ranges, `ETag`, `Last-Modified`, conditional requests,
/// `sendfile`.
///
/// Unless [`inline`](Self::inline) says otherwise it is a download, and always in a `sandbox`: HTML or SVG that a user
/// uploaded runs no code on this site. Proxies do not store it.
///
/// ```
/// use skep::files::StoredFile;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/attachments/{id}")]
/// struct Attachment { id: u32 }
///
/// impl Handle for Attachment {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         // Here the ticket's owner would be checked, and the name read from the database.
///         let file = StoredFile::new(cx.data().join("attachments"), self.id.to_string()).name("Grüße.pdf");
///         cx.send_file(&file)
///     }
/// }
/// # let folder = std::env::temp_dir().join(format!("skep-stored-{}", std::process::id()));
/// # std::fs::create_dir_all(folder.join("attachments")).unwrap();
/// # std::fs::write(folder.join("attachments/7"), "%PDF-1.7").unwrap();
/// # let mut setup = skep::Setup::default();
/// # setup.temporary_database = true;
/// # setup.data = folder.clone();
/// # let client = skep::test::Client::with_setup(App::new().serve(services![Attachment]), setup);
/// let answer = client.get("/attachments/7");
/// assert_eq!(answer.header("content-type"), Some("application/pdf"));
/// assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"Gr__e.pdf\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.pdf"));
/// assert_eq!(client.get("/attachments/8").status(), 404);
/// # std::fs::remove_dir_all(folder).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct StoredFile {
    folder: PathBuf,
    path: String,
    name: Option<String>,
    content_type: Option<HeaderValue>,
    inline: bool,
}

impl StoredFile {
    /// The file at `path` in `folder`. Like a request for a file of a folder, it leads nowhere else: `..` and symbolic
    /// links out of the folder are a 404.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, path: impl Into<String>) -> Self {
        Self { folder: folder.into(), path: path.into(), name: None, content_type: None, inline: false }
    }

    /// The name that a browser stores it under, which may be what the user called it; its ending decides the media
    /// type. Default: the last segment of the path.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The media type, where the name does not say it. A value that no header field can have is ignored.
    #[must_use]
    pub fn content_type(mut self, content_type: &str) -> Self {
        self.content_type = HeaderValue::from_str(content_type).ok();
        self
    }

    /// Lets the browser show it, such as a picture in a page or a PDF, instead of storing it.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.inline = true;
        self
    }
}

extension! {
    /// What a framework does with a stored file.
    pub trait StoredFileExt for StoredFile {
        /// Answers a request: 404 without such a file, 412 and 416 as the request's fields say.
        fn answer(&self, method: &Method, headers: &Fields) -> Result {
            let encoded = utf8_percent_encode(&self.path, PATH).to_string();
            let clean = path::clean(&encoded).map_err(|_| Error::not_found())?;
            let opened = Root::open(&self.folder).and_then(|root| root.find(&clean)).map_err(refusal)?;
            if opened.kind != Kind::Regular {
                return Err(Error::not_found());
            }
            let (now, stamp) = (SystemTime::now(), opened.stamp);
            let name = self.name.as_deref().unwrap_or_else(|| clean.rsplit('/').next().unwrap_or_default());
            let variant = Variant::from(Description {
                encoding: Encoding::Identity,
                content: Content::File(Arc::new(opened.file)),
                len: stamp.size,
                tag: Some(stamp.tag(Encoding::Identity, now)),
                modified: stamp.last_modified(now),
                content_type: self.content_type.clone().unwrap_or_else(|| mime::header(name)),
                cache_control: &PRIVATE,
                varies: false,
            });
            // To a form the whole file is the response, too.
            let method = if method == Method::HEAD { &Method::HEAD } else { &Method::GET };
            let mut response = reply(method, headers, &variant)?;
            confine(&mut response, self.inline, name);
            Ok(response)
        }
    }
}

/// A file of this name runs no code on this site.
pub(super) fn confine(response: &mut Response, inline: bool, name: &str) {
    let fields = response.headers_mut();
    fields.insert(CONTENT_DISPOSITION, disposition(inline, name));
    fields.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    );
}

pub(super) const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// RFC 6266: a name in ASCII for old clients, and the real one (RFC 8187). Neither can end the field or name a folder.
pub(super) fn disposition(inline: bool, name: &str) -> HeaderValue {
    let kind = if inline { "inline" } else { "attachment" };
    let safe = |letter: char| !letter.is_control() && !matches!(letter, '/' | '\\' | '"');
    let name: String = name.chars().map(|letter| if safe(letter) { letter } else { '_' }).collect();
    let ascii: String =
        name.chars().map(|letter| if letter.is_ascii() && letter != '%' { letter } else { '_' }).collect();
    let mut field = format!("{kind}; filename=\"{ascii}\"");
    if ascii != name {
        field.push_str("; filename*=UTF-8''");
        field.extend(utf8_percent_encode(&name, ATTRIBUTE));
    }
    HeaderValue::try_from(field).unwrap_or(HeaderValue::from_static("attachment"))
}

/// A path as a request has it.
const PATH: &AsciiSet = &ATTRIBUTE.remove(b'/');

/// All but some of the characters of `attr-char` (RFC 8187, 3.2.1).
const ATTRIBUTE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_field() {
        let text = |name| disposition(false, name).to_str().unwrap().to_owned();
        assert_eq!(text("report.pdf"), r#"attachment; filename="report.pdf""#);
        assert_eq!(text("a\"; x=\"b\r\nc/../d"), r#"attachment; filename="a_; x=_b__c_.._d""#);
        assert_eq!(text("100 %.txt"), "attachment; filename=\"100 _.txt\"; filename*=UTF-8''100%20%25.txt");
    }
}
