//! Rows with a number, as JSON.

use serde_json::Value;

use crate::Result;
use crate::site::data::{self, WORLDS, Worlds};

/// The rows of a body that has this number of them, or one that is no list. What is `written` has other numbers than
/// the tables were made with.
pub(super) fn read(body: &[u8], count: usize, written: bool) -> Result<Worlds> {
    let value: Value = serde_json::from_slice(body).map_err(|error| format!("no JSON: {error}"))?;
    let rows = if count == 1 { vec![value] } else { value.as_array().cloned().unwrap_or_default() };
    if rows.len() != count {
        return Err(format!("{} rows where {count} are asked for", rows.len()).into());
    }
    let mut worlds = Worlds::new();
    for row in rows {
        let (id, number) = fields(&row).ok_or_else(|| format!("no row with a number: {row}"))?;
        if !written && number != data::number(id) {
            return Err(format!("row {id} with {number}, and it has {}", data::number(id)).into());
        }
        worlds.entry(id).or_default().push(number);
    }
    Ok(worlds)
}

fn fields(row: &Value) -> Option<(u32, u32)> {
    let field = |name: &str| row.get(name)?.as_u64()?.try_into().ok().filter(|number| (1..=WORLDS).contains(number));
    let (id, number) = (field("id")?, field("randomNumber")?);
    (row.as_object()?.len() == 2).then_some((id, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_must_be_one_of_the_table() {
        let row = |number: u32| format!(r#"{{"id":7,"randomNumber":{number}}}"#);
        let right = row(data::number(7));
        assert_eq!(read(right.as_bytes(), 1, false).unwrap(), Worlds::from([(7, vec![data::number(7)])]));
        assert!(read(row(data::number(8)).as_bytes(), 1, false).is_err());
        assert!(read(row(data::number(8)).as_bytes(), 1, true).is_ok());
        assert!(read(row(WORLDS + 1).as_bytes(), 1, true).is_err() && read(b"{}", 1, true).is_err());
    }

    #[test]
    fn as_many_as_are_asked_for_must_come() {
        let rows = format!(r#"[{{"id":1,"randomNumber":{}}}]"#, data::number(1));
        let error = read(rows.as_bytes(), 2, false).unwrap_err().to_string();
        assert_eq!(error, "1 rows where 2 are asked for");
    }
}
