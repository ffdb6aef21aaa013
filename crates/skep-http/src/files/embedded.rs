//! Files inside the executable: what `assets!` makes.
//!
//! A debug build also knows where their folder is. While that is there, each request reads its file from it, so that
//! what was edited is served without the compiler. Names, links and the list of files stay those of the executable.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;
use http::HeaderValue;

use super::encoding::Encoding;
use super::reply::reply;
use super::resource::{Content, Description, Resource, Variant};
use super::root::{Kind, Root};
use super::{Asked, Options, mime, path, redirect};
use crate::{Error, Result};
use skep_html::{Buffer, CodeUrl, Href};

/// What a client may do with a name that has the hash of the content in it: keep it for a year, never ask again.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// One file of the executable, as `assets!` writes it down. Not for writing by hand.
#[doc(hidden)]
#[derive(Debug)]
pub struct EmbeddedFile {
    pub name: &'static str,
    /// `name` with the hash in it.
    pub hashed_name: &'static str,
    pub url: &'static str,
    /// Of the content: the entity tag without its quotes.
    pub hash: &'static str,
    pub bytes: &'static [u8],
    pub brotli: Option<&'static [u8]>,
    pub gzip: Option<&'static [u8]>,
}

/// One file inside the executable. `assets!` makes a constant of this type for each.
#[derive(Clone, Copy)]
pub struct Asset {
    file: &'static EmbeddedFile,
}

impl Asset {
    #[doc(hidden)]
    #[must_use]
    pub const fn of(file: &'static EmbeddedFile) -> Self {
        Self { file }
    }

    /// Where it is served: the prefix, and the name with a hash of the content in it. Ready for an attribute:
    /// whatever is special in a URL is percent-encoded.
    #[must_use]
    pub const fn url(&self) -> &'static str {
        self.file.url
    }

    /// Its path in the folder, with `/` between the segments.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.file.name
    }

    /// The content.
    #[must_use]
    pub const fn bytes(&self) -> &'static [u8] {
        self.file.bytes
    }

    /// The media type that its name says.
    #[must_use]
    pub fn content_type(&self) -> &'static str {
        mime::of(self.file.name)
    }
}

impl Href for Asset {
    fn write_href(&self, out: &mut Buffer) {
        out.push_plain(self.url());
    }
}

impl CodeUrl for Asset {
    fn write_code_url(&self, out: &mut Buffer) {
        out.push_plain(self.url());
    }
}

impl CodeUrl for &Asset {
    fn write_code_url(&self, out: &mut Buffer) {
        out.push_plain(self.url());
    }
}

/// The URL.
impl fmt::Display for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url())
    }
}

impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asset({}, {} bytes)", self.name(), self.bytes().len())
    }
}

/// A folder inside the executable, to be mounted: what `assets!` makes.
#[derive(Clone, Copy)]
pub struct Assets {
    prefix: Option<&'static str>,
    /// Where the files were read, in debug builds.
    folder: Option<&'static str>,
    files: &'static [EmbeddedFile],
}

impl Assets {
    #[doc(hidden)]
    #[must_use]
    pub const fn of(
        prefix: Option<&'static str>,
        folder: Option<&'static str>,
        files: &'static [EmbeddedFile],
    ) -> Self {
        Self { prefix, folder, files }
    }

    /// The prefix that the links of these assets have, where the macro was told one: they must be mounted there.
    #[must_use]
    pub const fn prefix(&self) -> Option<&'static str> {
        self.prefix
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = Asset> + use<> {
        self.files.iter().map(Asset::of)
    }
}

impl fmt::Debug for Assets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Assets");
        shown.field("prefix", &self.prefix).field("folder", &self.folder).field("files", &self.files.len()).finish()
    }
}

/// [`Assets`], ready to answer.
#[derive(Debug)]
pub(super) struct Embedded {
    by_name: HashMap<&'static str, Served>,
    /// Where files are read while the application runs; none in release builds, and where there is no such folder.
    folder: Option<&'static Path>,
}

