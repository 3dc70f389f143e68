//! All rules and channels of a user at once.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use crate::channels::{self, Channel, ChannelKind, NewChannel};
use crate::error::{BadDefinition, Error};
use crate::ids::UserId;
use crate::names::{LABEL_RULE, is_label};
use crate::rules::{self, NewRule, Rule, Watched};
use crate::store::Store;

/// All rules and channels that a user is to have. Rules name channels by their labels here.
#[derive(Clone, Debug)]
pub struct AlertDefinitions {
    /// The channels. One that is there, with the same kind and address, keeps its secret if no other is stated.
    pub channels: Vec<NewChannel>,
    /// The rules. One that is there, and the same, goes on as it is.
    pub rules: Vec<NewRule>,
}

/// What became another, by labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DefinitionChanges {
    /// Those that were not there.
    pub added: Vec<String>,
    /// Those that were otherwise. A rule begins anew; a channel does, too, unless only its token is another.
    pub changed: Vec<String>,
    /// Those that are there no more.
    pub removed: Vec<String>,
}

impl DefinitionChanges {
    /// Whether nothing became another.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// What replacing the rules and channels of a user did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReplacedDefinitions {
    /// Of channels.
    pub channels: DefinitionChanges,
    /// Of rules.
    pub rules: DefinitionChanges,
    /// Of each webhook that was made, by its label, the key that signs what is posted. This is the only answer that ever holds it.
    pub keys: BTreeMap<String, String>,
}

/// A rule whose names were looked up.
struct Found {
    rule: NewRule,
    watched: Watched,
}

impl Store {
    /// Has `owner` have these rules and channels and no others: all of it or, if anything is wrong, nothing. With `dry_run`, nothing
    /// becomes another in either case.
    pub async fn replace_alert_definitions(
        &self,
        owner: UserId,
        AlertDefinitions { channels, rules }: AlertDefinitions,
        dry_run: bool,
    ) -> Result<ReplacedDefinitions, Error> {
        if rules.len() as i64 > rules::MOST_OF_ONE_OWNER {
            return Err(Error::Invalid("a user has at most 100 rules"));
        }
        if channels.len() as i64 > channels::MOST_OF_ONE_OWNER {
            return Err(Error::Invalid("a user has at most 16 channels"));
        }
        let mut bad = Vec::new();
        let mut labels = HashSet::new();
        for NewChannel { label, .. } in &channels {
            if !is_label(label) {
                note(&mut bad, "channel", label, Error::Invalid(LABEL_RULE))?;
            } else if !labels.insert(label.clone()) {
                note(&mut bad, "channel", label, Error::Taken("label"))?;
            }
        }
        let mut found = Vec::new();
        let mut named = HashSet::new();
        for rule in rules {
            let label = rule.label.clone();
            let checked = match named.insert(label.clone()) {
                true => self.find_watched(owner, rule, &labels).await,
                false => Err(Error::Taken("label")),
            };
            match checked {
                Ok(rule) => found.push(rule),
                Err(error) => note(&mut bad, "rule", &label, error)?,
            }
        }
        if !bad.is_empty() {
            return Err(Error::Definitions(bad));
        }
        let mut writer = self.writer.lock().await;
        // Dropped without a commit, it changes nothing. Nobody else writes meanwhile, so what is read is what there is.
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let mut done = ReplacedDefinitions::default();
        let known = self.channels(owner).await?;
        let asks = channels.iter().any(|channel| channel.kind == ChannelKind::Email);
        let ids = self.replace_channels(&mut transaction, owner, (known, channels), &mut done).await?;
        let known = self.rules(owner).await?;
        replace_rules(&mut transaction, owner, (known, found), &ids, (&mut done.rules, &mut bad)).await?;
        if !bad.is_empty() {
            return Err(Error::Definitions(bad));
        }
        if dry_run {
            done.keys.clear();
            return Ok(done);
        }
        transaction.commit().await?;
        drop(writer);
        if asks {
            self.outbox.notify_one();
        }
        Ok(done)
    }

