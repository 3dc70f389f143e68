//! Devices that are given to groups: what members see and do, and that it ends at once.

mod web_client;

use serde_json::{Value, json};
use web_client::{Answer, Cloud, Feed, bearer};

const TEAM: &str = "/api/v1/users/ann/groups/team";
const NODE: &str = "/api/v1/users/ann/resources/node";

/// A cloud with ann and bob, each of whom has a device with a reading; bob is in ann's group, to which hers is given.
struct Team {
    cloud: Cloud,
    ann: String,
    bob: String,
    /// The path of the membership in ann's group, below a user's.
    membership: String,
    /// The path by which ann gives her device to it.
    given: String,
}

impl Team {
    async fn start(access: &str) -> Self {
        let cloud = Cloud::start(|_| {}).await;
        let (ann, bob) = (cloud.user("ann", false).await, cloud.user("bob", false).await);
        for user in ["ann", "bob"] {
            cloud.node(user).await;
            cloud.post(user, [1.5]).await;
        }
        let made = cloud.ask("POST /api/v1/users/ann/groups", &bearer(&ann), json!({"label": "team"})).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let id = made.json()["id"].clone();
        let (membership, given) = (format!("memberships/{id}"), format!("{NODE}/groups/{id}"));
        let team = Self { cloud, ann, bob, membership, given };
        team.ann(&format!("PUT {}", team.given), Value::Null, 200).await;
        team.join(access).await;
        team
    }

    /// Bob is asked to join the group, and does.
    async fn join(&self, access: &str) {
        self.ann(&format!("PUT {TEAM}/members/bob"), json!({"access": access}), 200).await;
        self.bob(&format!("PUT /api/v1/users/bob/{}", self.membership), Value::Null, 200).await;
    }

    async fn ann(&self, request: &str, body: Value, status: u16) -> Answer {
        let answer = self.cloud.ask(request, &bearer(&self.ann), body).await;
        assert_eq!(answer.status, status, "{request}: {}", answer.body);
        answer
    }

    async fn bob(&self, request: &str, body: Value, status: u16) -> Answer {
        let answer = self.cloud.ask(request, &bearer(&self.bob), body).await;
        assert_eq!(answer.status, status, "{request}: {}", answer.body);
        answer
    }

    /// Bob's feeds: of a stream of ann's device, and of all that he may see.
    async fn feeds(&self) -> (Feed, Feed) {
        let of_stream = self.cloud.feed(&format!("{NODE}/streams/t/live"), &bearer(&self.bob)).await;
        (of_stream, self.cloud.feed("/api/v1/live", &bearer(&self.bob)).await)
    }

