-- The time from which an account is suspended; null while it is active.
alter table account add column suspended integer;

-- The audit log: who changed which account, token or secret, and when. `account` and `email` are null for the
-- installation's own secrets. Rows stay if their account is deleted.
create table audit (
  id integer primary key autoincrement,
  time integer not null,
  actor text not null,
  origin text not null,
  action text not null,
  account integer,
  email text collate nocase,
  details text not null
) strict;

create index audit_email on audit (email, id);
