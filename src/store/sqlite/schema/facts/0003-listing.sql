-- Every name that is known, in byte order: what the nightly files walk along.
create table listed (
  name text primary key
) strict, without rowid;

-- Names that became known and are not in listed yet, in the order of coming: appended, so that a new name costs no place of its own.
create table arrival (
  place integer primary key,
  name text not null
) strict;

-- Names that were forgotten while arrival may hold them, at that place or before it.
create table departure (
  name text primary key,
  place integer not null
) strict, without rowid;

insert into arrival (name) select name from visit where id is not 0;
