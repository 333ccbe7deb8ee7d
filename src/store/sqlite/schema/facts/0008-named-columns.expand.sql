-- Replaces the triggers of 0003 and 0005 by ones that name the columns: a later release may add columns to their tables.
drop trigger add_pending_removal;
create trigger add_pending_removal after update of id on crawl_state when new.id is 0 and old.id is not 0 begin
  update metadata set value = cast(value as integer) - 1
    where name = 'sorted_names' and exists (select 1 from sorted_name where name = new.name);
  delete from sorted_name where name = new.name;
  insert into pending_removal (name, position)
    select new.name, max(position) from pending_name where true having max(position) is not null
    on conflict do update set position = excluded.position;
end;

drop trigger record_orphan_document;
create trigger record_orphan_document after delete on page_document when old.document is not null begin
  insert or ignore into orphan_document (document) values (old.document);
end;
