use super::group::OF_USER;
use super::*;
use crate::error::Error;
use crate::ids::{Listing, ResourceId, UserId};
use crate::resources::Device;
use crate::store::Store;
use crate::{StreamId, ValueType};

struct People {
    store: Store,
    ann: UserId,
    bob: UserId,
    eve: UserId,
    /// Devices of ann and bob.
    of_ann: ResourceId,
    of_bob: ResourceId,
    _directory: tempfile::TempDir,
}

async fn people() -> People {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = Store::open(directory.path()).await.unwrap();
    let add = async |name: &str| store.add_user(name, "", "long enough".into(), false).await.unwrap().id;
    let (ann, bob, eve) = (add("ann").await, add("bob").await, add("eve").await);
    let enrol = async |user, label| store.add_resource(user, Device::named(label)).await.unwrap().resource.id;
    let (of_ann, of_bob) = (enrol(ann, "roof").await, enrol(bob, "shed").await);
    People { store, ann, bob, eve, of_ann, of_bob, _directory: directory }
}

impl People {
    /// A group of ann, in which bob is with this access, and its id as it is written in paths.
    async fn team(&self, access: GroupAccess) -> (UserGroup, String) {
        let group = self.store.add_group(self.ann, "team", 1).await.unwrap();
        let id = group.id.0.to_string();
        self.store.put_member(group.id, "bob", access, 2).await.unwrap();
        self.store.join_group(self.bob, &id, 3).await.unwrap();
        (group, id)
    }

    async fn seen_by(&self, user: UserId) -> Vec<(ResourceId, GroupAccess)> {
        let listing = Listing { limit: 10, after: 0 };
        let seen = self.store.group_resources(user, listing).await.unwrap();
        seen.into_iter().map(|given| (given.resource.id, given.access)).collect()
    }
}

