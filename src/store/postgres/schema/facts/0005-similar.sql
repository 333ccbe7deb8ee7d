-- The texts of start pages, and their index. Vectors, postings and counts are packed already, so PostgreSQL compresses
-- none of them.

insert into named_lock (name, fence) values ('index', 0);

-- From now on pending_page holds the pages that the indexer has not indexed yet, so its rows come and go.
alter table pending_page set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- What start pages say, each text once, as a packed term vector. digest: of the vector; two documents may share one.
-- A number is never given twice.
-- part: the lowest 8 bits of the number. It ends the key, because reads and writes go in the order of the numbers.
create sequence document_number;
create table document (
  number bigint not null,
  digest bigint not null,
  part smallint not null,
  vector bytea not null,
  primary key (number, part) with (fillfactor = 100)
);
alter table document alter column vector set storage external;
create index document_digest on document (digest);

-- The document of each indexed start page; null for a page without a term. Other pages are in pending_page.
create table page_document (
  id bigint not null,
  document bigint,
  part smallint not null,
  name text collate "C" not null,
  primary key (part, id)
);
create index page_document_name on page_document (document, name) where document is not null;

-- The tables of the indexer, which is one process. They are small and have no part.
-- Documents that lost a page, one row for each lost page. The indexer checks whether another page still has them.
create table orphan_document (
  document bigint not null
);

-- Documents that no page has any more and that segments may still hold.
create table document_tombstone (
  document bigint primary key
);

-- A segment of the index, with the documents from first_document to last_document. state: building, published or
-- replaced. fence: of the lock hold under which the indexer began it. A number is never given twice.
create table segment (
  number integer generated always as identity primary key,
  first_document bigint not null,
  last_document bigint not null,
  documents bigint not null,
  state text collate "C" not null,
  fence bigint not null
);

-- Some hundred postings, by the key of the last one. key: the term and its weight. part: the first 8 bits of the key,
-- which are the same for all postings of the row. It ends the primary key, because keys begin with it, and because the
-- indexer appends, reads and removes a segment as a whole.
create table posting (
  document bigint not null,
  segment integer not null,
  key integer not null,
  part smallint not null,
  postings bytea not null,
  primary key (segment, key, document, part) with (fillfactor = 100)
);
alter table posting alter column postings set storage external;

-- The number of documents in a segment that have each term, for the terms up to last_term.
create table document_frequency (
  segment integer not null,
  last_term integer not null,
  counts bytea not null,
  primary key (segment, last_term) with (fillfactor = 100)
);
alter table document_frequency alter column counts set storage external;

-- No answer contains a page whose text is gone, or a forgotten name. Triggers do this, so that it also holds for
-- writes of the previous release while that still runs. They run at the end of the transaction: by then the page's row
-- in pending_page is gone, so nobody can file it in between.
create function record_orphan_document() returns trigger language plpgsql as $$
begin
  with removed as (delete from page_document where part = old.part and id = old.id returning document)
  insert into orphan_document select document from removed where document is not null;
  return null;
end $$;

create constraint trigger remove_document_of_empty_page after update of text_digest on facts
  deferrable initially deferred
  for each row when (new.text_digest is null and old.text_digest is not null) execute function record_orphan_document();

create constraint trigger remove_document_of_deleted_page after delete on facts deferrable initially deferred
  for each row execute function record_orphan_document();
