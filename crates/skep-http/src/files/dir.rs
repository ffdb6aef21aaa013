//! Files from a directory.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::HeaderValue;

use super::encoding::Encoding;
use super::memory::{Entry, Memory, Origin};
use super::reply::reply;
use super::resource::{Content, Description, Resource, Variant};
use super::root::{Kind, Opened, Root};
use super::stamp::Stamp;
use super::{Asked, Options, listing, mime, path, redirect};
use crate::{Error, Result};

/// An open directory, and what of it is in memory.
#[derive(Debug)]
pub(super) struct Dir {
    root: Root,
    memory: Memory,
    cache_control: HeaderValue,
}

/// One encoding of a file, open.
struct EncodedFile {
    encoding: Encoding,
    name: String,
    opened: Opened,
}

impl Dir {
    pub(super) fn open(path: &Path, options: &Options) -> io::Result<Self> {
        let root = Root::open(path)?;
        let memory = Memory::new(options.held, options.held_file);
        Ok(Self { root, memory, cache_control: options.cache_control()? })
    }

    pub(super) fn answer(&self, asked: &Asked<'_>, options: &Options) -> Result {
        if let Some(entry) = self.memory.get(asked.path) {
            let chosen = entry.resource.choose(asked.headers)?;
            if entry.is_current(&self.root, chosen) {
                return reply(asked.method, asked.headers, &entry.resource.variants[chosen]);
            }
            self.memory.forget(asked.path);
        }
        if path::is_directory(asked.path) { self.directory(asked, options) } else { self.file(asked, options) }
    }

    fn file(&self, asked: &Asked<'_>, options: &Options) -> Result {
        let opened = self.root.find(asked.path).map_err(refusal)?;
        match opened.kind {
            Kind::Regular => self.send(asked, options, asked.path, opened),
            Kind::Directory if self.has_page(asked.path, options) => redirect(asked.full_path),
            Kind::Directory | Kind::Other => Err(Error::not_found()),
        }
    }

    /// Whether the directory, asked for with its slash, would be answered with a page.
    pub(super) fn has_page(&self, path: &str, options: &Options) -> bool {
        let slash = if path.is_empty() { "" } else { "/" };
        let name = format!("{path}{slash}{}", options.index);
        let index = || self.root.find(&name).is_ok_and(|opened| opened.kind == Kind::Regular);
        options.listing || (!options.index.is_empty() && index())
    }

    fn directory(&self, asked: &Asked<'_>, options: &Options) -> Result {
        if !options.index.is_empty() {
            let name = format!("{}{}", asked.path, options.index);
            match self.root.find(&name) {
                Ok(opened) if opened.kind == Kind::Regular => return self.send(asked, options, &name, opened),
                Err(error) if !is_absent(&error) => return Err(refusal(error)),
                Ok(_) | Err(_) => {}
            }
        }
        if options.listing { self.list(asked) } else { Err(Error::not_found()) }
    }

    fn list(&self, asked: &Asked<'_>) -> Result {
        let opened = self.root.find(asked.path).map_err(refusal)?;
        if opened.kind != Kind::Directory {
            return Err(Error::not_found());
        }
        let (entries, has_more) = self.root.list(asked.path, &opened.file, listing::MAX_ENTRIES).map_err(refusal)?;
        Ok(listing::answer(asked, entries, has_more))
    }

    /// Answers with the open file `name`, from memory from now on if it is small and still.
    fn send(&self, asked: &Asked<'_>, options: &Options, name: &str, opened: Opened) -> Result {
        let may_have_siblings = options.precompressed && mime::is_compressible(mime::of(name));
        let mut sources = if may_have_siblings { self.siblings(name, &opened) } else { Vec::new() };
        sources.push(EncodedFile { encoding: Encoding::Identity, name: name.to_owned(), opened });
        let shared = VariantContext {
            content_type: mime::header(name),
            cache_control: &self.cache_control,
            varies: sources.len() > 1,
            now: SystemTime::now(),
        };
        if self.is_worth_holding(&sources, options, shared.now)
            && let Some((variants, origins)) = sources.iter().map(|source| read(source, &shared)).collect()
        {
            let entry = Arc::new(Entry::new(Resource { variants }, origins, may_have_siblings));
            self.memory.hold(asked.path, Arc::clone(&entry));
            return choose_and_reply(asked, &entry.resource);
        }
        let open = |source: EncodedFile| {
            let stamp = source.opened.stamp;
            shared.variant(source.encoding, &stamp, Content::File(Arc::new(source.opened.file)))
        };
        choose_and_reply(asked, &Resource { variants: sources.into_iter().map(open).collect() })
    }

