create table post (id integer primary key, slug text not null unique, title text not null,
    summary text not null, published integer not null, comments integer not null) strict;
create index post_published on post (published desc);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)
insert into post select i, 'post-' || i, 'The title of article number ' || i,
    'What it says in one sentence of a hundred characters or so, as a list of articles shows it: ' || i,
    1700000000 + i * 3600, i % 17 from n;
