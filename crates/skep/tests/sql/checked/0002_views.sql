create view published as select id, slug, title from post where seen > 0;

create view post_with_author as
    select post.slug, post.title, author.name as author from post left join author on author.id = post.author;
