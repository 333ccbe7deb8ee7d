-- The order in which names became known; null for names that are older than this column. A listing leaves out names
-- that came after it started.
create sequence arrival_number;
alter table crawl_state add column arrival_number bigint;
alter table crawl_state alter column arrival_number set default nextval('arrival_number');

-- Every known name, in byte order. The daily files read the names in this order.
create index crawl_state_name on crawl_state (name) where id is distinct from 0;
