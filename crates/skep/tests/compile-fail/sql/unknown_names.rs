//! Names that the migrations do not know.

fn main() {
    skep::sql!("select title from posts");
    skep::sql!("select name from customer");
    skep::sql!("select titel from post");
    skep::sql!(
        "select title,
                picture_of_the_day
         from post"
    );
    skep::sql!("select p.titel from post p");
    skep::sql!("select q.title from post p");
    skep::sql!("select post.name from post");
    skep::sql!("select title from post where author.name = 'Ann'");
    skep::sql!("select title from post order by writen");
    skep::sql!("insert into post (slug, titel) values ('a', 'A')");
    skep::sql!("insert into post (slug, subtitle) values ('a', 'A')");
    skep::sql!("update post set sean = 1");
    skep::sql!("delete from tags");
    skep::sql!("select uper(title) as t from post");
    skep::sql!("select title from post join author on author.ident = post.author");
}
