-- What start pages say, each text once, as a packed term vector. digest: of the vector; two documents may share one.
-- A number is never given twice.
create table document (
  number integer primary key autoincrement,
  digest integer not null,
  vector blob not null
) strict;

create index document_digest on document (digest);

-- The document of each indexed start page; null for a page without a term. Other pages are in pending_page.
create table page_document (
  id integer primary key,
  document integer,
  name text not null
) strict;

create index page_document_document on page_document (document, name);

-- Documents that lost a page. The indexer checks whether another page still has them.
create table orphan_document (
  document integer primary key
) strict;

-- Documents that no page has any more and that segments may still hold.
create table document_tombstone (
  document integer primary key
) strict;

-- A segment of the index, with the documents from first_document to last_document. state: building, published or
-- replaced. fence: of the lock hold under which the indexer began it. A number is never given twice.
create table segment (
  number integer primary key autoincrement,
  first_document integer not null,
  last_document integer not null,
  documents integer not null,
  state text not null,
  fence integer not null
) strict;

-- Some hundred postings, by the key and document of the last one. key: the term and its weight.
create table posting (
  segment integer not null,
  key integer not null,
  document integer not null,
  postings blob not null,
  primary key (segment, key, document)
) strict, without rowid;

-- The number of documents in a segment that have each term, for the terms up to last_term.
create table document_frequency (
  segment integer not null,
  last_term integer not null,
  counts blob not null,
  primary key (segment, last_term)
) strict, without rowid;

-- No answer contains a page whose text is gone, or a forgotten name. Triggers do this, so that it also holds for
-- writes of the previous release while that still runs.
create trigger record_orphan_document after delete on page_document when old.document is not null begin
  insert or ignore into orphan_document values (old.document);
end;

create trigger remove_document_of_empty_page after update of text_digest on facts
when new.text_digest is null and old.text_digest is not null begin
  delete from page_document where id = new.id;
end;

create trigger remove_document_of_deleted_page after delete on facts begin
  delete from page_document where id = old.id;
end;

insert into named_lock (name, fence) values ('index', 0);
