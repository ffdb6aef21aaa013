create table course (
    id bigint generated always as identity primary key,
    title text not null,
    about text not null,
    level text not null check (level in ('beginner', 'advanced', 'all')),
    trainer_id bigint not null references account (id),
    starts timestamptz not null,
    minutes bigint not null,
    places bigint not null,
    price numeric(6, 2) not null,
    picture text,
    version bigint not null default 1,
    -- Bookings that do not wait.
    taken bigint not null default 0 check (taken <= places)
);

create index course_by_starts on course (starts, id);

-- Whoever booked first has the lower id: the waiting list is in that order.
-- skep: booking is scoped by account_id
create table booking (
    id bigint generated always as identity primary key,
    course_id bigint not null references course (id) on delete cascade,
    account_id bigint not null references account (id) on delete cascade,
    waiting boolean not null,
    reminded boolean not null default false,
    unique (course_id, account_id)
);
