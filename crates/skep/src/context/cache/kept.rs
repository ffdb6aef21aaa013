//! Lookup of cached pages and fragments, and their cache keys.
//!
//! A page may read what varies between requests (language, origin), which is known only after it was rendered. So the
//! entry under the bare key is either a page that reads neither, or the list of what it reads; a second lookup adds
//! these values.
//!
//! Start reading at [`SharedCx::kept`].

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::hash::{Hash, Hasher};
use std::pin::pin;
use std::time::Duration;

use http::StatusCode;

use super::entry::PageEntry;
use super::{Computed, EntryPolicy, stored};
use crate::context::shared_cx::{Inputs, SharedCx};
use skep_html::nonce;
use skep_http::account::Timer;
use skep_http::error::{Error, Result};
use skep_http::validation::LanguageSource;

/// TTL of the list of inputs of a page.
const DEPENDS_LASTS: Duration = Duration::from_hours(24);

/// What is kept, without the inputs that it turns out to depend on: its type, and its parameters.
pub(crate) struct Name(Vec<u8>);

impl Name {
    /// The name of a page: its type, and its own link.
    pub(crate) fn of_page<S: 'static>(link: &str, header_fields: &[&[u8]]) -> Self {
        let mut name = Self::of_type::<S>(link.len());
        name.0.extend_from_slice(link.as_bytes());
        for field in header_fields {
            name.0.push(b'\n');
            name.0.extend_from_slice(field);
        }
        name
    }

    /// The name of a fragment: its type, that of its HTML `P`, and all that is in it.
    pub(super) fn of_fragment<F: Hash + 'static, P: 'static>(fragment: &F) -> Self {
        let mut name = Self::of_type::<(F, P)>(32);
        fragment.hash(&mut name);
        name
    }

    /// The number of the type.
    fn type_number(&self) -> u128 {
        self.0.first_chunk().map_or(0, |type_id: &[u8; 8]| u64::from_ne_bytes(*type_id).into())
    }

    fn of_type<T: 'static>(room: usize) -> Self {
        let mut name = Self(Vec::with_capacity(room + 24));
        TypeId::of::<T>().hash(&mut name);
        name
    }

    /// The key with the values of these inputs.
    fn with(&self, inputs: Inputs, public: &SharedCx<'_>) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.0.len() + 9);
        // Its length in front: no name with values is another name without.
        key.extend_from_slice(&self.0.len().to_be_bytes());
        key.extend_from_slice(&self.0);
        key.push(inputs.bits());
        public.write_values(inputs, &mut key);
        key
    }
}

/// Writes down what is hashed: two that differ have different names, which a number of 64 bits would not promise.
impl Hasher for Name {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("nobody asks for a number")
    }
}

impl SharedCx<'_> {
    /// The cached entry of this name, or the result of `make`, which is then cached.
    pub(crate) async fn kept(
        &self,
        name: &Name,
        life: &EntryPolicy,
        make: impl AsyncFn(&SharedCx<'_>) -> Result<PageEntry>,
    ) -> Result<PageEntry> {
        let pages = if self.in_development() { None } else { self.resources().pages()? };
        let Some(pages) = pages else {
            let public = self.afresh();
            let result = made(&make, &public).await;
            self.note(public.inputs());
            self.inherit(life.tags());
            self.inherit(&public.inherited());
            self.inherit(&self.resources().shared().caches.tags_of_tables(&public.tables()));
            return result;
        };
        let mut inputs = Inputs::NONE;
        loop {
            let key = name.with(inputs, self);
            let failure = RefCell::new(None);
            let (timer, making) = (Timer::start(), Cell::new(Duration::ZERO));
            let compute = async || {
                let public = self.afresh();
                let start = Timer::start();
                let result = made(&make, &public).await;
                making.set(start.elapsed());
                Ok::<_, Infallible>(if inputs.holds(public.inputs()) {
                    let result = whole(result, life, &public);
                    let is_allowed = || self.resources().shared().page_variants.allows_number(name.type_number());
                    let is_stored = matches!(&result, Ok((kept, Some(_))) if kept.is_to_be_stored()) && is_allowed();
                    #[cfg(feature = "compression")]
                    let result = match result {
                        Ok((mut kept, life)) if is_stored => {
                            stored::pack(&mut kept, &public).await;
                            Ok((kept, life))
                        }
                        result => result,
                    };
                    answer(result, self.vary(inputs), &failure, is_stored)
                } else {
                    Computed::new(PageEntry::Depends(inputs.and(public.inputs()).bits()))
                        .policy(EntryPolicy::new(DEPENDS_LASTS))
                })
            };
            let found = pages.get_or(&*key, compute).await;
            timer.note_cache(making.get());
            match found? {
                PageEntry::Depends(bits) => {
                    let known = inputs;
                    inputs = inputs.and(Inputs::from_bits(bits));
                    if inputs == known {
                        return Err(Error::internal("a page that is kept depends on what nobody knows"));
                    }
                    if known != Inputs::NONE {
                        // It reads more than it did before: who asks next is to know at once.
                        let all = PageEntry::Depends(inputs.bits());
                        pages.set_with(&*name.with(Inputs::NONE, self), &all, &EntryPolicy::new(DEPENDS_LASTS)).await?;
                    }
                }
                PageEntry::Failed(status, message) => {
                    self.note(inputs);
                    return Err(failure.take().unwrap_or_else(|| again(status, message)));
                }
                kept => {
                    self.note(inputs);
                    match &kept {
                        PageEntry::Piece(_, tags, _) => self.inherit(tags),
                        _ => self.set_whole_page(),
                    }
                    return Ok(kept);
                }
            }
        }
    }
}

