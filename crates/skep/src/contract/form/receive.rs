//! Reads multipart forms: text into memory, files to disk, each within its limit.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::{StatusCode, header};

use super::charset::Charset;
use super::info::FieldInfo;
use super::multipart::{Broken, Event, Head, Parser, boundary};
use super::upload::{Content, Received, Temporary};
use crate::context::cx::Cx;
use crate::context::setup::Limits;
use crate::offload::{Offload, offload};
use crate::routing::param::Pairs;
use crate::routing::route::Route;
use skep_http::body::{Body, next_bytes};
use skep_http::error::{Error, Result};
use skep_http::ext::ErrorExt as _;
use skep_http::quota::{Quota, Share};
use skep_http::request::{body_error, expect_plain, no_memory};

/// The files of one request stay in memory up to this many bytes, all together.
const IN_MEMORY: usize = 64 << 10;

/// Buffer size before a write: each write is a round trip to another thread.
const AT_ONCE: usize = 256 << 10;

/// The directory for uploads in the data directory.
const FOLDER: &str = "uploads";

/// The parameters of a receiver.
pub(crate) struct Receiver<'r> {
    pub(crate) fields: &'static [FieldInfo],
    pub(crate) limits: Limits,
    /// The most bytes of the body.
    pub(crate) total: u64,
    pub(crate) data: &'r Path,
    pub(crate) quota: &'r Quota,
    pub(crate) offload: &'r Arc<dyn Offload>,
    /// What this request holds in memory.
    pub(crate) memory: &'r mut Share,
    /// The bytes of its files that stay in memory.
    pub(crate) files_in_memory: usize,
}

/// What was received.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) pairs: Pairs<'static>,
    pub(crate) files: Vec<(String, Received)>,
}

/// A text whose encoding is known at the end of the form: a field of this name says what it is where the part does not
/// (RFC 7578, 4.6).
struct Encoded {
    name: String,
    bytes: Vec<u8>,
    charset: Option<String>,
}

const CHARSET: &str = "_charset_";

/// The current part.
enum Part {
    Text(Encoded),
    File(String, Incoming),
}

/// The current file.
struct Incoming {
    file: Received,
    limit: u64,
    /// Not yet written.
    pending: Vec<u8>,
    disk: Option<(Arc<File>, Temporary)>,
}

impl Cx<'_> {
    /// Reads a form that may hold files.
    pub(crate) async fn receive(&mut self, route: &'static Route, fields: &'static [FieldInfo]) -> Result<Parts> {
        expect_plain(self.fields())?;
        let (site, limits) = (self.shared().resources().shared(), self.limits());
        let kind = self.header(&header::CONTENT_TYPE).unwrap_or_default();
        let body = self.take_body();
        let receiver = Receiver {
            fields,
            limits,
            total: route.body_limit.unwrap_or(limits.upload_total),
            data: &site.setup.data,
            quota: &site.forms.quota,
            offload: &site.setup.offload,
            memory: self.memory(),
            files_in_memory: 0,
        };
        receiver.receive(kind, body).await
    }
}

impl Receiver<'_> {
    /// Reads the body.
    ///
    /// # Errors
    /// 400 if it is no such form, 413 if it or its texts are too long or its parts too many, 503 if the disk's quota is
    /// used up. A single file that is too large is not an error: its field says so.
    pub(crate) async fn receive(mut self, content_type: &str, mut body: Body) -> Result<Parts> {
        let boundary = boundary(content_type).ok_or_else(|| Error::bad_request("the form names no boundary"))?;
        if http_body::Body::size_hint(&body).lower() > self.total {
            return Err(Error::too_large(self.total));
        }
        let (mut parser, mut parts) = (Parser::new(&boundary), Parts::default());
        let (mut open, mut count, mut texts, mut total) = (None, 0, 0, 0);
        let mut encoded = Vec::new();
        loop {
            match parser.next().map_err(|Broken(why)| Error::bad_request(format!("the form is broken: {why}")))? {
                Event::NeedsMore => {
                    let Some(bytes) = next_bytes(&mut body).await.map_err(|cause| body_error(cause, self.total))?
                    else {
                        return Err(Error::bad_request("the form ended before it was complete"));
                    };
                    total += bytes.len() as u64;
                    if total > self.total {
                        return Err(Error::too_large(self.total));
                    }
                    parser.push(&bytes);
                }
                Event::Part(head) => {
                    count += 1;
                    open = Some(self.begin(head, count)?);
                }
                Event::Content(bytes) => match &mut open {
                    Some(Part::Text(text)) => {
                        texts += bytes.len() as u64;
                        if texts > self.limits.body {
                            return Err(Error::too_large(self.limits.body));
                        }
                        self.hold(bytes.len())?;
                        text.bytes.extend_from_slice(&bytes);
                    }
                    Some(Part::File(_, incoming)) => incoming.push(&bytes, &mut self).await?,
                    None => {}
                },
                Event::PartEnd => match open.take() {
                    Some(Part::Text(text)) => encoded.push(text),
                    Some(Part::File(name, incoming)) => parts.files.push((name, incoming.end(&mut self).await?)),
                    None => {}
                },
                Event::End => {
                    self.decode(encoded, &mut parts.pairs)?;
                    return Ok(parts);
                }
            }
        }
    }

    /// Counts what is kept in memory until the request is answered.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        if self.memory.take(bytes as u64, self.limits.bodies) { Ok(()) } else { Err(body_error(no_memory().into(), 0)) }
    }

    /// 415 for an encoding that is not known, 400 for what is no text in it.
    fn decode(&mut self, texts: Vec<Encoded>, pairs: &mut Pairs<'static>) -> Result<()> {
        let of_form = texts.iter().find(|text| text.name == CHARSET && !text.bytes.is_empty());
        let of_form = of_form.map(|text| text.bytes.escape_ascii().to_string());
        for Encoded { name, bytes, charset } in texts {
            let label = charset
                .as_deref()
                .filter(|label| !label.is_empty())
                .or(of_form.as_deref())
                .filter(|_| name != CHARSET)
                .unwrap_or("utf-8");
            let about = |text: &str| format!("{}: {text}", crate::routing::param::quoted(&name));
            let charset = Charset::of(label).ok_or_else(|| {
                let message =
                    about(&format!("the encoding {} is not known here", crate::routing::param::quoted(label)));
                Error::new(StatusCode::UNSUPPORTED_MEDIA_TYPE).with_message(message)
            })?;
            let sent = bytes.len();
            let not_text = || Error::bad_request(about(&format!("the value is not {}", charset.name())));
            let text = charset.decode(bytes).ok_or_else(not_text)?;
            self.hold(text.len().saturating_sub(sent))?;
            pairs.push_owned(name, text);
        }
        Ok(())
    }

    fn begin(&self, head: Head, count: usize) -> Result<Part> {
        let most = self.limits.form_fields;
        if count > most {
            let message = format!("there are more than the {most} fields allowed here");
            return Err(Error::new(StatusCode::PAYLOAD_TOO_LARGE).with_message(message));
        }
        let charset = head.charset();
        let Head { name, file_name, content_type } = head;
        let Some(field) = super::rows::file_field(self.fields, &name) else {
            if file_name.is_some() {
                return Err(Error::bad_request(format!("{} takes no file", crate::routing::param::quoted(&name))));
            }
            return Ok(Part::Text(Encoded { name, bytes: Vec::new(), charset }));
        };
        let own = field.shape.and_then(|shape| shape().max_bytes).unwrap_or(u64::MAX);
        let file = Received {
            file_name: file_name.unwrap_or_default(),
            content_type,
            found: None,
            len: 0,
            beyond: None,
            content: Content::Memory(bytes::Bytes::new()),
            offload: Arc::clone(self.offload),
        };
        let limit = own.min(self.limits.upload_file);
        Ok(Part::File(name, Incoming { file, limit, pending: Vec::new(), disk: None }))
    }
}

