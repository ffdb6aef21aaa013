//! What requests have besides their path.

/// A body of 1024 bytes.
pub(crate) const KILOBYTE: &str = match str::from_utf8(&[b'k'; 1024]) {
    Ok(text) => text,
    Err(_) => panic!("letters are UTF-8"),
};

/// What a request has besides its path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Request {
    /// A body of [`KILOBYTE`], posted in four chunks.
    Chunked,
    /// A form of a kilobyte, posted.
    Form,
    /// The cookie that the first response has set.
    Cookie,
    /// The cookie that `/enter` sets.
    Entered,
    /// That it accepts gzip.
    Gzip,
    /// That it accepts zstd, and gzip.
    Zstd,
}

impl Request {
    /// For a heading.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chunked => "a body of 1 KB in chunks",
            Self::Form => "a form of 1 KB",
            Self::Cookie | Self::Entered => "the cookie of a session",
            Self::Gzip => "Accept-Encoding: gzip",
            Self::Zstd => "Accept-Encoding: zstd, gzip",
        }
    }
}
