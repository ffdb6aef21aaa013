-- skep: function slug(text) text
create table post (
    id integer primary key,
    title text not null,
    body text,
    address text generated always as (slug(title)) virtual
) strict;

create unique index post_by_slug on post (slug(title));
