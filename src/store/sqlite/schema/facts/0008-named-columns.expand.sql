-- The triggers of 0003 and 0005 anew, with the columns named: a later release may give their tables more columns.
drop trigger depart;
create trigger depart after update of id on visit when new.id is 0 and old.id is not 0 begin
  update mark set value = cast(value as integer) - 1
    where name = 'listed' and exists (select 1 from listed where name = new.name);
  delete from listed where name = new.name;
  insert into departure (name, place)
    select new.name, max(place) from arrival where true having max(place) is not null
    on conflict do update set place = excluded.place;
end;

drop trigger unread;
create trigger unread after delete on reading when old.wording is not null begin
  insert or ignore into orphan (wording) values (old.wording);
end;
