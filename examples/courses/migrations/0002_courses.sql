-- skep: course.starts is timestamp
-- skep: course.price is decimal(6, 2)
create table course (
    id integer primary key autoincrement,
    title text not null,
    about text not null,
    level text not null check (level in ('beginner', 'advanced', 'all')),
    trainer_id integer not null references account (id),
    starts text not null,
    minutes integer not null,
    places integer not null,
    price text not null,
    picture text,
    version integer not null default 1,
    -- Bookings that do not wait.
    taken integer not null default 0 check (taken <= places)
) strict;

create index course_by_starts on course (starts, id);

-- Whoever booked first has the lower id: the waiting list is in that order.
-- skep: booking is scoped by account_id
-- skep: booking.waiting is boolean
-- skep: booking.reminded is boolean
create table booking (
    id integer primary key autoincrement,
    course_id integer not null references course (id) on delete cascade,
    account_id integer not null references account (id) on delete cascade,
    waiting integer not null,
    reminded integer not null default 0,
    unique (course_id, account_id)
) strict;
