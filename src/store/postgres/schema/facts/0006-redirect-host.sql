-- The host at which a redirect ended, by which redirects_to is worked out anew once the public suffix list has changed.
-- null: it ended at the name itself or its www., or the row is of an older release.
alter table facts add column redirect_host text collate "C";
