-- Single streams that the owners of their devices, who are members, have given to a group, to read. Times are milliseconds since 1970.
CREATE TABLE group_streams (
    user_group INTEGER NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    stream     INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    since      BIGINT NOT NULL,
    PRIMARY KEY (user_group, stream)
);

CREATE INDEX group_streams_by_stream ON group_streams (stream, user_group);

-- What streams groups let a member read, once for each group.
CREATE VIEW given_streams AS
    SELECT group_members.member, group_streams.stream FROM group_members
    JOIN group_streams ON group_streams.user_group = group_members.user_group;
