-- A comment belongs to a post.
create table comment (
    post integer not null references post,
    text text not null
);
