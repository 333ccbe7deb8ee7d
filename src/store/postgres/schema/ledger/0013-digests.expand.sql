-- Digests: mail with the events of an account since the last one. key: ends the digest without a session. seen: the last
-- event that a mail covered. due: when the next one is written. failures: in a row. sent: the last mail. claimed_by: the
-- process that writes until claimed_until.
create table digest (
  account integer primary key,
  period text collate "C" not null,
  key bytea not null,
  seen bigint not null,
  due bigint not null,
  failures integer not null default 0,
  sent bigint,
  claimed_by text collate "C",
  claimed_until bigint not null default 0
);

create unique index digest_key on digest (key);
create index digest_due on digest (due);
