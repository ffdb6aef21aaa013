//! Links: where a page, a redirect or a feed may lead.
//!
//! A link is a value without context: it is the same wherever it is written, and wrong ones do not compile. So all that
//! it needs is known while compiling, a [`Prefix`] included; what only the running server knows, scheme and host, is
//! added by [`Cx::absolute`](crate::cache::SharedCx::absolute).

mod base_url;
mod prefix;

pub use base_url::{BaseUrl, NotABaseUrl};
pub use prefix::Prefix;
#[doc(inline)]
pub use skep_html::{At, Destination};

/// The URL as a text of its own.
pub(crate) fn url(destination: &impl Destination) -> String {
    let mut url = String::new();
    destination.write_url(&mut url);
    url
}

/// The whole URL: what leads to this site gets the base before it.
pub(crate) fn absolute(base: &str, destination: &impl Destination) -> String {
    let url = url(destination);
    if url.starts_with('/') { format!("{base}{url}") } else { url }
}