#[tokio::test]
async fn a_member_sees_what_is_given_until_it_is_taken_back_or_they_leave_or_the_group_goes() {
    let people = people().await;
    let People { store, ann, bob, eve, of_ann, of_bob, .. } = &people;
    let access = async |user: UserId, resource| store.access_by_groups(user, resource).await.unwrap();
    let (group, id) = people.team(GroupAccess::Read).await;
    assert_eq!(access(*bob, *of_ann).await, None, "nothing is given yet");
    store.give_to_group(*of_ann, &id, 4).await.unwrap();
    store.give_to_group(*of_bob, &id, 4).await.unwrap();
    assert_eq!(access(*bob, *of_ann).await, Some(GroupAccess::Read));
    // The owner of the group may change what is given to it.
    assert_eq!(access(*ann, *of_bob).await, Some(GroupAccess::Change));
    assert_eq!(access(*eve, *of_ann).await, None);
    // One's own devices are not among those of others.
    assert_eq!(people.seen_by(*bob).await, [(*of_ann, GroupAccess::Read)]);
    store.put_member(group.id, "bob", GroupAccess::Change, 5).await.unwrap();
    assert_eq!(people.seen_by(*bob).await, [(*of_ann, GroupAccess::Change)]);

    store.take_from_group(&id, &of_ann.0.to_string()).await.unwrap();
    assert_eq!(access(*bob, *of_ann).await, None);
    store.give_to_group(*of_ann, &id, 6).await.unwrap();
    // Whoever leaves takes their devices along.
    store.leave_group(*bob, &id).await.unwrap();
    assert_eq!((access(*bob, *of_ann).await, access(*ann, *of_bob).await), (None, None));
    assert!(store.give_to_group(*of_bob, &id, 7).await.is_err());
    store.put_member(group.id, "bob", GroupAccess::Read, 8).await.unwrap();
    assert_eq!(access(*bob, *of_ann).await, None, "whoever is asked to join has not joined");
    store.join_group(*bob, &id, 9).await.unwrap();
    assert_eq!(access(*bob, *of_ann).await, Some(GroupAccess::Read));
    store.remove_member(group.id, "bob").await.unwrap();
    assert_eq!(access(*bob, *of_ann).await, None);
    store.put_member(group.id, "bob", GroupAccess::Read, 8).await.unwrap();
    store.join_group(*bob, &id, 9).await.unwrap();
    store.delete_group(group.id).await.unwrap();
    assert_eq!(access(*bob, *of_ann).await, None);
    assert!(store.memberships(*bob).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_greatest_right_of_several_groups_counts() {
    let people = people().await;
    let People { store, ann, bob, of_ann, .. } = &people;
    let (_, id) = people.team(GroupAccess::Read).await;
    store.give_to_group(*of_ann, &id, 4).await.unwrap();
    let other = store.add_group(*ann, "keepers", 5).await.unwrap();
    let other_id = other.id.0.to_string();
    store.put_member(other.id, "bob", GroupAccess::Change, 6).await.unwrap();
    store.join_group(*bob, &other_id, 7).await.unwrap();
    store.give_to_group(*of_ann, &other_id, 8).await.unwrap();
    assert_eq!(people.seen_by(*bob).await, [(*of_ann, GroupAccess::Change)]);
    store.leave_group(*bob, &other_id).await.unwrap();
    assert_eq!(people.seen_by(*bob).await, [(*of_ann, GroupAccess::Read)]);
}

#[tokio::test]
async fn an_invitation_tells_nothing_of_who_has_an_account() {
    let people = people().await;
    let People { store, ann, bob, .. } = &people;
    let group = store.add_group(*ann, "team", 1).await.unwrap();
    let id = group.id.0.to_string();
    let mut told = Vec::new();
    for name in ["bob", "nobody"] {
        let invited = store.put_member(group.id, name, GroupAccess::Read, 2).await.unwrap();
        told.push(GroupMember { username: String::new(), ..invited });
    }
    assert_eq!(told[0], told[1]);
    let shown = async || {
        let group = store.group(*ann, "team").await.unwrap().unwrap();
        store.group_details(*ann, group).await.unwrap()
    };
    let before = shown().await;
    // Neither does a no, nor that the account goes.
    store.leave_group(*bob, &id).await.unwrap();
    assert_eq!(shown().await, before);
    assert!(store.memberships(*bob).await.unwrap().is_empty());
    assert!(matches!(store.join_group(*bob, &id, 3).await, Err(Error::Unknown("group"))));
    store.put_member(group.id, "eve", GroupAccess::Read, 2).await.unwrap();
    let before = shown().await;
    store.delete_user(store.user("eve").await.unwrap().unwrap()).await.unwrap();
    assert_eq!(shown().await, before);
    // Whoever takes the name then is another one, and is not asked to join.
    for name in ["eve", "nobody"] {
        let new = store.add_user(name, "", "long enough".into(), false).await.unwrap().id;
        assert!(store.memberships(new).await.unwrap().is_empty(), "{name}");
        assert!(store.join_group(new, &id, 4).await.is_err(), "{name}");
    }
    // Who is in a group is told who is in it, not who is asked.
    store.put_member(group.id, "bob", GroupAccess::Read, 5).await.unwrap();
    store.remove_member(group.id, "bob").await.unwrap();
    store.put_member(group.id, "bob", GroupAccess::Read, 5).await.unwrap();
    assert!(store.membership(*bob, &id).await.unwrap().is_none());
    store.join_group(*bob, &id, 6).await.unwrap();
    let names = store.membership(*bob, &id).await.unwrap().unwrap().people;
    assert_eq!(names.iter().map(|member| &*member.username).collect::<Vec<_>>(), ["ann", "bob"]);
    for name in ["stranger", "ann"] {
        assert!(store.remove_member(group.id, name).await.is_err(), "{name}");
    }
    assert!(matches!(store.leave_group(*ann, &id).await, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn groups_members_invitations_and_devices_are_limited() {
    let people = people().await;
    let People { store, ann, bob, of_ann, .. } = &people;
    for n in 0..OF_USER {
        store.add_group(*ann, &format!("g{n}"), 0).await.unwrap();
    }
    assert!(matches!(store.add_group(*ann, "more", 0).await, Err(Error::Full(_))));
    let group = store.group(*ann, "g0").await.unwrap().unwrap();
    for n in 1..100 {
        store.put_member(group.id, &format!("u{n}"), GroupAccess::Read, 0).await.unwrap();
    }
    let another = store.put_member(group.id, "bob", GroupAccess::Read, 0).await;
    assert!(matches!(another, Err(Error::Full(_))));
    store.put_member(group.id, "u1", GroupAccess::Change, 0).await.unwrap();
    // Who is asked by as many as there may be is asked by no more, which nobody is told.
    let extra = store.add_user("carl", "", "long enough".into(), false).await.unwrap().id;
    for n in 0..OF_USER {
        let group = store.group(*ann, &format!("g{n}")).await.unwrap().unwrap();
        if n > 0 {
            store.put_member(group.id, "bob", GroupAccess::Read, 0).await.unwrap();
        }
    }
    // As if they were of many owners.
    let all_reach =
        sqlx::query("UPDATE group_invitations SET invited = $1 WHERE username = 'bob'").bind(bob.0);
    all_reach.execute(&mut *store.writer.lock().await).await.unwrap();
    for label in ["x", "y"] {
        let group = store.add_group(extra, label, 0).await.unwrap();
        let invited = store.put_member(group.id, "bob", GroupAccess::Read, 0).await.unwrap();
        assert_eq!((&*invited.username, invited.joined), ("bob", false));
    }
    assert_eq!(store.memberships(*bob).await.unwrap().len(), 100);
    // Whoever is in as many groups as may be joins no further one, and stays asked.
    for n in 0..OF_USER {
        store.add_group(*bob, &format!("own {n}"), 0).await.unwrap();
    }
    let id = store.group(*ann, "g1").await.unwrap().unwrap().id.0.to_string();
    assert!(matches!(store.join_group(*bob, &id, 1).await, Err(Error::Full(_))));
    assert_eq!(store.memberships(*bob).await.unwrap().len(), 100);
    // A group that is full takes the devices that it has once more, and no other.
    let fill = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO resources (owner, label, mode) SELECT {}, 'd' || i, 'none' FROM n",
        ann.0
    );
    let mut writer = store.writer.lock().await;
    sqlx::query(sqlx::AssertSqlSafe(fill)).execute(&mut *writer).await.unwrap();
    let give = format!(
        "INSERT INTO group_resources SELECT {}, id, 0 FROM resources WHERE label LIKE 'd%'",
        group.id.0
    );
    sqlx::query(sqlx::AssertSqlSafe(give)).execute(&mut *writer).await.unwrap();
    drop(writer);
    let id = group.id.0.to_string();
    assert!(matches!(store.give_to_group(*of_ann, &id, 1).await, Err(Error::Full(_))));
    let given = store.resource(*ann, "d7").await.unwrap().unwrap().id;
    store.give_to_group(given, &id, 1).await.unwrap();
}

#[tokio::test]
async fn a_group_is_named_under_its_owner_and_goes_with_them() {
    let people = people().await;
    let People { store, ann, bob, of_ann, of_bob, .. } = &people;
    let (group, id) = people.team(GroupAccess::Read).await;
    let of_bob_too = store.add_group(*bob, "team", 1).await.unwrap();
    for (owner, found) in [(ann, group.id), (bob, of_bob_too.id)] {
        assert_eq!(store.group(*owner, "team").await.unwrap().unwrap().id, found);
    }
    assert!(store.group(*bob, &id).await.unwrap().is_none());
    assert!(matches!(store.add_group(*ann, "team", 1).await, Err(Error::Taken(_))));
    for label in ["", "7", "a/b"] {
        assert!(matches!(store.add_group(*ann, label, 1).await, Err(Error::Invalid(_))), "{label}");
    }
    store.add_group(*ann, "keepers", 1).await.unwrap();
    assert!(matches!(store.rename_group(group.id, "keepers").await, Err(Error::Taken(_))));
    store.rename_group(group.id, "crew").await.unwrap();
    assert_eq!(store.group(*ann, "crew").await.unwrap().unwrap().id, group.id);
    // Nobody gives a device to a group that they are not in.
    let not_in = of_bob_too.id.0.to_string();
    assert!(matches!(store.give_to_group(*of_ann, &not_in, 1).await, Err(Error::Unknown("group"))));
    store.give_to_group(*of_bob, &id, 1).await.unwrap();
    store.give_to_group(*of_ann, &id, 1).await.unwrap();
    store.delete_user(store.user("ann").await.unwrap().unwrap()).await.unwrap();
    assert!(store.memberships(*bob).await.unwrap().is_empty());
    assert!(store.groups_of_resource(*of_bob).await.unwrap().is_empty());
}

#[tokio::test]
async fn one_owner_asks_so_many_and_takes_no_room_that_others_have_to_ask_a_user() {
    let People { store, ann, bob, eve, .. } = &people().await;
    let invite = async |owner: UserId, name: &str| {
        let group = store.add_group(owner, &format!("to-{name}"), 1).await.unwrap();
        store.put_member(group.id, name, GroupAccess::Read, 2).await.map(|_| group.id)
    };
    let mut groups = Vec::new();
    for n in 0..15 {
        let group = store.add_group(*ann, &format!("g{n}"), 1).await.unwrap();
        store.put_member(group.id, "bob", GroupAccess::Read, 2).await.unwrap();
        groups.push(group.id);
    }
    assert_eq!(
        store.memberships(*bob).await.unwrap().len(),
        10,
        "further ones of the owner do not reach the user"
    );
    invite(*eve, "bob").await.unwrap();
    assert_eq!(store.memberships(*bob).await.unwrap().len(), 11, "those of others do");
    for n in 15..200 {
        store.put_member(groups[n % 15], &format!("u{n}"), GroupAccess::Read, 3).await.unwrap();
    }
    let further = invite(*ann, "one-more").await;
    assert!(matches!(further, Err(Error::Full(_))), "{further:?}");
    // Those that are there may be changed, and one that is withdrawn makes room.
    store.put_member(groups[0], "bob", GroupAccess::Change, 4).await.unwrap();
    store.remove_member(groups[0], "bob").await.unwrap();
    store.put_member(groups[0], "one-more", GroupAccess::Read, 5).await.unwrap();
}

/// A stream of a device, by its label.
async fn stream(store: &Store, device: ResourceId, label: &str) -> StreamId {
    store.add_stream(device, (label, None, ""), ValueType::Number).await.unwrap().id
}

#[tokio::test]
async fn a_member_reads_a_stream_that_is_given_alone_until_that_ends_and_no_other_of_its_device() {
    let people = people().await;
    let People { store, ann, bob, eve, of_ann, of_bob, .. } = &people;
    let [t, u] = [stream(store, *of_ann, "t").await, stream(store, *of_ann, "u").await];
    let of_bobs = stream(store, *of_bob, "s").await;
    let reads = async |user: UserId, stream| store.reads_by_groups(user, stream).await.unwrap();
    let listing = Listing { limit: 10, after: 0 };
    let listed = async |user: UserId| {
        let streams = store.group_streams(user, listing).await.unwrap();
        streams.into_iter().map(|stream| stream.id).collect::<Vec<_>>()
    };
    let (group, id) = people.team(GroupAccess::Change).await;
    let give = async |of, stream| store.give_stream_to_group((of, stream), &id, 4).await;
    let given = give(*of_ann, t).await.unwrap();
    assert_eq!((given.id, &*given.label, &*given.owner), (group.id, "team", "ann"));
    assert_eq!(give(*of_ann, t).await.unwrap(), given, "once is enough");
    give(*of_bob, of_bobs).await.unwrap();
    assert!(reads(*bob, t).await && !reads(*bob, u).await && !reads(*eve, t).await);
    // The device is not given by that, and one's own streams are not among those of others.
    assert_eq!(store.access_by_groups(*bob, *of_ann).await.unwrap(), None);
    assert_eq!(
        (listed(*bob).await, listed(*ann).await, listed(*eve).await),
        (vec![t], vec![of_bobs], vec![])
    );
    let shown = store.group(*ann, "team").await.unwrap().unwrap();
    assert_eq!((shown.devices, shown.streams), (0, 2));
    let streams = store.group_details(*ann, shown).await.unwrap().given_streams;
    let named: Vec<_> = streams.iter().map(|one| (&*one.device, &*one.label, &*one.owner)).collect();
    assert_eq!(named, [("roof", "t", "ann"), ("shed", "s", "bob")]);
    assert_eq!(store.membership(*bob, &id).await.unwrap().unwrap().given_streams, streams);
    store.follow(*bob, &t.0.to_string(), 5).await.unwrap();
    assert!(store.followed(*bob).await.unwrap()[0].stream.is_some());

    store.take_stream_from_group(&id, &t.0.to_string()).await.unwrap();
    assert!(!reads(*bob, t).await);
    assert!(store.followed(*bob).await.unwrap()[0].stream.is_none());
    assert!(store.take_stream_from_group(&id, &t.0.to_string()).await.is_err());
    give(*of_ann, t).await.unwrap();
    // Whoever leaves takes their streams along.
    store.leave_group(*bob, &id).await.unwrap();
    assert!(!reads(*bob, t).await && !reads(*ann, of_bobs).await);
    assert!(matches!(give(*of_bob, of_bobs).await, Err(Error::Unknown("group"))));
    assert_eq!(store.groups_of_streams(*of_bob).await.unwrap(), []);
    store.put_member(group.id, "bob", GroupAccess::Read, 8).await.unwrap();
    assert!(!reads(*bob, t).await, "whoever is asked to join has not joined");
    store.join_group(*bob, &id, 9).await.unwrap();
    assert!(reads(*bob, t).await);
    store.delete_stream(t).await.unwrap();
    assert_eq!((listed(*bob).await, reads(*bob, t).await), (vec![], false));
    give(*of_ann, u).await.unwrap();
    store.delete_group(group.id).await.unwrap();
    assert!(!reads(*bob, u).await);
}

#[tokio::test]
async fn so_many_single_streams_are_given_to_a_group_and_no_more() {
    let people = people().await;
    let People { store, of_ann, .. } = &people;
    let (group, id) = people.team(GroupAccess::Read).await;
    let fill = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO streams (resource, label) SELECT {}, 's' || i FROM n",
        of_ann.0
    );
    let mut writer = store.writer.lock().await;
    sqlx::query(sqlx::AssertSqlSafe(fill)).execute(&mut *writer).await.unwrap();
    let give =
        format!("INSERT INTO group_streams SELECT {}, id, 0 FROM streams WHERE label LIKE 's%'", group.id.0);
    sqlx::query(sqlx::AssertSqlSafe(give)).execute(&mut *writer).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(format!(
        "INSERT INTO streams (resource, label) VALUES ({}, 'more')",
        of_ann.0
    )))
    .execute(&mut *writer)
    .await
    .unwrap();
    drop(writer);
    let find = async |label: &str| store.stream(*of_ann, label).await.unwrap().unwrap().id;
    let more = store.give_stream_to_group((*of_ann, find("more").await), &id, 1).await;
    assert!(matches!(more, Err(Error::Full(_))), "{more:?}");
    store.give_stream_to_group((*of_ann, find("s7").await), &id, 1).await.unwrap();
    // Of those, one owner has a share alone.
    for (left, may) in [(200, false), (199, true)] {
        let few = format!(
            "DELETE FROM group_streams WHERE stream NOT IN (SELECT stream FROM group_streams LIMIT {left})"
        );
        sqlx::query(sqlx::AssertSqlSafe(few)).execute(&mut *store.writer.lock().await).await.unwrap();
        let more = store.give_stream_to_group((*of_ann, find("more").await), &id, 1).await;
        assert_eq!(more.is_ok(), may, "{more:?}");
    }
}
