//! The codings: bytes in, bytes out, nothing waits.

use std::io::Write;

use brotli::CompressorWriter;
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::Coding;

/// Compresses one body. What it has made waits in it to be [taken](Self::take).
pub(super) enum Encoder {
    Brotli(Box<CompressorWriter<Vec<u8>>>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::stream::write::Encoder<'static, Vec<u8>>>),
}

/// Calls the same method of each. Writing to memory does not fail.
macro_rules! each {
    ($self:expr, $inner:ident => $call:expr) => {
        match $self {
            Encoder::Brotli($inner) => $call,
            Encoder::Gzip($inner) => $call,
            #[cfg(feature = "zstd")]
            Encoder::Zstd($inner) => $call,
        }
    };
}

impl Encoder {
    /// `size`: of the whole body, where that is known.
    pub(super) fn new(coding: Coding, level: u32, size: Option<u64>) -> Self {
        match coding {
            Coding::Brotli => Self::Brotli(Box::new(brotli(level, size))),
            Coding::Gzip => Self::Gzip(Box::new(GzEncoder::new(Vec::new(), Compression::new(level)))),
            #[cfg(feature = "zstd")]
            Coding::Zstd => Self::Zstd(Box::new(zstd(level))),
            #[cfg(not(feature = "zstd"))]
            Coding::Zstd => unreachable!("a coding that is not built in is not chosen"),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        each!(self, inner => inner.write_all(bytes).expect("memory takes it"));
    }

    /// Makes all that was written so far readable for the client.
    pub(super) fn flush(&mut self) {
        each!(self, inner => inner.flush().expect("memory takes it"));
    }

    /// What was made since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        each!(self, inner => std::mem::take(inner.get_mut()))
    }

    /// What was made since the last call, and the end.
    pub(super) fn finish(self) -> Vec<u8> {
        match self {
            Self::Brotli(inner) => inner.into_inner(),
            Self::Gzip(inner) => inner.finish().expect("memory takes it"),
            #[cfg(feature = "zstd")]
            Self::Zstd(inner) => inner.finish().expect("memory takes it"),
        }
    }
}

/// The window of brotli has at most 256 KiB, which holds its memory near a mebibyte, and no more than the body needs.
fn brotli(level: u32, size: Option<u64>) -> CompressorWriter<Vec<u8>> {
    const BUFFER: usize = 4 << 10;
    let bits = size.map_or(18, |size| i32::try_from(64 - size.leading_zeros()).unwrap_or(18)).clamp(10, 18);
    let params = BrotliEncoderParams {
        quality: i32::try_from(level).unwrap_or(11),
        lgwin: bits,
        size_hint: size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0),
        ..BrotliEncoderParams::default()
    };
    CompressorWriter::with_params(Vec::new(), BUFFER, &params)
}

#[cfg(feature = "zstd")]
fn zstd(level: u32) -> zstd::stream::write::Encoder<'static, Vec<u8>> {
    let level = i32::try_from(level).unwrap_or(19);
    zstd::stream::write::Encoder::new(Vec::new(), level).expect("a level from 1 to 19")
}
