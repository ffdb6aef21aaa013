create table board (id integer primary key autoincrement, title text not null) strict;

create table card (
    id integer primary key autoincrement,
    board integer not null references board,
    list text not null check (list in ('todo', 'doing', 'done')),
    position integer not null,
    title text not null,
    note text not null default '',
    version integer not null default 1
) strict;

create index card_place on card (board, list, position);

insert into board (title) values ('The spring on the apiary');

insert into card (board, list, position, title, note) values
    (1, 'todo', 0, 'Order new frames', 'Twenty, of the deep ones.'),
    (1, 'todo', 1, 'Mend the smoker', ''),
    (1, 'todo', 2, 'Paint the hives', 'Two coats. They dry in a day.'),
    (1, 'doing', 0, 'Look after the queens', 'Hive 3 has none since Sunday.'),
    (1, 'done', 0, 'Clean the extractor', '');
