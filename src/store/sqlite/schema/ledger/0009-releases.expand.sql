-- Days whose held file an operator released. The job scheduler builds the file again and removes the row.
create table release_request (
  day text primary key,
  requested integer not null
) strict, without rowid;

-- The audit log by action, newest first.
create index audit_action on audit (action, id);