/// A file under one of its two names.
#[derive(Debug)]
struct Served {
    file: &'static EmbeddedFile,
    cache_control: HeaderValue,
    /// As it is in the executable.
    resource: Resource,
}

impl Embedded {
    pub(super) fn open(assets: Assets, options: &Options) -> io::Result<Self> {
        let cache_control = options.cache_control()?;
        let folder = assets.folder.map(Path::new).filter(|folder| folder.is_dir());
        // The hash of a name that an older build made says nothing of a file that may change at any time.
        let hashed = if folder.is_some() { HeaderValue::from_static("no-cache") } else { IMMUTABLE };
        let mut by_name = HashMap::with_capacity(assets.files.len() * 2);
        for file in assets.files {
            by_name.insert(file.hashed_name, Served::new(file, &hashed));
            by_name.insert(file.name, Served::new(file, &cache_control));
        }
        Ok(Self { by_name, folder })
    }

    /// Whether there is a page at the prefix itself.
    pub(super) fn has_page(&self, options: &Options) -> bool {
        self.by_name.contains_key(&*options.index)
    }

    pub(super) fn answer(&self, asked: &Asked<'_>, options: &Options) -> Result {
        let is_directory = path::is_directory(asked.path);
        let name = if is_directory {
            Cow::Owned(format!("{}{}", asked.path, options.index))
        } else {
            Cow::Borrowed(asked.path)
        };
        if let Some(served) = self.by_name.get(&*name) {
            let edited = self.folder.and_then(|folder| served.edited(folder));
            let resource = edited.as_ref().unwrap_or(&served.resource);
            let chosen = resource.choose(asked.headers)?;
            return reply(asked.method, asked.headers, &resource.variants[chosen]);
        }
        let has_page = !is_directory && self.by_name.contains_key(&*format!("{name}/{}", options.index));
        if has_page { redirect(asked.full_path) } else { Err(Error::not_found()) }
    }
}

impl Served {
    fn new(file: &'static EmbeddedFile, cache_control: &HeaderValue) -> Self {
        let forms =
            [(Encoding::Brotli, file.brotli), (Encoding::Gzip, file.gzip), (Encoding::Identity, Some(file.bytes))];
        let variant = |(encoding, bytes): (Encoding, Option<&'static [u8]>)| {
            Some(variant(file, encoding, Bytes::from_static(bytes?), file.hash, cache_control))
        };
        let resource = Resource { variants: forms.into_iter().filter_map(variant).collect() };
        Self { file, cache_control: cache_control.clone(), resource }
    }

    /// As it is in the folder, if that differs. None if it cannot be read, such as in the moment in which an editor
    /// replaces it.
    fn edited(&self, folder: &Path) -> Option<Resource> {
        let mut opened = Root::open(folder).ok()?.find(self.file.name).ok()?;
        if opened.kind != Kind::Regular {
            return None;
        }
        let mut bytes = Vec::new();
        opened.file.read_to_end(&mut bytes).ok()?;
        if bytes == self.file.bytes {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        // No hash of an executable begins so.
        let hash = format!("disk-{:016x}", hasher.finish());
        let variant = variant(self.file, Encoding::Identity, bytes.into(), &hash, &self.cache_control);
        Some(Resource { variants: vec![variant] })
    }
}

fn variant(file: &EmbeddedFile, encoding: Encoding, bytes: Bytes, hash: &str, cache_control: &HeaderValue) -> Variant {
    let tag = format!("\"{hash}{}\"", encoding.suffix());
    Variant::from(Description {
        encoding,
        len: bytes.len() as u64,
        content: Content::Held(bytes),
        tag: Some(HeaderValue::try_from(tag).expect("a hash is ASCII")),
        // Builds are reproducible; times of files are not.
        modified: None,
        content_type: mime::header(file.name),
        cache_control,
        varies: file.brotli.or(file.gzip).is_some(),
    })
}