    /// Checks a rule, and finds what it names: a channel among those of these labels.
    async fn find_watched(
        &self,
        owner: UserId,
        mut rule: NewRule,
        channels: &HashSet<String>,
    ) -> Result<Found, Error> {
        rules::check(&rule)?;
        let (resource, stream) = self.watched_by(owner, &rule).await?;
        if !rule.channels.iter().all(|label| channels.contains(label)) {
            return Err(Error::Invalid("it names a channel, by its label, that is not among these"));
        }
        rule.channels.sort();
        rule.channels.dedup();
        rule.resource = resource.label;
        let watched = Watched {
            resource: resource.id,
            stream: stream.as_ref().map(|stream| stream.id),
            channels: Vec::new(),
        };
        rule.stream = stream.map(|stream| stream.label);
        Ok(Found { rule, watched })
    }

    /// Has `owner` have these channels instead of those `known`, and returns their rows by their labels.
    async fn replace_channels(
        &self,
        connection: &mut SqliteConnection,
        owner: UserId,
        (known, wanted): (Vec<Channel>, Vec<NewChannel>),
        ReplacedDefinitions { channels: changes, keys, .. }: &mut ReplacedDefinitions,
    ) -> Result<HashMap<String, i64>, Error> {
        let mut ids = HashMap::new();
        let mut known: BTreeMap<String, Channel> =
            known.into_iter().map(|channel| (channel.label.clone(), channel)).collect();
        let mut new = Vec::new();
        for wanted in wanted {
            let is_same = |known: &Channel| known.kind == wanted.kind && known.address == wanted.address;
            match known.remove(&wanted.label) {
                Some(same) if is_same(&same) => {
                    if let Some(token) = &wanted.token {
                        self.set_channel_secret(connection, same.id.0, token).await?;
                        changes.changed.push(wanted.label.clone());
                    }
                    ids.insert(wanted.label, same.id.0);
                }
                Some(other) => {
                    channels::delete(connection, other.id).await?;
                    changes.changed.push(wanted.label.clone());
                    new.push(wanted);
                }
                None => {
                    changes.added.push(wanted.label.clone());
                    new.push(wanted);
                }
            }
        }
        for (label, channel) in known {
            channels::delete(connection, channel.id).await?;
            changes.removed.push(label);
        }
        // There is space for them now.
        for channel in new {
            let label = channel.label.clone();
            let (id, key) = self.insert_channel(connection, owner, channel).await?;
            keys.extend(key.map(|key| (label.clone(), key)));
            ids.insert(label, id);
        }
        Ok(ids)
    }
}

/// Has `owner` have these rules instead of those `known`.
async fn replace_rules(
    connection: &mut SqliteConnection,
    owner: UserId,
    (known, wanted): (Vec<Rule>, Vec<Found>),
    channels: &HashMap<String, i64>,
    (changes, bad): (&mut DefinitionChanges, &mut Vec<BadDefinition>),
) -> Result<(), Error> {
    let mut known: BTreeMap<String, Rule> =
        known.into_iter().map(|rule| (rule.label.clone(), rule)).collect();
    let mut to_set = Vec::new();
    let mut new = Vec::new();
    for Found { rule, mut watched } in wanted {
        watched.channels = rule.channels.iter().filter_map(|label| channels.get(label).copied()).collect();
        match known.remove(&rule.label) {
            Some(same) if is_same(&same, &rule) => {
                // A channel that was replaced has another row.
                rules::set_channels(connection, same.id, &watched.channels).await?;
            }
            Some(other) => {
                rules::stop(connection, other.id).await?;
                changes.changed.push(rule.label.clone());
                to_set.push((other.id, rule, watched));
            }
            None => new.push((rule, watched)),
        }
    }
    for (label, rule) in known {
        rules::delete(connection, rule.id).await?;
        changes.removed.push(label);
    }
    // There is space for them now.
    for (rule, watched) in new {
        let id = rules::insert(connection, owner, &rule, watched.resource).await?;
        changes.added.push(rule.label.clone());
        to_set.push((id, rule, watched));
    }
    for (id, rule, watched) in to_set {
        if let Err(error) = rules::set(connection, id, &rule, &watched).await {
            note(bad, "rule", &rule.label, error)?;
        }
    }
    Ok(())
}

