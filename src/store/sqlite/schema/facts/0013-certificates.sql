-- Certificates, each once. The states of names (type 101 in dns_state, and facts.states) refer to them by fingerprint.
-- states: how many do. logged_at: the time of its entry in a certificate log, if one was read. This migration does not
-- expand: an older release would write certificates into the states.

create table certificate (
  sha256 blob primary key,
  details text not null,
  states integer not null,
  logged_at integer,
  checksum integer
) strict, without rowid;

-- metadata: all names are filled in again, which moves the certificates that an older release stored in their states.
-- In a copied store, certificate_fill is the last certificate whose names are filled in.
insert or replace into metadata (name, value) select 'inverse_fill', json_array(0, max(id)) from facts having max(id) is not null;
