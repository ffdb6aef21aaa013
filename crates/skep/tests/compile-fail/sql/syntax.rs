//! What SQLite does not take for a statement.

fn main() {
    skep::sql!("select title form post");
    skep::sql!(
        "select title
         from post
         were id = 1"
    );
    skep::sql!("select title from");
    skep::sql!("select title from post where (id = 1");
    skep::sql!("select title from post where slug = 'one");
    skep::sql!("");
    skep::sql!("-- nothing");
    skep::sql!("delete from tag; delete from post");
    skep::sql!("select id from post join author on author.id = post.author");
    skep::sql!("insert into tag (post, name) values (1)");
    skep::sql!("select title from post where count(*) > 1");
    skep::sql!("select abs(1, 2) as a");
    skep::sql!("select id from post union select id, name from author");
    skep::sql!("select title from post limit id");
}