/// Whether a rule is what it is to be. Its label is.
fn is_same(known: &Rule, wanted: &NewRule) -> bool {
    let NewRule { label: _, severity, resource, stream, condition, channels, payload, paused } = wanted;
    let mut known_channels = known.channels.clone();
    known_channels.sort();
    known.severity == *severity
        && known.resource == *resource
        && known.stream == *stream
        && known.condition == *condition
        && known_channels == *channels
        && known.payload == *payload
        && known.paused == *paused
}

/// Takes note of what is wrong with a rule or channel; what is wrong with the cloud ends it all.
fn note(bad: &mut Vec<BadDefinition>, kind: &'static str, label: &str, error: Error) -> Result<(), Error> {
    bad.push(BadDefinition { kind, label: label.into(), why: error.why_refused()? });
    Ok(())
}

#[cfg(test)]
mod tests {
    use sixlock_ingest::Reading;

    use super::*;
    use crate::conditions::{Condition, Severity};
    use crate::journal::{Append, Idempotency};
    use crate::resources::Device;

    fn rule(label: String, stream: &str) -> NewRule {
        NewRule {
            label,
            severity: Severity::Warning,
            resource: "node".into(),
            stream: Some(stream.into()),
            condition: Condition::Change { by: Some(1.0) },
            channels: Vec::new(),
            payload: None,
            paused: false,
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn rules_of_two_full_streams_change_places_and_a_ninth_of_one_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap().id;
        let resource = store.enrol(ann, Device::named("node")).await.unwrap().resource.id;
        let reading =
            |stream: &str| Reading { stream: stream.into(), unit: None, time: 1, value: 2.0.into() };
        let idempotency = Idempotency::unique().unwrap();
        let readings = vec![reading("t"), reading("u")];
        store.append(Append { resource, idempotency, readings }).await.unwrap();
        let streams = ["t", "u"].into_iter().cycle();
        let mut rules: Vec<_> =
            (0..16).zip(streams).map(|(n, stream)| rule(format!("r{n}"), stream)).collect();
        let replace = async |rules: &[NewRule]| {
            let definitions = AlertDefinitions { channels: Vec::new(), rules: rules.to_vec() };
            store.replace_alert_definitions(ann, definitions, false).await
        };
        assert_eq!(replace(&rules).await.unwrap().rules.added.len(), 16);
        (rules[0].stream, rules[1].stream) = (Some("u".into()), Some("t".into()));
        let done = replace(&rules).await.unwrap().rules;
        assert_eq!((done.added.len(), done.removed.len()), (0, 0));
        assert_eq!(done.changed, ["r0", "r1"]);
        rules.push(rule("ninth".into(), "t"));
        rules.push(rule("r5".into(), "t"));
        rules.remove(7);
        let bad = match replace(&rules).await {
            Err(Error::Definitions(bad)) => bad,
            other => panic!("{other:?}"),
        };
        let named: Vec<_> = bad.iter().map(|bad| (bad.kind, &*bad.label)).collect();
        assert_eq!(named, [("rule", "r5")], "a label is there twice");
        rules.pop();
        assert!(matches!(replace(&rules).await, Err(Error::Definitions(bad)) if bad[0].label == "ninth"));
        let kept = store.rules(ann).await.unwrap();
        assert!(kept.len() == 16 && kept.iter().any(|rule| rule.label == "r7"), "{kept:?}");
    }
}
