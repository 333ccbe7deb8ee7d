-- A checksum of each row's values (src/store/shared/check/checksum.ts), because `check` can compare the rows of this
-- index with nothing else; null if an older release wrote the row.
alter table posting add column checksum bigint;
alter table document_frequency add column checksum bigint;
