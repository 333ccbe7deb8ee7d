-- Digests: mail with the events of an account since the last one. key: ends the digest without a session. seen: the last
-- event that a mail covered. due: when the next one is written. failures: in a row. sent: the last mail. claimed_by: the
-- process that writes until claimed_until.
create table digest (
  account integer primary key,
  period text not null,
  key blob not null,
  seen integer not null,
  due integer not null,
  failures integer not null default 0,
  sent integer,
  claimed_by text,
  claimed_until integer not null default 0
) strict, without rowid;

create unique index digest_key on digest (key);
create index digest_due on digest (due);