impl Incoming {
    async fn push(&mut self, bytes: &[u8], receiver: &mut Receiver<'_>) -> Result<()> {
        if self.file.beyond.is_some() {
            return Ok(());
        }
        self.file.len += bytes.len() as u64;
        if self.file.len > self.limit {
            // The field will say so; what came is not kept.
            self.file.beyond = Some(self.limit);
            receiver.memory.give_back(self.pending.len() as u64);
            (self.pending, self.disk) = (Vec::new(), None);
            return Ok(());
        }
        receiver.hold(bytes.len())?;
        self.pending.extend_from_slice(bytes);
        if self.disk.is_none() && receiver.files_in_memory + self.pending.len() > IN_MEMORY {
            self.disk = Some(create(receiver).await?);
        }
        if let Some((_, temporary)) = &mut self.disk {
            let taken = if temporary.used.is_empty() { self.pending.len() } else { bytes.len() };
            if !temporary.used.take(taken as u64, receiver.limits.upload_quota) {
                let message = "there is no room for files at the moment: please try again later";
                return Err(Error::used_up(message, "limits.upload_quota is used up"));
            }
            if self.pending.len() >= AT_ONCE {
                self.write(receiver).await?;
            }
        }
        Ok(())
    }

    async fn write(&mut self, receiver: &mut Receiver<'_>) -> Result<()> {
        let Some((file, _)) = &self.disk else { return Ok(()) };
        self.file.look_at(&self.pending);
        let (file, bytes) = (Arc::clone(file), std::mem::take(&mut self.pending));
        let written = bytes.len() as u64;
        offload(&*self.file.offload, move || (&*file).write_all(&bytes)).await??;
        receiver.memory.give_back(written);
        Ok(())
    }

    async fn end(mut self, receiver: &mut Receiver<'_>) -> Result<Received> {
        self.write(receiver).await?;
        self.file.look_at(&self.pending);
        receiver.files_in_memory += self.pending.len();
        self.file.content = match self.disk {
            Some((_, temporary)) => Content::Disk(Arc::new(temporary)),
            None => Content::Memory(self.pending.into()),
        };
        Ok(self.file)
    }
}

/// Uploads of killed processes are removed after this time.
const ABANDONED: Duration = Duration::from_hours(24);

/// Removes abandoned uploads. Recent ones may belong to other processes that share the directory.
pub(crate) fn remove_old_uploads(data: &Path) {
    let Ok(files) = fs::read_dir(data.join(FOLDER)) else { return };
    for file in files.flatten() {
        let written = file.metadata().and_then(|known| known.modified());
        if written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > ABANDONED))
            && let Err(error) = fs::remove_file(file.path())
        {
            tracing::warn!(target: "skep::upload", path = %file.path().display(), "an old upload could not be removed: {error}");
        }
    }
}

/// Creates a file for an upload.
async fn create(receiver: &Receiver<'_>) -> Result<(Arc<File>, Temporary)> {
    let name = u128::from_ne_bytes(crate::security::keys::random()?);
    let path: PathBuf = receiver.data.join(FOLDER).join(format!("{name:032x}"));
    let used = receiver.quota.share();
    let made = offload(&**receiver.offload, move || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        // Made where the file is made: if the client has gone meanwhile, both go together.
        std::io::Result::Ok((Arc::new(file), Temporary { path, used }))
    });
    Ok(made.await??)
}