    /// The compressed forms of `name` that lie beside it and are not older.
    fn siblings(&self, name: &str, original: &Opened) -> Vec<EncodedFile> {
        let sibling = |encoding: Encoding| {
            let name = format!("{name}{}", encoding.suffix());
            let opened = self.root.find(&name).ok()?;
            let counts = opened.kind == Kind::Regular && opened.stamp.modified >= original.stamp.modified;
            counts.then_some(EncodedFile { encoding, name, opened })
        };
        Encoding::PACKED.into_iter().filter_map(sibling).collect()
    }

    fn is_worth_holding(&self, sources: &[EncodedFile], options: &Options, now: SystemTime) -> bool {
        let size = |source: &EncodedFile| usize::try_from(source.opened.stamp.size).unwrap_or(usize::MAX);
        let is_small = |source: &EncodedFile| size(source) <= options.held_file && source.opened.stamp.is_settled(now);
        sources.iter().all(is_small) && self.memory.has_room_for(sources.iter().map(size).sum(), sources.len())
    }
}

/// What the encodings of one file have in common.
struct VariantContext<'a> {
    content_type: HeaderValue,
    cache_control: &'a HeaderValue,
    varies: bool,
    now: SystemTime,
}

impl VariantContext<'_> {
    fn variant(&self, encoding: Encoding, stamp: &Stamp, content: Content) -> Variant {
        Variant::from(Description {
            encoding,
            content,
            len: stamp.size,
            tag: Some(stamp.tag(encoding, self.now)),
            modified: stamp.last_modified(self.now),
            content_type: self.content_type.clone(),
            cache_control: self.cache_control,
            varies: self.varies,
        })
    }
}

/// Reads a small file whole. `None` if it is not as long as it was, or if stamps mean nothing here: then it is not
/// held.
fn read(source: &EncodedFile, shared: &VariantContext<'_>) -> Option<(Variant, Origin)> {
    let place = Root::place(&source.name)?;
    let stamp = source.opened.stamp;
    let expected = usize::try_from(stamp.size).ok()?;
    let mut bytes = Vec::with_capacity(expected + 1);
    (&source.opened.file).take(stamp.size + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() != expected {
        return None;
    }
    let content = Content::Held(Bytes::from(bytes.into_boxed_slice()));
    Some((shared.variant(source.encoding, &stamp, content), Origin { place, stamp }))
}

fn choose_and_reply(asked: &Asked<'_>, resource: &Resource) -> Result {
    let chosen = resource.choose(asked.headers)?;
    reply(asked.method, asked.headers, &resource.variants[chosen])
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

/// What the system's "no" means to the client. Where a name leads out there is nothing, as far as it may know.
pub(super) fn refusal(error: io::Error) -> Error {
    match error.kind() {
        _ if is_absent(&error) => Error::not_found(),
        io::ErrorKind::PermissionDenied => Error::forbidden("this file may not be read").with_cause(error),
        _ => Error::internal(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_system_forbids_is_forbidden() {
        for (kind, status) in [
            (io::ErrorKind::NotFound, 404),
            (io::ErrorKind::NotADirectory, 404),
            (io::ErrorKind::InvalidFilename, 404),
            (io::ErrorKind::PermissionDenied, 403),
            (io::ErrorKind::Other, 500),
        ] {
            assert_eq!(refusal(kind.into()).status(), status, "{kind}");
        }
    }
}
