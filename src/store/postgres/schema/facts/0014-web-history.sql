-- The states of websites are in facts.states and dns_state (type 100), and their redirects in the inverse index. This
-- migration does not expand: an older release would change websites without adding states and redirects.

-- metadata: all names are filled in again, which begins a state for the websites that were stored before.
insert into metadata (name, value) select 'inverse_fill', '[0,0]' where exists (select 1 from facts limit 1)
  on conflict (name) do update set value = excluded.value;
