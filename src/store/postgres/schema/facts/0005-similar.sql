-- What start pages say, and the index of it. Vectors, postings and counts are packed as small as they get: none is compressed.

insert into duty (duty, fence) values ('index', 0);

-- From now on page holds what the index does not follow yet: its rows come and go.
alter table page set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- What start pages say, each once: a packed vector of words. digest: of the vector; two may share one. No number comes again.
-- part: the number's lowest 8 bits, and the end of the key: in the order of their numbers they are written and read.
create sequence wording_number;
create table wording (
  number bigint not null,
  digest bigint not null,
  part smallint not null,
  vector bytea not null,
  primary key (number, part) with (fillfactor = 100)
);
alter table wording alter column vector set storage external;
create index wording_digest on wording (digest);

-- Which wording a start page has that the index follows; null for one without a word. What it does not follow yet waits in page.
create table reading (
  id bigint not null,
  wording bigint,
  part smallint not null,
  name text collate "C" not null,
  primary key (part, id)
);
create index reading_name on reading (wording, name) where wording is not null;

-- Those of one process, who keeps the index: small ones, in no part.
-- Wordings that a start page had that was taken away, once for each: whether another one has them is looked at.
create table orphan (
  wording bigint not null
);

-- Wordings that no page has any more and that segments may still hold.
create table gone (
  wording bigint primary key
);

-- A part of the index, which holds the wordings from first to last. state: building, answering or replaced.
-- fence: of the hold under which it was begun. No number comes again.
create table segment (
  number integer generated always as identity primary key,
  first bigint not null,
  last bigint not null,
  wordings bigint not null,
  state text collate "C" not null,
  fence bigint not null
);

-- Some hundred postings, keyed by the last of them. place: the word, and how much it matters; part: its first 8 bits, which are
-- those of all places of the row. It ends the key: places begin with it, and a segment is appended, read and removed whole.
create table posting (
  wording bigint not null,
  segment integer not null,
  place integer not null,
  part smallint not null,
  postings bytea not null,
  primary key (segment, place, wording, part) with (fillfactor = 100)
);
alter table posting alter column postings set storage external;

-- How many wordings of a segment have each word, for the words up to last.
create table frequency (
  segment integer not null,
  last integer not null,
  counts bytea not null,
  primary key (segment, last) with (fillfactor = 100)
);
alter table frequency alter column counts set storage external;

-- A page whose text is gone, and a name that was forgotten, are in no answer from then on. Triggers, so that it also holds for
-- what the release before this one writes while it goes on running. At the end of the transaction: its row of page is gone by
-- then, and with it who would file it meanwhile.
create function unread() returns trigger language plpgsql as $$
begin
  with unread as (delete from reading where part = old.part and id = old.id returning wording)
  insert into orphan select wording from unread where wording is not null;
  return null;
end $$;

create constraint trigger fall_silent after update of digest on facts deferrable initially deferred
  for each row when (new.digest is null and old.digest is not null) execute function unread();

create constraint trigger unfile after delete on facts deferrable initially deferred
  for each row execute function unread();
