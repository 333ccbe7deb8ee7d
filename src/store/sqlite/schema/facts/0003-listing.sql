-- Every name that is known, in byte order: what the nightly files walk along.
create table listed (
  name text primary key
) strict, without rowid;

-- Names that became known and are not in listed yet, in the order of coming: appended, so that a new name costs no place of its own.
-- No place comes again: a walk that was held up may remove those that it knew.
create table arrival (
  place integer primary key autoincrement,
  name text not null
) strict;

-- Names that were forgotten while arrival may hold them, at that place or before it.
create table departure (
  name text primary key,
  place integer not null
) strict, without rowid;

insert into arrival (name) select name from visit where id is not 0;

-- Triggers, so that it also holds for what the release before this one writes while it goes on running.
create trigger arrive after insert on visit when new.id is not 0 begin
  insert into arrival (name) values (new.name);
end;

-- mark: how many names listed has, as the merges count them.
create trigger depart after update of id on visit when new.id is 0 and old.id is not 0 begin
  update mark set value = cast(value as integer) - 1
    where name = 'listed' and exists (select 1 from listed where name = new.name);
  delete from listed where name = new.name;
  insert into departure select new.name, max(place) from arrival where true having max(place) is not null
    on conflict do update set place = excluded.place;
end;
