//! Compresses assets, with the feature `compression`.

#[cfg(feature = "compression")]
use std::io::Write as _;

/// Debug builds compress faster: a macro crate has the profile of its users.
#[cfg(feature = "compression")]
const IS_DRAFT: bool = cfg!(debug_assertions);

#[cfg(feature = "compression")]
pub(super) fn brotli(content: &[u8]) -> Option<Vec<u8>> {
    let quality = if IS_DRAFT { 5 } else { 11 };
    let parameters = brotli::enc::BrotliEncoderParams { quality, size_hint: content.len(), ..Default::default() };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*content, &mut packed, &parameters).ok().map(|_| packed)
}

#[cfg(feature = "compression")]
pub(super) fn gzip(content: &[u8]) -> Option<Vec<u8>> {
    let level = if IS_DRAFT { flate2::Compression::default() } else { flate2::Compression::best() };
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
    encoder.write_all(content).and_then(|()| encoder.finish()).ok()
}

#[cfg(not(feature = "compression"))]
pub(super) fn brotli(_content: &[u8]) -> Option<Vec<u8>> {
    None
}

#[cfg(not(feature = "compression"))]
pub(super) fn gzip(_content: &[u8]) -> Option<Vec<u8>> {
    None
}
