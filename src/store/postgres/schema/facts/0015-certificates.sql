-- Certificates, each once. The states of names (type 101 in dns_state, and facts.states) refer to them by fingerprint.
-- states: how many do. logged_at: the time of its entry in a certificate log, if one was read. This migration does not
-- expand: an older release would write certificates into the states.

create table certificate (
  part smallint not null,
  sha256 bytea not null,
  details text collate "C" not null,
  states bigint not null,
  logged_at bigint,
  primary key (part, sha256)
);

-- metadata: all names are filled in again, which moves the certificates that an older release stored in their states.
-- In a copied store, certificate_fill is the last certificate whose names are filled in.
insert into metadata (name, value) select 'inverse_fill', '[0,0]' where exists (select 1 from facts limit 1)
  on conflict (name) do update set value = excluded.value;
