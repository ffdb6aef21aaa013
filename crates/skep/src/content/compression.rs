//! Compression of responses (RFC 9110, 8.4.1 and 12.5.3): on the fly, and once for pages in the cache.
//!
//! A response is left as it is if it is small, of a media type that gains nothing, a part of something (206), encoded
//! already, or marked `no-transform`; and, unless `compression.private` says otherwise, if it holds what is one user's
//! and another site may have caused the request: the length of a compressed page tells an observer how much of what the
//! request brought is in the page already, and so, guess by guess, a secret in it (BREACH, 2013).
//!
//! The settings are [`Options`]; the rest needs the cargo feature `compression`, which `skep-server` has by default. Of
//! a component, the host compresses the responses.
//!
//! Start reading at `apply`. `encoder` has the codings, `pieces` the bodies that are compressed as they are sent.

#[cfg(feature = "compression")]
mod apply;
#[cfg(feature = "compression")]
mod encoder;
#[cfg(feature = "compression")]
mod pieces;

use std::fmt;
use std::str::FromStr;

use crate::base::quota::Quota;

#[cfg(feature = "compression")]
pub(crate) use apply::{Situation, add_vary, apply, choose_packed, describe, is_safe, may_be_packed, pack_page};

/// A coding that compresses (RFC 9110, 8.4.1).
///
/// ```
/// use skep::compression::Coding;
///
/// assert_eq!("br".parse(), Ok(Coding::Brotli));
/// assert!("deflate".parse::<Coding>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Coding {
    /// `br`: the smallest.
    Brotli,
    /// `zstd`: the fastest. It needs the cargo feature `zstd`.
    Zstd,
    /// `gzip`: everywhere.
    Gzip,
}

/// Which responses with what is one user's are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Private {
    /// None.
    Never,
    /// Those to requests which no other site has caused, as far as the browser says (`Sec-Fetch-Site`).
    #[default]
    SameOrigin,
    /// All: no page that holds a secret repeats what a request brings.
    Always,
}

with_defaults! {
    /// The settings `compression.*`.
    ///
    /// ```
    /// use skep::compression::Coding;
    ///
    /// let mut setup = skep::Setup::default();
    /// setup.compression.codings = vec![Coding::Brotli, Coding::Gzip];
    /// ```
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct Options {
        /// The codings, best first. None: nothing is compressed.
        pub codings: Vec<Coding> = Vec::new(),
        /// Smaller bodies are left as they are (1 KiB).
        pub min_size: usize = 1 << 10,
        /// The level of `br`, from 0 to 11 (4).
        pub brotli_level: u32 = 4,
        /// The level of `gzip`, from 1 to 9 (5).
        pub gzip_level: u32 = 5,
        /// The level of `zstd`, from 1 to 19 (3).
        pub zstd_level: u32 = 3,
        /// The level of `br` for pages in the cache, which are compressed once (6).
        pub page_level: u32 = 6,
        /// Responses with what is one user's.
        pub private: Private = Private::default(),
        /// Bodies that are compressed piece by piece at the same time, in this process (200). Others are sent as they
        /// are.
        pub concurrent: u64 = 200,
        /// Those that there are.
        #[cfg_attr(not(feature = "compression"), allow(dead_code, reason = "nothing is compressed"))]
        pub(crate) running: Quota = Quota::default(),
    }
}

impl Coding {
    const ALL: [Self; 3] = [Self::Brotli, Self::Zstd, Self::Gzip];

    /// Its name in header fields.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// True if this program can write it.
    #[must_use]
    pub fn is_built_in(self) -> bool {
        match self {
            Self::Brotli | Self::Gzip => cfg!(feature = "compression"),
            Self::Zstd => cfg!(feature = "zstd"),
        }
    }
}

/// What is no [`Coding`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotACoding(String);

impl fmt::Display for NotACoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no coding: expected br, zstd or gzip", self.0)
    }
}

impl std::error::Error for NotACoding {}

impl FromStr for Coding {
    type Err = NotACoding;

    fn from_str(name: &str) -> Result<Self, NotACoding> {
        Self::ALL.into_iter().find(|coding| coding.name() == name).ok_or_else(|| NotACoding(name.to_owned()))
    }
}
