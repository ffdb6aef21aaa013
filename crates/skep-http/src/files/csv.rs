//! Rows of a database as a file for spreadsheets.

use http::header::CONTENT_DISPOSITION;

use super::stored::disposition;
use crate::body::Body;
use crate::response::Response;
use skep_sql::{Row, RowStream};

impl Response {
    /// A download of rows as CSV (RFC 4180, UTF-8), sent while they are read: a line with the names of the columns, and
    /// one for each row, whose cells `cells` makes. Each cell is in quotes, and one that a spreadsheet would take for a
    /// formula and that is no number begins with an apostrophe (OWASP, "CSV Injection").
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[handler(GET "/hives.csv")]
    /// async fn Export(cx: &mut Cx<'_>) -> Result {
    ///     let rows = cx.db().stream::<(i64, String)>("select id, name from hive order by id").await?;
    ///     Ok(Response::csv("hives.csv", rows, ["id", "name"], |(id, name)| [id.to_string(), name]))
    /// }
    /// ```
    #[must_use]
    pub fn csv<T: Row, const COLUMNS: usize>(
        file_name: &str,
        rows: RowStream<T>,
        columns: [&str; COLUMNS],
        mut cells: impl FnMut(T) -> [String; COLUMNS] + Unpin + 'static,
    ) -> Self {
        let mut first = String::new();
        line(&mut first, columns);
        let body = Body::from_rows(rows, first, move |out, row| line(out, cells(row)));
        let response = Self::with_content_type("text/csv; charset=utf-8", body);
        response.with_header(CONTENT_DISPOSITION, disposition(false, file_name))
    }
}

fn line(out: &mut String, cells: impl IntoIterator<Item = impl AsRef<str>>) {
    for (place, cell) in cells.into_iter().enumerate() {
        let cell = cell.as_ref();
        let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
        out.push_str(if place > 0 { ",\"" } else { "\"" });
        out.push_str(if is_formula { "'" } else { "" });
        out.push_str(&cell.replace('"', "\"\""));
        out.push('"');
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_cell_is_in_quotes_and_is_no_formula_but_may_be_a_number() {
        let mut out = String::new();
        line(&mut out, ["a,\"b\"", "=1+1", "-1,5", "-1.50", "@x", ""]);
        assert_eq!(out, "\"a,\"\"b\"\"\",\"'=1+1\",\"'-1,5\",\"-1.50\",\"'@x\",\"\"\r\n");
    }
}
