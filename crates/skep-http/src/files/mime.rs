//! Media types by file name.

use http::HeaderValue;

/// The media type of a file that nothing is known of.
const UNKNOWN: &str = "application/octet-stream";

/// By extension, sorted. Text says its charset; JSON and XML have rules of their own (RFC 8259, 8.1; RFC 7303, 3).
const TYPES: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("aac", "audio/aac"),
    ("apng", "image/apng"),
    ("atom", "application/atom+xml"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("br", "application/x-brotli"),
    ("bz2", "application/x-bzip2"),
    ("cjs", "text/javascript; charset=utf-8"),
    ("conf", "text/plain; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("eot", "application/vnd.ms-fontobject"),
    ("epub", "application/epub+zip"),
    ("flac", "audio/flac"),
    ("geojson", "application/geo+json"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("heic", "image/heic"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("ics", "text/calendar; charset=utf-8"),
    ("ini", "text/plain; charset=utf-8"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("jsonld", "application/ld+json"),
    ("jxl", "image/jxl"),
    ("log", "text/plain; charset=utf-8"),
    ("m4a", "audio/mp4"),
    ("m4v", "video/mp4"),
    ("map", "application/json"),
    ("md", "text/markdown; charset=utf-8"),
    ("mid", "audio/midi"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("mkv", "video/x-matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/ogg"),
    ("otf", "font/otf"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rss", "application/rss+xml"),
    ("rtf", "application/rtf"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("toml", "application/toml"),
    ("ts", "video/mp2t"),
    ("tsv", "text/tab-separated-values; charset=utf-8"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain; charset=utf-8"),
    ("vtt", "text/vtt; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("weba", "audio/webm"),
    ("webm", "video/webm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("xsl", "application/xslt+xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

/// Longer than every extension in the table: what does not fit is not in it.
const LONGEST: usize = 16;

/// The media type that a file of this name has.
pub(super) fn of(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).as_bytes();
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..extension.len()) else { return UNKNOWN };
    lower.copy_from_slice(extension);
    lower.make_ascii_lowercase();
    TYPES.binary_search_by(|(known, _)| known.as_bytes().cmp(lower)).map_or(UNKNOWN, |at| TYPES[at].1)
}

/// [`of`], as a header has it.
pub(super) fn header(name: &str) -> HeaderValue {
    HeaderValue::from_static(of(name))
}

/// True if a compressed sibling may be worth having: false for what is compressed in itself.
pub(super) fn is_compressible(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default();
    match essence.split_once('/').unwrap_or_default() {
        ("text", _) => true,
        ("image", kind) => matches!(kind, "svg+xml" | "bmp" | "x-icon"),
        ("font", kind) => matches!(kind, "ttf" | "otf"),
        ("audio" | "video", _) => false,
        (_, kind) => {
            let packed = ["zip", "gzip", "zstd", "pdf", "x-brotli", "x-bzip2", "x-7z-compressed"];
            !packed.contains(&kind) && !kind.ends_with("+zip") && !kind.starts_with("vnd.o")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_no_extension_is_too_long() {
        assert!(TYPES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(TYPES.iter().all(|(extension, _)| extension.len() <= LONGEST));
    }
}
