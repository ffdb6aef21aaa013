-- skep: function clip(text?, integer) text?
-- skep: function next_number() integer not deterministic
-- skep: function ratio(integer, real) real
-- skep: function seal(blob) blob
create view listed as select id, slug(title) as slug from post;
