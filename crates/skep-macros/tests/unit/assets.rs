//! Unit tests of `assets`.

use super::*;

#[test]
fn a_name_gives_its_constant() {
    for (name, expected) in [
        ("style.css", "STYLE_CSS"),
        ("css/site.min.css", "CSS_SITE_MIN_CSS"),
        ("404.html", "_404_HTML"),
        ("café menu.pdf", "CAF__MENU_PDF"),
        ("-", "__"),
    ] {
        assert_eq!(constant(name), expected);
    }
}

#[test]
fn the_hash_precedes_the_extension() {
    for (name, expected) in [
        ("style.css", "style.00ff.css"),
        ("js/app.min.js", "js/app.min.00ff.js"),
        ("LICENSE", "LICENSE.00ff"),
        ("v1.2/LICENSE", "v1.2/LICENSE.00ff"),
    ] {
        assert_eq!(hashed_name(name, "00ff"), expected);
    }
}

#[test]
fn the_hash_is_fnv_1a() {
    assert_eq!(hash(b""), 0x6c62_272e_07bb_0142 ^ 0x62b8_2175_6295_c58d);
    // FNV-1a 128 of "a": d228cb696f1a8caf78912b704e4a8964.
    assert_eq!(hash(b"a"), 0xd228_cb69_6f1a_8caf ^ 0x7891_2b70_4e4a_8964);
}

#[cfg(feature = "compression")]
#[test]
fn compressed_content_is_restored() {
    use std::io::Read as _;
    let text = "Skep, Skep, Skep. ".repeat(200).into_bytes();
    let mut plain = Vec::new();
    brotli::BrotliDecompress(&mut &*pack::brotli(&text).unwrap(), &mut plain).unwrap();
    assert_eq!(plain, text);
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&*pack::gzip(&text).unwrap()).read_to_end(&mut plain).unwrap();
    assert_eq!(plain, text);
}
