//! Files that go along with a mail.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A file that goes along with a mail, or a picture that its HTML shows.
///
/// ```
/// use skep::mail::{Attachment, Mail};
///
/// let logo = Attachment::inline("logo", "image/png", &b"\x89PNG"[..]);
/// let mail = Mail::new("ada@example.org", "Your invoice", "It is attached.")
///     .html(r#"<p><img src="cid:logo" alt="The shop">It is attached.</p>"#)
///     .attach(logo)
///     .attach(Attachment::new("invoice.csv", "text/csv; charset=utf-8", "pen,2\r\n"));
/// assert_eq!((mail.attachments.len(), &*mail.attachments[1].name), (2, "invoice.csv"));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attachment {
    /// The name under which it is saved. Of an inline one it is what `cid:` names.
    pub name: String,
    /// Its media type, such as `application/pdf`, or `text/calendar; method=REQUEST` of an invitation.
    pub content_type: String,
    /// Its bytes.
    #[serde(serialize_with = "to_base64", deserialize_with = "of_base64")]
    pub bytes: Bytes,
    /// True if the HTML shows it.
    pub is_inline: bool,
}

impl Attachment {
    /// A file. An example is at [`Attachment`].
    #[must_use]
    pub fn new(name: impl Into<String>, content_type: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { name: name.into(), content_type: content_type.into(), bytes: bytes.into(), is_inline: false }
    }

    /// A picture, which the HTML shows by `src="cid:ID"`. An example is at [`Attachment`].
    #[must_use]
    pub fn inline(id: impl Into<String>, content_type: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { is_inline: true, ..Self::new(id, content_type, bytes) }
    }

    /// It, for a page.
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.content_type.replace('"', ""), BASE64_STANDARD.encode(&self.bytes))
    }

    /// What is wrong with it.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { name, content_type, .. } = self;
        if name.is_empty() || name.chars().any(|letter| letter.is_control() || letter == '/') {
            return Err(format!(
                "an attachment is named {name:?}: expected a name without slashes and control characters"
            ));
        }
        if self.is_inline && !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte)) {
            return Err(format!("a picture has the id {name:?}: expected ASCII letters, digits, and . _ - @ +"));
        }
        if !is_media_type(content_type) {
            return Err(format!(
                "the attachment {name:?} is {content_type:?}: expected a media type, such as text/csv"
            ));
        }
        Ok(())
    }
}

fn to_base64<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

fn of_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64_STANDARD.decode(text).map(Bytes::from).map_err(de::Error::custom)
}

/// RFC 9110, 8.3.1, before the parameters, which are to be printable ASCII.
fn is_media_type(text: &str) -> bool {
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    let is_token = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let is_printable = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype.trim_end()))
        && parameters.bytes().all(is_printable)
}

/// Without its bytes.
impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.name, self.content_type, self.bytes.len())
    }
}