impl SharedCx<'_> {
    /// The request header fields that a page with these inputs depends on.
    fn vary(&self, inputs: Inputs) -> Option<&'static str> {
        let is_in_address = self.resources().language_source() == Some(LanguageSource::Address);
        let languages = &self.resources().shared().forms.languages;
        (inputs.holds(Inputs::LANGUAGE) && !is_in_address).then(|| languages.vary())
    }
}

/// Makes an entry. It has a nonce of its own: who is served the entry later has another one.
async fn made(make: &impl AsyncFn(&SharedCx<'_>) -> Result<PageEntry>, public: &SharedCx<'_>) -> Result<PageEntry> {
    let mut scope = nonce::Scope::default();
    let mut making = pin!(make(public));
    let mut entry = poll_fn(|task| scope.enter(|| making.as_mut().poll(task))).await?;
    if let PageEntry::Piece(.., used) = &mut entry {
        *used = scope.nonce().map(str::to_owned);
    }
    Ok(entry)
}

/// What was made, and its life with the tags of all that it contains and of the tables that it read. `None` if these
/// are more than an entry can have: then it cannot be stored.
fn whole(
    made: Result<PageEntry>,
    life: &EntryPolicy,
    public: &SharedCx<'_>,
) -> Result<(PageEntry, Option<EntryPolicy>)> {
    let (mut kept, mut life) = (made?, life.clone());
    public.inherit(life.tags());
    public.inherit(&public.resources().shared().caches.tags_of_tables(&public.tables()));
    let all = public.inherited();
    let fits = life.inherit(&all);
    if let Err(tags) = fits {
        tracing::warn!(target: "skep::cache", tags, "a page or fragment has more than 64 tags and tables, and is not cached");
    }
    if let PageEntry::Piece(_, tags, _) = &mut kept {
        // All of them, so that what contains it is not stored either.
        *tags = all;
    }
    Ok((kept, fits.is_ok().then_some(life)))
}

/// With what browsers and proxies are to know of a page that is kept.
fn described(mut kept: PageEntry, vary: Option<&'static str>) -> PageEntry {
    if let PageEntry::Page(page) = &mut kept {
        stored::describe(&mut page.fields, &page.body, vary);
    }
    kept
}

/// What is to be stored, or only told to those who wait.
fn answer(
    made: Result<(PageEntry, Option<EntryPolicy>)>,
    vary: Option<&'static str>,
    failure: &RefCell<Option<Error>>,
    is_stored: bool,
) -> Computed<PageEntry> {
    match made {
        Ok((kept, life)) if kept.is_to_be_stored() => {
            let described = Computed::new(described(kept, vary));
            match life.filter(|_| is_stored) {
                Some(life) => described.policy(life),
                None => described.not_stored(),
            }
        }
        Ok((kept, _)) => Computed::new(kept).not_stored(),
        Err(error) => {
            let told = PageEntry::Failed(error.status().as_u16(), error.message().map(str::to_owned));
            failure.replace(Some(error));
            Computed::new(told).not_stored()
        }
    }
}

/// The failure of a request that this one waited for.
fn again(status: u16, message: Option<String>) -> Error {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let error = Error::new(status).with_cause(SameFailure);
    match message {
        Some(message) => error.with_message(message),
        None => error,
    }
}

/// The cause is in the log line of the request that failed.
#[derive(Debug)]
struct SameFailure;

skep_units::error_text!(SameFailure, |_same| "another request was making the same page, and failed");
