create table loan (
    id bigint generated always as identity primary key,
    book_id bigint not null references book,
    reader text not null
);

create index loan_by_book on loan (book_id);
