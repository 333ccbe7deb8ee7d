-- CRC-32 of a row's values, for rows that `check` can compare with nothing else; null if another release wrote the row.
alter table facts add column checksum integer;
alter table dns_state add column checksum integer;
alter table posting add column checksum integer;
alter table document_frequency add column checksum integer;

-- A release that does not know checksums leaves none behind.
create trigger clear_checksum after update on facts when new.checksum is not null and new.checksum is old.checksum begin
  update facts set checksum = null where id = new.id;
end;
