-- Replaces the trigger function of 0005 by one that names the column: a later release may add columns to its table.
create or replace function record_orphan_document() returns trigger language plpgsql as $$
begin
  with removed as (delete from page_document where part = old.part and id = old.id returning document)
  insert into orphan_document (document) select document from removed where document is not null;
  return null;
end $$;
