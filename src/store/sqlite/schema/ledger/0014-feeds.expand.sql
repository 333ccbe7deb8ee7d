-- Feeds: the link to the newest events of an account. hash: the SHA-256 of its key.
create table feed (
  account integer primary key,
  hash blob not null,
  created integer not null
) strict, without rowid;

create unique index feed_hash on feed (hash);
