//! Rows of a database as a body.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::Body;
use skep_sql::{Error, Row, RowStream};

/// Bytes of a piece, at least, where the rows are there.
const PIECE: usize = 16 << 10;

impl Body {
    /// A body that begins with `start`, and to which `write` adds each row. Rows are sent together, some thousand bytes
    /// at once.
    ///
    /// ```
    /// use std::fmt::Write;
    /// use skep::Body;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/hives.csv")]
    /// struct Export;
    ///
    /// impl Handle for Export {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let rows = cx.db().stream::<(i64, String)>("select id, name from hive order by id").await?;
    ///         let body = Body::from_rows(rows, "id,name\r\n", |out, (id, name)| {
    ///             let _ = write!(out, "{id},\"{}\"\r\n", name.replace('"', "\"\"")); // RFC 4180
    ///         });
    ///         Ok(Response::with_content_type("text/csv; charset=utf-8", body))
    ///     }
    /// }
    /// ```
    pub fn from_rows<T: Row>(
        rows: RowStream<T>,
        start: impl Into<String>,
        write: impl FnMut(&mut String, T) + Unpin + 'static,
    ) -> Self {
        Self::from_stream(Written { rows, text: start.into(), write })
    }
}

/// Rows as text, in pieces.
struct Written<T, W> {
    rows: RowStream<T>,
    text: String,
    write: W,
}

impl<T: Row, W: FnMut(&mut String, T) + Unpin> Stream for Written<T, W> {
    type Item = Result<String, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        while this.text.len() < PIECE {
            match Pin::new(&mut this.rows).poll_next(cx) {
                Poll::Ready(Some(Ok(row))) => (this.write)(&mut this.text, row),
                Poll::Ready(None) if this.text.is_empty() => return Poll::Ready(None),
                Poll::Pending if this.text.is_empty() => return Poll::Pending,
                Poll::Ready(None) | Poll::Pending => break,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
            }
        }
        Poll::Ready(Some(Ok(std::mem::take(&mut this.text))))
    }
}
