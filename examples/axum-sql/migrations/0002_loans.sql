create table loan (
    id integer primary key autoincrement,
    book_id integer not null references book,
    reader text not null
) strict;

create index loan_by_book on loan (book_id);
