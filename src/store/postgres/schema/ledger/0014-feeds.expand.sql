-- Feeds: the link to the newest events of an account. hash: the SHA-256 of its key.
create table feed (
  account integer primary key,
  hash bytea not null,
  created bigint not null
);

create unique index feed_hash on feed (hash);
