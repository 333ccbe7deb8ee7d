-- The states of websites are in facts.states and dns_state (type 100), and their redirects in the inverse index. This
-- migration does not expand: an older release would change websites without adding states and redirects.

-- metadata: all names are filled in again, which begins a state for the websites that were stored before.
insert or replace into metadata (name, value) select 'inverse_fill', json_array(0, max(id)) from facts having max(id) is not null;
