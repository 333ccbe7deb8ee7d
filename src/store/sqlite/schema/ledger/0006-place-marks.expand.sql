-- The mark of each place where the installation keeps files. It is also in the place itself, so that a server notices
-- if its settings name another place.
create table place_mark (
  place text primary key,
  mark text not null
) strict, without rowid;
