//! The script tag in a page that passes through.
//!
//! A page is not collected: what has arrived is sent on, but for the few bytes that may be the beginning of `</body>`.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};

/// Where the tag goes; at the end of a page that has no such place.
const PLACE: &[u8] = b"</body";

/// Finds the place in the pieces of a page.
#[derive(Debug)]
pub(crate) struct Injector {
    /// What to insert; none once it is inserted.
    tag: Option<String>,
    /// What may be the beginning of the place.
    held: Vec<u8>,
}

impl Injector {
    pub(crate) fn new(tag: String) -> Self {
        Self { tag: Some(tag), held: Vec::new() }
    }

    /// What to send for this piece.
    pub(crate) fn push(&mut self, piece: Bytes) -> Bytes {
        let Some(tag) = &self.tag else { return piece };
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(&piece);
        if let Some(at) = text.windows(PLACE.len()).position(|window| window.eq_ignore_ascii_case(PLACE)) {
            text.splice(at..at, tag.bytes());
            self.tag = None;
        } else {
            let is_begun = |count: &usize| text[text.len() - count..].eq_ignore_ascii_case(&PLACE[..*count]);
            let begun = (1..PLACE.len().min(text.len() + 1)).rev().find(is_begun).unwrap_or(0);
            self.held = text.split_off(text.len() - begun);
        }
        text.into()
    }

    /// What to send at the end of the page.
    pub(crate) fn finish(&mut self) -> Bytes {
        let mut text = std::mem::take(&mut self.held);
        text.extend(self.tag.take().unwrap_or_default().into_bytes());
        text.into()
    }
}

/// A page with the tag in it.
#[derive(Debug)]
pub(crate) struct Injected {
    page: Incoming,
    /// None once the page has ended.
    injector: Option<Injector>,
}

impl Injected {
    pub(crate) fn new(page: Incoming, tag: String) -> Self {
        Self { page, injector: Some(Injector::new(tag)) }
    }
}

impl Body for Injected {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        loop {
            let frame = ready!(Pin::new(&mut self.page).poll_frame(cx)?);
            let Some(injector) = &mut self.injector else { return Poll::Ready(frame.map(Ok)) };
            match frame.map(Frame::into_data) {
                Some(Ok(piece)) => {
                    let piece = injector.push(piece);
                    if !piece.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                }
                // Nothing follows trailers, and no script needs them.
                Some(Err(_)) | None => {
                    let rest = injector.finish();
                    self.injector = None;
                    return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest))));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(pieces: &[&str]) -> String {
        let mut injector = Injector::new("<s>".to_owned());
        let mut sent: Vec<u8> =
            pieces.iter().flat_map(|piece| injector.push(Bytes::copy_from_slice(piece.as_bytes()))).collect();
        sent.extend(injector.finish());
        String::from_utf8(sent).unwrap()
    }

    #[test]
    fn the_tag_stands_at_the_end_of_the_body_once() {
        assert_eq!(page(&["<p>a</p></body></html>"]), "<p>a</p><s></body></html>");
        assert_eq!(page(&["<p>a</BODY >"]), "<p>a<s></BODY >");
        assert_eq!(page(&["a</body>b</body>"]), "a<s></body>b</body>");
        assert_eq!(page(&["no body"]), "no body<s>");
        assert_eq!(page(&[]), "<s>");
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let whole = "<p></b></bo</body></html>";
        for first in 0..whole.len() {
            for second in first..whole.len() {
                let pieces = [&whole[..first], &whole[first..second], &whole[second..]];
                assert_eq!(page(&pieces), "<p></b></bo<s></body></html>", "{pieces:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_the_place_is_not_held_back() {
        let mut injector = Injector::new("<s>".to_owned());
        assert_eq!(injector.push(Bytes::from_static(b"data: 1\n\n")), "data: 1\n\n");
        assert_eq!(injector.push(Bytes::from_static(b"a <")), "a ");
        assert_eq!(injector.push(Bytes::from_static(b"b")), "<b");
    }
}
