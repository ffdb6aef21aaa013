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

use crate::quota::Quota;
use skep_settings::{FromSetting, GIB, KIB, settings, words};

#[cfg(feature = "compression")]
pub use apply::{Situation, add_vary, apply, choose_packed, describe, is_safe, may_be_packed, pack_page};

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

settings! {
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
    pub struct Options in "compression" {
        /// Codings in which responses are compressed for clients that accept them, best first. `zstd` needs the cargo
        /// feature `zstd`. Empty: none.
        codings: Vec<Coding> = List("br, gzip or zstd"), if cfg!(feature = "compression") { "br; gzip" } else { "" };
        /// Smallest body that is compressed.
        min_size: usize = Size(0..=GIB), KIB;
        /// Level of `br`: higher ones are smaller and take longer.
        brotli_level: u32 = Number(0..=11), 4;
        /// Level of `gzip`.
        gzip_level: u32 = Number(1..=9), 5;
        /// Level of `zstd`.
        zstd_level: u32 = Number(1..=19), 3;
        /// Level of `br` for pages in the cache, which are compressed once.
        page_level: u32 = Number(0..=11), 6;
        /// Compression of responses that hold what is one user's: the handler has read a cookie or the session, or sets
        /// one. The length of a compressed page which repeats what a request brings can tell another site a secret in
        /// it (BREACH), so `same-origin` compresses those to requests which browsers mark as caused by no other site
        /// (`Sec-Fetch-Site`). `Response::with_compression` decides for one response.
        private: Private = Choice(Private::WORDS), Private::SameOrigin.word();
        /// Maximum number of response bodies that are compressed piece by piece at the same time, for each process:
        /// those above 32 KiB, and streams. Each takes about a mebibyte with `br`. Others are sent as they are.
        concurrent as "limits.compressions": u64 = Number(0..=10_000_000), 200;
    }
    and {
        /// Those that there are.
        #[cfg_attr(not(feature = "compression"), allow(dead_code, reason = "nothing is compressed"))]
        pub(crate) running: Quota,
    }
}

words! { Private { Never = "never", SameOrigin = "same-origin", Always = "always" } }

extension! {
    /// What a framework does with these settings.
    pub trait OptionsExt for Options {
        /// Nothing is compressed.
        fn none() -> Self {
            Self { codings: Vec::new(), ..Self::default() }
        }
    }
}

impl FromSetting<str> for Coding {
    fn from_setting(name: &str) -> Result<Self, String> {
        let coding: Self = name.parse().map_err(|error: NotACoding| error.to_string())?;
        if coding.is_built_in() {
            return Ok(coding);
        }
        let feature = if coding == Self::Zstd { "zstd" } else { "compression" };
        Err(format!("\"{name}\" needs skep-server with the cargo feature {feature}"))
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
