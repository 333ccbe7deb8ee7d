-- The host at which a redirect ended. From it, redirects_to is recomputed after a change of the public suffix list.
-- null: the redirect ended at the name itself or its www., or an older release wrote the row.
alter table facts add column redirect_host text collate "C";
