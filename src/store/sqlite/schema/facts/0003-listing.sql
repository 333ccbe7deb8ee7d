-- Every known name, in byte order. The daily files read the names in this order.
create table sorted_name (
  name text primary key
) strict, without rowid;

-- Names that became known and are not in sorted_name yet, in the order in which they came. A new name is appended, so
-- it costs no page of its own. A position is never given twice: a listing that was interrupted removes only the
-- positions that it read.
create table pending_name (
  position integer primary key autoincrement,
  name text not null
) strict;

-- Names that were forgotten while pending_name may hold them, at that position or before it.
create table pending_removal (
  name text primary key,
  position integer not null
) strict, without rowid;

insert into pending_name (name) select name from crawl_state where id is not 0;

-- Triggers do this, so that it also holds for writes of the previous release while that still runs.
create trigger add_pending_name after insert on crawl_state when new.id is not 0 begin
  insert into pending_name (name) values (new.name);
end;

-- metadata: how many names sorted_name has, as the merges count them.
create trigger add_pending_removal after update of id on crawl_state when new.id is 0 and old.id is not 0 begin
  update metadata set value = cast(value as integer) - 1
    where name = 'sorted_names' and exists (select 1 from sorted_name where name = new.name);
  delete from sorted_name where name = new.name;
  insert into pending_removal select new.name, max(position) from pending_name where true having max(position) is not null
    on conflict do update set position = excluded.position;
end;
