//! Rows of a database as a file for spreadsheets.

use http::header::CONTENT_DISPOSITION;

use super::stored::disposition;
use crate::body::Body;
use crate::response::Response;
use skep_sql::{Row, RowStream};

impl Response {
    /// A download of rows as CSV (RFC 4180) for spreadsheets, sent while they are read: a line with the names of the
    /// columns, and one for each row, whose cells `cells` makes. Each cell is in quotes, and one that a spreadsheet
    /// would take for a formula and that is no number begins with an apostrophe (OWASP, "CSV Injection").
    ///
    /// It is UTF-8 with a byte order mark, without which Excel reads `Jörg` as `JÃ¶rg`; a program that reads it has to
    /// expect the mark, as Python does by `utf-8-sig`. Where the decimal mark is a comma, as in German, Excel expects
    /// semicolons when it opens a file: there, import it by Data > From Text/CSV. `LibreOffice` asks.
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
        let mut first = String::from(BYTE_ORDER_MARK);
        line(&mut first, columns);
        let body = Body::from_rows(rows, first, move |out, row| line(out, cells(row)));
        let response = Self::with_content_type("text/csv; charset=utf-8", body);
        response.with_header(CONTENT_DISPOSITION, disposition(false, file_name))
    }
}

const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// How a formula begins; also in full width, as it is typed in East Asia.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

fn line(out: &mut String, cells: impl IntoIterator<Item = impl AsRef<str>>) {
    for (place, cell) in cells.into_iter().enumerate() {
        let cell = cell.as_ref();
        // `-inf` is a name to a spreadsheet.
        let is_number = cell.parse::<f64>().is_ok_and(f64::is_finite);
        let is_formula = cell.starts_with(FORMULA) && !is_number;
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

    #[test]
    fn a_formula_begins_in_many_ways() {
        for cell in ["\n=1+1", "\t=1", "\r=1", "＝1+1", "＋1", "－1", "＠x", "-inf", "+nan", "-1+1"] {
            let mut out = String::new();
            line(&mut out, [cell]);
            assert_eq!(out, format!("\"'{cell}\"\r\n"));
        }
    }
}
