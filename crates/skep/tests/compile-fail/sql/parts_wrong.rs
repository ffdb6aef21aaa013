//! Conditional parts.

fn main() {
    let (seen, tag) = (true, Some("bees"));
    skep::sql!("select title from post where id > 0" {if seen: "and sean > 0"});
    skep::sql!("select title from post where id > 0" {if seen: "or"} "order by id");
    skep::sql!("select title from post where id > 0" {if let Some(tag) = tag: "and slug = ?"});
    skep::sql!("select title from post where id > 0" {if seen "and seen > 0"});
    skep::sql!("select title from post where id > 0" {unless seen: "and seen > 0"});
    skep::sql!("select title from post" {match seen: true => "order by title", false => "order by tilte"});
    skep::sql!("select title" {if seen: ", body"} "from post");
    skep::sql!({if seen: "select title from post"});
    skep::sql!(
        "select title from post where id > 0"
        {if seen: "and seen > 1"} {if seen: "and seen > 2"} {if seen: "and seen > 3"} {if seen: "and seen > 4"}
        {if seen: "and seen > 5"} {if seen: "and seen > 6"} {if seen: "and seen > 7"}
    );
}