    /// Sees that bob hears no point of ann's device any more, and reads nothing of it.
    async fn ended(&self, (mut of_stream, mut of_all): (Feed, Feed), value: f64) {
        self.cloud.post("ann", [value]).await;
        self.cloud.post("bob", [value + 1.0]).await;
        of_stream.until_the_end().await;
        // The feed of all goes on with what is bob's own.
        of_all.until(|text| text.contains(&format!(":{:?}", value + 1.0))).await;
        for feed in [&of_stream, &of_all] {
            assert!(!feed.text.contains(&format!(":{value:?}")), "{}", feed.text);
        }
        for path in ["", "/streams", "/streams/t/data", "/data", "/commands"] {
            self.bob(&format!("GET {NODE}{path}"), Value::Null, 403).await;
        }
        let seen = self.bob("GET /api/v1/users/bob/group-resources", Value::Null, 200).await;
        assert_eq!(seen.json(), json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_sees_the_device_beside_their_own_and_changes_it_if_they_may() {
    let team = Team::start("read").await;
    let seen = team.bob("GET /api/v1/users/bob/group-resources", Value::Null, 200).await.json();
    assert_eq!(seen[0]["label"], "node");
    assert_eq!((&seen[0]["owner"]["username"], &seen[0]["access"]), (&json!("ann"), &json!("read")));
    assert!(seen[0]["heard"].is_i64() && seen.as_array().unwrap().len() == 1, "{seen}");
    let (mut of_stream, mut of_all) = team.feeds().await;
    team.cloud.post("ann", [21.25]).await;
    of_stream.until(|text| text.contains("21.25")).await;
    of_all.until(|text| text.contains("21.25")).await;
    let points = team.bob(&format!("GET {NODE}/streams/t/data"), Value::Null, 200).await.json();
    assert_eq!(points.as_array().unwrap().len(), 2);
    let csv = team.bob(&format!("GET {NODE}/data"), Value::Null, 200).await;
    assert!(csv.body.contains("21.25"), "{}", csv.body);
    // What a member with this right may not do is not done.
    team.bob(&format!("PUT {NODE}"), json!({"description": "mine"}), 403).await;
    team.bob(&format!("POST {NODE}/commands"), json!({"actuator": "led", "value": true}), 403).await;

    team.ann(&format!("PUT {TEAM}/members/bob"), json!({"access": "change"}), 200).await;
    team.bob(&format!("PUT {NODE}"), json!({"description": "at the window", "tags": ["roof"]}), 200).await;
    team.bob(&format!("PUT {NODE}/streams/t"), json!({"unit": "Cel"}), 200).await;
    let command = json!({"actuator": "led", "value": true});
    let given = team.bob(&format!("POST {NODE}/commands"), command, 201).await;
    assert_eq!(given.json()["author"], "bob");
    // These are its owner's.
    for (request, body) in [
        (format!("PUT {NODE}"), json!({"label": "mine"})),
        (format!("PUT {NODE}"), json!({"mode": "none"})),
        (format!("PUT {NODE}"), json!({"folder": "mine"})),
        (format!("PUT {NODE}/streams/t"), json!({"public_access": true})),
        (format!("PUT {NODE}/streams/t"), json!({"public_search": false})),
        (format!("DELETE {NODE}"), Value::Null),
        (format!("POST {NODE}/credentials"), json!({"overlap_s": 60})),
        (format!("DELETE {NODE}/streams/t"), Value::Null),
        (format!("DELETE {NODE}/streams/t/data?all=true"), Value::Null),
        (format!("POST {NODE}/data"), json!({"t": 3})),
        (format!("GET {NODE}/groups"), Value::Null),
        (format!("DELETE {}", team.given), Value::Null),
        (format!("DELETE {TEAM}"), Value::Null),
        ("POST /api/v1/users/ann/tokens".into(), json!({"label": "x", "resource": "node"})),
    ] {
        team.bob(&request, body, 403).await;
    }
    let device = team.ann(&format!("GET {NODE}"), Value::Null, 200).await.json();
    assert_eq!((&device["label"], &device["description"]), (&json!("node"), &json!("at the window")));
    // A label is looked up among its owner's things alone: bob's `node` is another one.
    let own = team.bob("GET /api/v1/users/bob/resources/node", Value::Null, 200).await.json();
    assert_ne!(own["id"], device["id"]);
    team.bob(&format!("GET /api/v1/users/bob/resources/{}", device["id"]), Value::Null, 404).await;
    team.bob("GET /api/v1/users/bob/groups/team", Value::Null, 404).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_member_may_ends_at_once_also_for_feeds_that_are_open() {
    let team = Team::start("change").await;
    let bobs = format!("/api/v1/users/bob/{}", team.membership);

    let feeds = team.feeds().await;
    team.ann(&format!("DELETE {}", team.given), Value::Null, 204).await;
    team.ended(feeds, 101.0).await;
    team.ann(&format!("PUT {}", team.given), Value::Null, 200).await;

    let feeds = team.feeds().await;
    team.bob(&format!("DELETE {bobs}"), Value::Null, 204).await;
    team.ended(feeds, 103.0).await;
    // Who is only asked to join may do nothing.
    team.ann(&format!("PUT {TEAM}/members/bob"), json!({"access": "change"}), 200).await;
    team.bob(&format!("GET {NODE}"), Value::Null, 403).await;
    team.bob(&format!("GET {bobs}"), Value::Null, 404).await;
    team.bob(&format!("PUT {bobs}"), Value::Null, 200).await;
    team.bob(&format!("GET {NODE}"), Value::Null, 200).await;

    let feeds = team.feeds().await;
    team.ann(&format!("DELETE {TEAM}/members/bob"), Value::Null, 204).await;
    team.ended(feeds, 105.0).await;
    team.bob(&format!("PUT {bobs}"), Value::Null, 404).await;
    team.join("read").await;

    let feeds = team.feeds().await;
    let id = team.ann(&format!("GET {NODE}"), Value::Null, 200).await.json()["id"].clone();
    team.ann(&format!("DELETE {TEAM}/devices/{id}"), Value::Null, 204).await;
    team.ended(feeds, 107.0).await;
    team.ann(&format!("PUT {}", team.given), Value::Null, 200).await;

    let feeds = team.feeds().await;
    team.ann(&format!("DELETE {TEAM}"), Value::Null, 204).await;
    team.ended(feeds, 109.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_of_a_member_end_with_the_account_and_with_the_device() {
    let team = Team::start("read").await;
    let (mut of_stream, mut of_all) = team.feeds().await;
    team.cloud.as_admin("PUT /api/v1/users/bob", json!({"disabled": true})).await;
    for feed in [&mut of_stream, &mut of_all] {
        feed.until_the_end().await;
    }
    team.bob(&format!("GET {NODE}"), Value::Null, 401).await;
    team.cloud.as_admin("PUT /api/v1/users/bob", json!({"disabled": false})).await;
    team.bob(&format!("GET {NODE}"), Value::Null, 200).await;

    let (mut of_stream, mut of_all) = team.feeds().await;
    team.ann(&format!("DELETE {NODE}"), Value::Null, 204).await;
    of_stream.until_the_end().await;
    team.cloud.post("bob", [77.5]).await;
    of_all.until(|text| text.contains("77.5")).await;
    // The role decides, too: a viewer reads, and changes nothing.
    team.cloud.node("ann").await;
    let id = team.given.clone();
    team.ann(&format!("PUT {id}"), Value::Null, 200).await;
    team.ann(&format!("PUT {TEAM}/members/bob"), json!({"access": "change"}), 200).await;
    team.bob(&format!("PUT {NODE}"), json!({"description": "x"}), 200).await;
    team.cloud.as_admin("PUT /api/v1/users/bob", json!({"role": "viewer"})).await;
    team.bob(&format!("PUT {NODE}"), json!({"description": "y"}), 403).await;
    team.bob(&format!("GET {NODE}"), Value::Null, 200).await;
    team.cloud.as_admin("DELETE /api/v1/users/bob", Value::Null).await;
    team.bob(&format!("GET {NODE}"), Value::Null, 401).await;
    let left = team.ann(&format!("GET {TEAM}"), Value::Null, 200).await.json();
    assert_eq!(left["people"].as_array().unwrap().len(), 1, "{left}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_is_answered_alike_whoever_there_is_and_each_change_is_recorded() {
    let team = Team::start("read").await;
    team.cloud.user("eve", false).await;
    let mut answers = Vec::new();
    for name in ["eve", "nobody"] {
        let path = format!("{TEAM}/members/{name}");
        let asked = team.ann(&format!("PUT {path}"), json!({"access": "read"}), 200).await;
        let mut member = asked.json();
        member["username"] = json!("");
        member["since"] = json!(0);
        answers.push(member);
    }
    assert_eq!(answers[0], answers[1]);
    for name in ["carl", "bert"] {
        let gone = team.ann(&format!("DELETE {TEAM}/members/{name}"), Value::Null, 404).await;
        assert_eq!(gone.json()["error"]["message"], "There is no such member.");
    }
    team.ann(&format!("PUT {TEAM}/members/7"), json!({"access": "read"}), 400).await;
    team.ann(&format!("PUT {TEAM}/members/ann"), json!({"access": "read"}), 400).await;
    team.ann(&format!("PUT {TEAM}/members/eve"), json!({"access": "all"}), 422).await;
    // A member is told who is in the group, and not who is asked to join.
    let shown =
        team.bob(&format!("GET /api/v1/users/bob/{}", team.membership), Value::Null, 200).await.json();
    let names: Vec<_> = shown["people"].as_array().unwrap().iter().map(|one| &one["username"]).collect();
    assert_eq!(names, ["ann", "bob"]);
    // Whoever is in a group gives their own device to it, and takes it back.
    let club = team.given.replace("/ann/", "/bob/");
    team.bob(&format!("PUT {club}"), Value::Null, 200).await;
    team.ann("GET /api/v1/users/bob/resources/node", Value::Null, 200).await;
    team.bob(&format!("DELETE {club}"), Value::Null, 204).await;
    team.ann("GET /api/v1/users/bob/resources/node", Value::Null, 403).await;
    team.ann(&format!("PUT {TEAM}"), json!({"label": "crew"}), 200).await;
    let crew = TEAM.replace("team", "crew");
    team.ann(&format!("DELETE {crew}/members/eve"), Value::Null, 204).await;
    team.bob(&format!("DELETE /api/v1/users/bob/{}", team.membership), Value::Null, 204).await;
    team.ann(&format!("DELETE {crew}"), Value::Null, 204).await;
    let record = team.cloud.as_admin("GET /api/v1/audit?limit=100&actions=true", Value::Null).await.json();
    let told: Vec<_> =
        record.as_array().unwrap().iter().map(|line| (&line["action"], &line["who"])).collect();
    for (action, who) in [
        ("groups_changed", "ann"),
        ("group_member_set", "ann"),
        ("group_member_removed", "ann"),
        ("group_joined", "bob"),
        ("group_left", "bob"),
        ("device_given", "ann"),
        ("device_taken_back", "bob"),
    ] {
        assert!(told.contains(&(&json!(action), &json!(who))), "{action}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_reads_a_single_stream_and_no_other_of_its_device_until_it_is_taken_back() {
    let team = Team::start("change").await;
    team.ann(&format!("DELETE {}", team.given), Value::Null, 204).await;
    team.ann(&format!("POST {NODE}/streams"), json!({"label": "u"}), 201).await;
    let id_of = async |label: &str| {
        team.ann(&format!("GET {NODE}/streams/{label}"), Value::Null, 200).await.json()["id"].clone()
    };
    let (t, u) = (id_of("t").await, id_of("u").await);
    let given = team.given.replace("/groups/", "/streams/t/groups/");
    let shared = format!("/api/v1/shared/streams/{t}");
    let nowhere = team.bob("GET /api/v1/shared/streams/4711", Value::Null, 404).await;
    assert_eq!(team.bob(&format!("GET {shared}"), Value::Null, 404).await.body, nowhere.body);
    // Only its owner gives it, and only to a group that they are in.
    team.bob(&format!("PUT {given}"), Value::Null, 403).await;
    team.ann(&format!("PUT {NODE}/streams/t/groups/4711"), Value::Null, 404).await;
    team.ann(&format!("PUT {given}"), Value::Null, 200).await;
    let groups = team.ann(&format!("GET {NODE}/streams/t/groups"), Value::Null, 200).await.json();
    assert_eq!((&groups[0]["label"], groups.as_array().unwrap().len()), (&json!("team"), 1));
    assert_eq!(team.ann(&format!("GET {NODE}/groups"), Value::Null, 200).await.json(), json!([]));

    let listed = team.bob("GET /api/v1/users/bob/group-streams", Value::Null, 200).await.json();
    let known = json!([{"id": t, "label": "t", "unit": null, "description": "", "value_type": "number",
        "device": "node", "owner": "ann", "tags": []}]);
    assert_eq!(listed, known);
    let points = team.bob(&format!("GET {shared}/data"), Value::Null, 200).await.json();
    assert_eq!(points[0]["value"], json!(1.5));
    let mut feed = team.cloud.feed(&format!("{shared}/live"), &bearer(&team.bob)).await;
    team.cloud.post("ann", [2.5]).await;
    feed.until(|text| text.contains("2.5")).await;
    // Nothing else of the device: not its other stream, and not this one where its owner has it. His right to change does not count here.
    team.bob(&format!("GET /api/v1/shared/streams/{u}"), Value::Null, 404).await;
    for (request, body) in [
        (format!("GET {NODE}"), Value::Null),
        (format!("GET {NODE}/streams"), Value::Null),
        (format!("GET {NODE}/streams/t/data"), Value::Null),
        (format!("GET {NODE}/streams/t/groups"), Value::Null),
        (format!("PUT {NODE}/streams/t"), json!({"unit": "K"})),
        (format!("POST {NODE}/streams/t/data"), json!({"value": 9})),
    ] {
        team.bob(&request, body, 403).await;
    }
    let strangers = team.cloud.ask(&format!("GET {shared}"), "", Value::Null).await;
    assert_eq!(strangers.status, 404);
    team.bob(&format!("PUT /api/v1/users/bob/followed/{t}"), Value::Null, 200).await;

    team.ann(&format!("DELETE {given}"), Value::Null, 204).await;
    team.cloud.post("ann", [77.5]).await;
    feed.until_the_end().await;
    assert!(!feed.text.contains("77.5"), "{}", feed.text);
    team.bob(&format!("GET {shared}/data"), Value::Null, 404).await;
    let followed = team.bob("GET /api/v1/users/bob/followed", Value::Null, 200).await.json();
    assert_eq!(followed[0]["stream"], Value::Null);
    team.ann(&format!("DELETE {given}"), Value::Null, 404).await;

    // It ends as well when the member leaves, and the owner of a group takes out what others gave.
    team.ann(&format!("PUT {given}"), Value::Null, 200).await;
    let mut feed = team.cloud.feed(&format!("{shared}/live"), &bearer(&team.bob)).await;
    let of_bob = given.replace("/ann/", "/bob/");
    team.bob(&format!("PUT {of_bob}"), Value::Null, 200).await;
    let own = team.bob("GET /api/v1/users/bob/resources/node/streams/t", Value::Null, 200).await.json();
    team.ann(&format!("GET /api/v1/shared/streams/{}", own["id"]), Value::Null, 200).await;
    let details = team.ann(&format!("GET {TEAM}"), Value::Null, 200).await.json();
    assert_eq!((&details["streams"], &details["given_streams"][1]["owner"]), (&json!(2), &json!("bob")));
    let export = team.ann("GET /api/v1/users/ann/export", Value::Null, 200).await.body;
    assert!(export.contains(&format!("\"type\":\"stream_given_to\",\"stream\":{t}")), "{export}");
    team.ann(&format!("DELETE {TEAM}/streams/{}", own["id"]), Value::Null, 204).await;
    team.ann(&format!("GET /api/v1/shared/streams/{}", own["id"]), Value::Null, 404).await;
    team.bob(&format!("DELETE /api/v1/users/bob/{}", team.membership), Value::Null, 204).await;
    feed.until_the_end().await;
    team.bob(&format!("GET {shared}"), Value::Null, 404).await;
    let record = team.cloud.as_admin("GET /api/v1/audit?limit=100&actions=true", Value::Null).await.json();
    let told: Vec<_> =
        record.as_array().unwrap().iter().map(|line| (&line["action"], &line["who"])).collect();
    for (action, who) in [("stream_given", "ann"), ("stream_given", "bob"), ("stream_taken_back", "ann")] {
        assert!(told.contains(&(&json!(action), &json!(who))), "{action}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_exported_with_ones_data_and_erased_with_the_account() {
    let team = Team::start("read").await;
    let export = async |user: &str, token: &str| {
        let text =
            team.cloud.ask(&format!("GET /api/v1/users/{user}/export"), &bearer(token), Value::Null).await;
        // It comes in chunks, whose lengths are lines of their own.
        let lines = text.body.lines().filter_map(|line| serde_json::from_str(line).ok());
        lines.filter(Value::is_object).collect::<Vec<Value>>()
    };
    let of_ann = export("ann", &team.ann).await;
    let find = |lines: &[Value], kind: &str| lines.iter().find(|line| line["type"] == kind).cloned();
    let group = find(&of_ann, "group").unwrap();
    assert_eq!((&group["label"], &group["people"][1]["username"]), (&json!("team"), &json!("bob")));
    assert_eq!(find(&of_ann, "given_to").unwrap()["group"]["label"], "team");
    let of_bob = export("bob", &team.bob).await;
    assert_eq!(find(&of_bob, "membership").unwrap()["owner"], "ann");
    // What is another's is not one's own data.
    assert_eq!(of_bob.iter().filter(|line| line["type"] == "resource").count(), 1);
    team.cloud.ask("DELETE /api/v1/users/ann", &bearer(&team.ann), Value::Null).await;
    let left = team.bob("GET /api/v1/users/bob/memberships", Value::Null, 200).await;
    assert_eq!(left.json(), json!([]));
}
