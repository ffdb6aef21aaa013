-- Types that SQLite does not have, as a migration declares them.
create table course (
    id integer primary key,
    title text not null,
    day text not null,
    opens text,
    starts text not null,
    created text not null,
    price text not null,
    open integer not null
) strict;

-- skep: course.day is date
-- skep: course.opens is time
-- skep: course.starts is datetime
-- skep: course.created is timestamp
-- skep: course.price is decimal(8, 2)
-- skep: course.open is boolean
