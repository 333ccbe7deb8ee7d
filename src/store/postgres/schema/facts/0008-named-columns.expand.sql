-- The trigger function of 0005 anew, with the column named: a later release may give its table more columns.
create or replace function unread() returns trigger language plpgsql as $$
begin
  with unread as (delete from reading where part = old.part and id = old.id returning wording)
  insert into orphan (wording) select wording from unread where wording is not null;
  return null;
end $$;
