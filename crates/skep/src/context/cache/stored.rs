//! What is added to a page before it is stored: an `ETag`, what caches need to know, compressed copies.

use bytes::Bytes;
use http::HeaderName;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, VARY};
use twox_hash::XxHash3_128;

#[cfg(feature = "compression")]
use super::SharedCx;
#[cfg(feature = "compression")]
use super::entry::PageEntry;
#[cfg(feature = "compression")]
use crate::offload::offload;
#[cfg(feature = "compression")]
use skep_http::compression;

/// Adds what browsers and proxies need to keep a page; what it says itself wins.
pub(super) fn describe(headers: &mut Vec<(String, Bytes)>, body: &[u8], vary: Option<&'static str>) {
    let value = |headers: &[(String, Bytes)], name: HeaderName| {
        headers.iter().find(|(other, _)| *other == name.as_str()).map(|(_, value)| value.clone())
    };
    if value(headers, ETAG).is_none() {
        let kind = value(headers, CONTENT_TYPE).unwrap_or_default();
        headers.push((ETAG.to_string(), tag(&kind, body).into()));
    }
    if value(headers, CACHE_CONTROL).is_none() {
        headers.push((CACHE_CONTROL.to_string(), Bytes::from_static(b"public, no-cache")));
    }
    if let Some(vary) = vary {
        headers.push((VARY.to_string(), Bytes::from_static(vary.as_bytes())));
    }
}

/// A strong tag: the same bytes of the same type have the same, whichever process made them.
///
/// An author who made two pages with one tag would keep some readers at the first of them, and gain nothing else: so it
/// is not a hash for secrets, of which a component, without the processor's instructions for it, would take a fifth of
/// a page's time.
fn tag(kind: &[u8], body: &[u8]) -> String {
    let kind = XxHash3_128::oneshot(kind).to_le_bytes();
    let seed = u64::from_le_bytes(std::array::from_fn(|place| kind[place]));
    format!("\"{:032x}\"", XxHash3_128::oneshot_with_seed(seed, body))
}

/// Compresses a page that is going to be stored: small ones at once, others on the pool for blocking work.
#[cfg(feature = "compression")]
pub(super) async fn pack(entry: &mut PageEntry, public: &SharedCx<'_>) {
    let setup = &public.resources().shared().setup;
    let PageEntry::Page(page) = entry else { return };
    if !compression::may_be_packed(&page.fields, &page.body, &setup.compression) {
        return;
    }
    page.packed = if page.body.len() <= PACKED_AT_ONCE {
        compression::pack_page(&page.body, &setup.compression)
    } else {
        let (body, options) = (page.body.clone(), setup.compression.clone());
        // A full pool: the page is compressed for each request.
        offload(&*setup.offload, move || compression::pack_page(&body, &options)).await.unwrap_or_default()
    };
}

/// Larger pages are compressed elsewhere.
#[cfg(feature = "compression")]
const PACKED_AT_ONCE: usize = 8 << 10;
