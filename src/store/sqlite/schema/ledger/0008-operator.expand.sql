-- The tokens of operators, for the paths under /admin/v1. Only the SHA-256 of a token is stored.
create table operator_token (
  id integer primary key autoincrement,
  name text not null,
  hint text not null,
  hash blob not null unique,
  created integer not null,
  expires integer,
  last_used integer,
  revoked integer
) strict;

-- The answers to requests with an Idempotency-Key, for a day. `holder`: the operator; `request`: the SHA-256 of the
-- request. `status` and `body` are null until the request is answered. They never contain a secret.
create table idempotent_answer (
  holder text not null,
  key text not null,
  request blob not null,
  created integer not null,
  status integer,
  body text,
  primary key (holder, key)
) strict, without rowid;

create index idempotent_answer_created on idempotent_answer (created);
