//! The way of what is kept: look, else make it, and keep it under all that it was made from.
//!
//! A page may read what varies from request to request (its language, the origin), and only after it was made is it known what it
//! read. So what stands under the bare name is either what was made from nothing else, or the list of what it reads; then the
//! name is taken again, with the values of these.
//!
//! Start reading at [`Public::kept`].

use std::any::TypeId;
use std::cell::RefCell;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{Answer, Life, page};
use crate::error::{Error, Result};
use crate::public::{Inputs, Public};

/// What a cache of pages and fragments keeps.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// Status, header fields, body.
    Page(u16, Vec<(String, Bytes)>, Bytes),
    /// HTML, and the numbers of all its tags: what contains it is void with it.
    Piece(String, Vec<u64>),
    /// It was not made: status, and what the client may know. For those who waited for it; it is not stored.
    Failed(u16, Option<String>),
    /// It depends on these inputs: the name is to be asked for with their values.
    Depends(u8),
}

impl Kept {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Page(..) => "a page",
            Self::Piece(..) => "a fragment",
            Self::Failed(..) => "a failure",
            Self::Depends(_) => "a list of inputs",
        }
    }

    /// With what browsers and proxies are to know of a page that is kept.
    fn described(mut self, inputs: Inputs) -> Self {
        if let Self::Page(_, headers, body) = &mut self {
            page::describe(headers, body, inputs);
        }
        self
    }

    /// Failures pass, and so do answers that are none.
    fn is_to_be_stored(&self) -> bool {
        !matches!(self, Self::Page(status, ..) if *status != StatusCode::OK.as_u16())
    }
}

/// How long it is remembered what a page depends on.
const DEPENDS_LASTS: Duration = Duration::from_hours(24);

/// What is kept, without the inputs that it turns out to depend on: its type, and its parameters.
pub(super) struct Name(Vec<u8>);

impl Name {
    /// The name of a page: its type, and its own link.
    pub(super) fn of_page<S: 'static>(link: &str, header_fields: &[&[u8]]) -> Self {
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

    fn of_type<T: 'static>(room: usize) -> Self {
        let mut name = Self(Vec::with_capacity(room + 24));
        TypeId::of::<T>().hash(&mut name);
        name
    }

    /// With the values of inputs.
    fn with(&self, inputs: Inputs, public: &Public<'_>) -> Vec<u8> {
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

impl Public<'_> {
    /// What is kept under this name, or else what `make` makes, which is kept so long.
    pub(super) async fn kept(
        &self,
        name: &Name,
        life: &Life,
        make: impl AsyncFn(&Public<'_>) -> Result<Kept>,
    ) -> Result<Kept> {
        let pages = if self.in_development() { None } else { self.local().pages()? };
        let Some(pages) = pages else {
            let public = self.afresh();
            let result = make(&public).await;
            self.note(public.inputs());
            self.inherit(life.tags());
            self.inherit(&public.inherited());
            return result;
        };
        let mut inputs = Inputs::NONE;
        loop {
            let key = name.with(inputs, self);
            let failure = RefCell::new(None);
            let compute = async || {
                let public = self.afresh();
                let result = make(&public).await;
                Ok::<_, Infallible>(if inputs.holds(public.inputs()) {
                    answer(whole(result, life, &public), inputs, &failure)
                } else {
                    Answer::of(Kept::Depends(inputs.and(public.inputs()).bits())).living(Life::of(DEPENDS_LASTS))
                })
            };
            match pages.get_or(&*key, compute).await? {
                Kept::Depends(bits) => {
                    let known = inputs;
                    inputs = inputs.and(Inputs::from_bits(bits));
                    if inputs == known {
                        return Err(Error::internal("a page that is kept depends on what nobody knows"));
                    }
                    if known != Inputs::NONE {
                        // It reads more than it did before: who asks next is to know at once.
                        let all = Kept::Depends(inputs.bits());
                        pages.set_for(&*name.with(Inputs::NONE, self), &all, &Life::of(DEPENDS_LASTS)).await?;
                    }
                }
                Kept::Failed(status, message) => {
                    self.note(inputs);
                    return Err(failure.take().unwrap_or_else(|| again(status, message)));
                }
                kept => {
                    self.note(inputs);
                    if let Kept::Piece(_, tags) = &kept {
                        self.inherit(tags);
                    }
                    return Ok(kept);
                }
            }
        }
    }
}

/// What was made, and its life with the tags of all that it contains.
fn whole(made: Result<Kept>, life: &Life, public: &Public<'_>) -> Result<(Kept, Life)> {
    let (mut kept, mut life) = (made?, life.clone());
    life.inherit(&public.inherited()).map_err(|tags| {
        Error::internal(format!("a page and the fragments in it have {tags} tags, and at most 64 can be kept"))
    })?;
    if let Kept::Piece(_, tags) = &mut kept {
        life.tags().clone_into(tags);
    }
    Ok((kept, life))
}

/// What is to be stored, or only told to those who wait.
fn answer(made: Result<(Kept, Life)>, inputs: Inputs, failure: &RefCell<Option<Error>>) -> Answer<Kept> {
    match made {
        Ok((kept, life)) if kept.is_to_be_stored() => Answer::of(kept.described(inputs)).living(life),
        Ok((kept, _)) => Answer::of(kept).unstored(),
        Err(error) => {
            let told = Kept::Failed(error.status().as_u16(), error.message().map(str::to_owned));
            failure.replace(Some(error));
            Answer::of(told).unstored()
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

impl std::fmt::Display for SameFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("another request was making the same page, and failed")
    }
}

impl std::error::Error for SameFailure {}
