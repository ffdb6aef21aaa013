//! Arguments that do not fit their columns.

use skep::Slug;

fn text_for_an_integer() {
    let _ = skep::sql!("select title from post where id = ?", "one");
    let _ = skep::sql!("select title from post where seen between ? and ?", 1, "2");
    let _ = skep::sql!("select title from post limit ?", "20");
}

fn an_integer_for_text() {
    let _ = skep::sql!("select title from post where slug = ?", 1_i64);
}

fn a_literal_for_text() {
    let _ = skep::sql!("update post set title = ? where id = ?", 5, 1);
}

fn an_option() {
    let _ = skep::sql!("update post set seen = seen + 1 where slug = ?", Some(1_u8));
}

fn a_list(names: &[&str]) {
    let _ = skep::sql!("select title from post where id in {names}");
}

fn by_value() {
    let _ = skep::sql!("insert into author (name, born) values (?, ?)", "Ann", Slug::of("never"));
}

fn text_for_a_number() {
    let _ = skep::sql!("insert into author (name, born) values (?, ?)", "Ann", &Slug::of("never"));
}

fn bytes_for_text() {
    let _ = skep::sql!("insert into author (name) values (?)", vec![1_u8]);
}

fn no_value() {
    let _ = skep::sql!("select title from post where slug = ?", std::time::Duration::ZERO);
}

fn main() {}
