//! Parameters and arguments that do not belong together.

fn main() {
    let ids = [1, 2];
    skep::sql!("select title from post where slug = ?");
    skep::sql!("select title from post where slug = ? and id = ?", "one");
    skep::sql!("select title from post", "one");
    skep::sql!("select title from post where slug = ?", "one", 2);
    skep::sql!("select title from post where slug = :slug", "one");
    skep::sql!("select title from post where slug = @slug", "one");
    skep::sql!("select title from post where slug = ?1", "one");
    skep::sql!("select title from post where id = {ids}");
    skep::sql!("select title from post where id in {ids");
    skep::sql!("select title from post where id in ids}");
    skep::sql!("select title from post where id in {ids +}");
    skep::sql!("select title from post where slug = ?" "one");
}
