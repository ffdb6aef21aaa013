//! Arrays of other elements than the columns have, and lists where one value stands.

use skep::sql;

fn main() {
    let names = ["Ash", "Linden"];
    sql!(
        i64,
        "insert into hive (name, frames) select name, coalesce(frames, 10) from unnest(?::text[], ?::bigint[]) as given (name, frames)
         returning id",
        &names[..],
        &names[..]
    );
    sql!(
        i64,
        "insert into hive (name, frames) select name, coalesce(frames, 10) from unnest(?::text[], ?::bigint[]) as given (name, frames)
         returning id",
        "{Ash}",
        vec![1_u8]
    );
    sql!("delete from hive where name = ?", &names[..]);
    sql!("delete from hive where name = ?", &names);
    sql!(
        (Vec<String>, Option<Vec<String>>),
        "select array_agg(name order by name) as \"names!\", array_agg(note order by name) as notes from hive"
    );
}
