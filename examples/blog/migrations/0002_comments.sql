-- Comments belong to an address, not to a row: an article whose file went away and came back finds them again.
create table comment (
    id integer primary key autoincrement,
    slug text not null,
    author text not null,
    html text not null,
    written text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) strict;

create index comment_by_article on comment (slug, id);

-- Who wrote lately, so that nobody writes too often. Rows are removed as soon as they no longer count.
create table recent_author (
    address text not null,
    at integer not null default (unixepoch())
) strict;

create index recent_author_by_address on recent_author (address, at);
