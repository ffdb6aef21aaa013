-- Passkeys: public keys, of which nothing is secret.
create table passkey (
    -- What the authenticator calls it.
    id text primary key,
    user_id integer not null references user (id) on delete cascade,
    name text not null,
    public_key text not null,
    -- How often it was used, if the authenticator counts.
    counter integer not null,
    verifies_user integer not null,
    created text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) strict;

create index passkey_by_user on passkey (user_id);

-- skep: passkey is scoped by user_id
