create table account (id integer primary key autoincrement, name text not null, role text not null) strict;

create table course (
    id integer primary key autoincrement,
    title text not null,
    level text not null check (level in ('beginner', 'advanced', 'all')),
    trainer_id integer not null references account (id),
    starts text not null,
    places integer not null,
    price text not null,
    taken integer not null default 0 check (taken <= places)
) strict;

create index course_by_starts on course (starts, id);

create table booking (
    id integer primary key autoincrement,
    course_id integer not null references course (id) on delete cascade,
    account_id integer not null references account (id) on delete cascade,
    waiting integer not null,
    unique (course_id, account_id)
) strict;
