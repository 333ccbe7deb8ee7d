-- What start pages say, each once: a packed vector of words. digest: of the vector; two may share one. No number comes again.
create table wording (
  number integer primary key autoincrement,
  digest integer not null,
  vector blob not null
) strict;

create index wording_digest on wording (digest);

-- Which wording a start page has that the index follows; null for one without a word. What it does not follow yet waits in page.
create table reading (
  id integer primary key,
  wording integer,
  name text not null
) strict;

create index reading_wording on reading (wording, name);

-- Wordings that a start page had that was taken away: who keeps the index looks whether another one has them.
create table orphan (
  wording integer primary key
) strict;

-- Wordings that no page has any more and that segments may still hold.
create table gone (
  wording integer primary key
) strict;

-- A part of the index, which holds the wordings from first to last. state: building, answering or replaced.
-- fence: of the hold under which it was begun. No number comes again.
create table segment (
  number integer primary key autoincrement,
  first integer not null,
  last integer not null,
  wordings integer not null,
  state text not null,
  fence integer not null
) strict;

-- Some hundred postings, keyed by the last of them. place: the word, and how much it matters.
create table posting (
  segment integer not null,
  place integer not null,
  wording integer not null,
  postings blob not null,
  primary key (segment, place, wording)
) strict, without rowid;

-- How many wordings of a segment have each word, for the words up to last.
create table frequency (
  segment integer not null,
  last integer not null,
  counts blob not null,
  primary key (segment, last)
) strict, without rowid;

-- A page whose text is gone, and a name that was forgotten, are in no answer from then on. Triggers, so that it also holds for
-- what the release before this one writes while it goes on running.
create trigger unread after delete on reading when old.wording is not null begin
  insert or ignore into orphan values (old.wording);
end;

create trigger fall_silent after update of digest on facts when new.digest is null and old.digest is not null begin
  delete from reading where id = new.id;
end;

create trigger unfile after delete on facts begin
  delete from reading where id = old.id;
end;

insert into duty (duty, fence) values ('index', 0);
