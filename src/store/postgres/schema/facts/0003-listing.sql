-- The order in which names became known; null for those from before it was kept. A walk leaves out what came after it began.
create sequence arrival;
alter table visit add column arrived bigint;
alter table visit alter column arrived set default nextval('arrival');

-- Every name that is known, in byte order: what the nightly files walk along.
create index visit_name on visit (name) where id is distinct from 0;
