-- What check goes by where nothing else says what a row was: CRC-32 of its values; null for a row of another release.
alter table facts add column checksum integer;
alter table state add column checksum integer;
alter table posting add column checksum integer;
alter table frequency add column checksum integer;

-- A release that does not know of checksums leaves none behind.
create trigger unsum after update on facts when new.checksum is not null and new.checksum is old.checksum begin
  update facts set checksum = null where id = new.id;
end;
