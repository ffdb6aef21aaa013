//! From the path of a request to the name of a file.
//!
//! What comes out never has a segment that is empty, hidden, `.` or `..`, and never a backslash or a NUL: it cannot
//! climb. It is one string per file, so it also serves as the key of [`Memory`](super::memory::Memory).
//! Symlinks are no matter of names: [`Root`](super::root::Root) refuses those that lead out.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::{Error, Result};

/// All but RFC 3986's unreserved characters.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The decoded path, relative to the mount. Empty, or with a `/` at its end, where a directory is asked for.
///
/// 400 for an encoding that is broken or not UTF-8 and for a NUL; 404 for a name that is never served.
pub(super) fn clean(raw: &str) -> Result<Cow<'_, str>> {
    let path = if raw.contains('%') { decode(raw)? } else { Cow::Borrowed(raw) };
    let mut starts = true;
    for byte in path.bytes() {
        match byte {
            0 => return Err(Error::bad_request("the path has a NUL in it")),
            b'.' | b'/' if starts => return Err(Error::not_found()),
            b'\\' => return Err(Error::not_found()),
            // `C:` is a drive and `name::$DATA` a stream there.
            b':' if cfg!(windows) => return Err(Error::not_found()),
            _ => starts = byte == b'/',
        }
    }
    Ok(path)
}

/// True if a directory is asked for.
pub(super) fn is_directory(path: &str) -> bool {
    path.is_empty() || path.ends_with('/')
}

/// One segment, as it stands in a link.
pub(super) fn encode(segment: &str) -> impl std::fmt::Display + '_ {
    utf8_percent_encode(segment, ESCAPED)
}

fn decode(raw: &str) -> Result<Cow<'_, str>> {
    let bytes = raw.as_bytes();
    for (at, _) in raw.match_indices('%') {
        match bytes.get(at + 1..at + 3) {
            // An encoded slash is no separator (RFC 3986, 2.2), and no file has one in its name.
            Some([b'2', b'f' | b'F']) => return Err(Error::not_found()),
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {}
            _ => return Err(Error::bad_request("the path has a % without two hexadecimal digits after it")),
        }
    }
    percent_decode_str(raw).decode_utf8().map_err(|_| Error::bad_request("the path is not UTF-8"))
}
