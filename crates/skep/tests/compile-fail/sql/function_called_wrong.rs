//! Calls of functions that a migration declares, and functions that cannot be one.

use skep::sql::Function;
use skep::sql_function;

macro_rules! sql {
    ($($input:tt)*) => { skep::sql!(in "functions"; $($input)*) };
}

const WORDS: Function = sql_function!(fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
});
const LETTER: Function = sql_function!(fn letter(text: &str, at: char) -> bool {
    text.contains(at)
});
const SLUG: Function = sql_function!(|title: &str| title.to_lowercase());

fn main() {
    sql!("select title from post where slgu(title) = ?", "on-bees");
    sql!("select title from post where slug(title, 2) = ?", "on-bees");
    sql!("select slug(id) as slug from post");
    sql!(i64, "select slug(title) from post");
    sql!(String, "select slug(body) from post");
    sql!("select title from post where slug(?) = address", 5);
    _ = (WORDS, LETTER, SLUG);
}
