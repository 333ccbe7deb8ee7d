-- The newest day (in days since 1970) on which a zone or a list reported that the name was registered. null: none did,
-- or an older release wrote the row.
alter table crawl_state add column registered integer;
