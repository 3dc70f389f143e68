-- Groups of users, and the devices that are given to them. Times are milliseconds since 1970.
CREATE TABLE user_groups (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    owner   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label   TEXT NOT NULL,
    created BIGINT NOT NULL,
    UNIQUE (owner, label)
);

-- Who is in a group: its owner, too.
CREATE TABLE group_members (
    user_group INTEGER NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    member     INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- what a member may do with the devices of others: read or change
    access     TEXT NOT NULL,
    since      BIGINT NOT NULL,
    PRIMARY KEY (user_group, member)
);

CREATE INDEX group_members_by_member ON group_members (member, user_group);

-- Who is asked to join: the name as it was written, and the user who had it then. Without one, nobody can join by it: there was no such
-- user, or the user said no or is gone.
CREATE TABLE group_invitations (
    user_group INTEGER NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    username   TEXT NOT NULL,
    invited    INTEGER REFERENCES users (id) ON DELETE SET NULL,
    access     TEXT NOT NULL,
    since      BIGINT NOT NULL,
    PRIMARY KEY (user_group, username)
);

CREATE INDEX group_invitations_by_invited ON group_invitations (invited) WHERE invited IS NOT NULL;

-- The devices that their owners, who are members, have given to a group.
CREATE TABLE group_resources (
    user_group INTEGER NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    resource   INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    since      BIGINT NOT NULL,
    PRIMARY KEY (user_group, resource)
);

CREATE INDEX group_resources_by_resource ON group_resources (resource, user_group);

-- What groups let a member do with a resource, once for each group.
CREATE VIEW given_resources AS
    SELECT group_members.member, group_resources.resource, group_members.access FROM group_members
    JOIN group_resources ON group_resources.user_group = group_members.user_group;
