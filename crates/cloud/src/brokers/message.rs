//! What is published of points.

use serde::Serialize;
use sixlock_store::{BrokerDevices, BrokerFormat, BrokerPoint, BrokerToServe, Cursor, Value};

use super::topic::Topics;
use crate::senml_records::Record;

/// The most readings of a message of SenML.
const RECORDS: usize = 64;

/// A message that is to be published.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    /// The position behind the last of its points.
    pub(super) upto: Cursor,
    /// How many points it has.
    pub(super) points: u64,
}

/// A reading as JSON.
#[derive(Serialize)]
struct Json<'a> {
    time: i64,
    value: &'a Value,
    unit: Option<&'a str>,
}

/// Whether readings of the device that `point` is of are published to `broker`.
pub(super) fn is_of(broker: &BrokerToServe, point: &BrokerPoint) -> bool {
    point.owner == broker.owner
        && match &broker.devices {
            BrokerDevices::All => true,
            BrokerDevices::These(resources) => resources.contains(&point.resource),
            BrokerDevices::Tagged(tag) => point.tags.contains(tag),
        }
}

/// The messages that tell these points, in their order.
pub(super) fn messages(format: BrokerFormat, topics: &Topics, points: &[&BrokerPoint]) -> Vec<Message> {
    match format {
        BrokerFormat::Json => points.iter().map(|point| json(topics, point)).collect(),
        BrokerFormat::Senml => {
            let of_one_device = points.chunk_by(|one, next| one.resource == next.resource);
            of_one_device
                .flat_map(|points| points.chunks(RECORDS))
                .filter_map(|points| senml(topics, points))
                .collect()
        }
    }
}

fn json(topics: &Topics, BrokerPoint { position, device, stream, unit, point, .. }: &BrokerPoint) -> Message {
    let json = Json { time: point.time, value: &point.value, unit: unit.as_deref() };
    Message {
        topic: topics.of(device, Some(stream)),
        // It has no maps whose keys are no texts, so it can be written.
        payload: serde_json::to_vec(&json).unwrap_or_default(),
        upto: *position,
        points: 1,
    }
}

fn record(BrokerPoint { stream, unit, point, .. }: &BrokerPoint) -> Option<Record<'_>> {
    Record::new(stream, unit.as_deref(), point).ok()
}

/// Readings of one device. A stream whose label is no name of SenML, and a time that SenML cannot tell, are left out of it; nothing if that is all.
fn senml(topics: &Topics, points: &[&BrokerPoint]) -> Option<Message> {
    let told: Vec<&BrokerPoint> = points.iter().copied().filter(|point| record(point).is_some()).collect();
    let last = told.last()?;
    let records: Vec<Record<'_>> = told.iter().copied().filter_map(record).collect();
    Some(Message {
        topic: topics.of(&last.device, None),
        payload: serde_json::to_vec(&records).unwrap_or_default(),
        upto: last.position,
        points: records.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use sixlock_store::{BrokerId, BrokerSettings, Point, ResourceId, UserId};

    use super::*;

    fn point(position: u64, device: i64, stream: &str, value: impl Into<Value>) -> BrokerPoint {
        BrokerPoint {
            position: Cursor::from_journal(position),
            owner: UserId(1),
            resource: ResourceId(device),
            device: format!("device/{device}"),
            tags: vec!["roof".into()],
            stream: stream.into(),
            unit: (stream == "t").then(|| "Cel".into()),
            point: Point { time: 1_700_000_000_500, value: value.into() },
        }
    }

    fn published(format: BrokerFormat, points: &[BrokerPoint]) -> Vec<(String, String, u64, u64)> {
        let topics = Topics::new("p", "ann");
        messages(format, &topics, &points.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|Message { topic, payload, upto, points }| {
                (topic, String::from_utf8(payload).unwrap(), upto.for_journal(), points)
            })
            .collect()
    }

    #[test]
    fn values_of_every_type_are_told_in_either_form() {
        let points = [
            point(1, 1, "t", 21.5),
            point(2, 1, "door", Value::Text("open \"wide\"".into())),
            point(4, 2, "lamp", Value::Boolean(true)),
        ];
        let topic = |device: i64, stream: &str| format!("p/device%2F{device}/{stream}");
        assert_eq!(
            published(BrokerFormat::Json, &points),
            [
                (topic(1, "t"), r#"{"time":1700000000500,"value":21.5,"unit":"Cel"}"#.into(), 1, 1),
                (
                    topic(1, "door"),
                    r#"{"time":1700000000500,"value":"open \"wide\"","unit":null}"#.into(),
                    2,
                    1
                ),
                (topic(2, "lamp"), r#"{"time":1700000000500,"value":true,"unit":null}"#.into(), 4, 1),
            ]
        );
        assert_eq!(
            published(BrokerFormat::Senml, &points),
            [
                (
                    "p/device%2F1".into(),
                    r#"[{"n":"t","u":"Cel","v":21.5,"t":1700000000.5},{"n":"door","vs":"open \"wide\"","t":1700000000.5}]"#
                        .into(),
                    2,
                    2
                ),
                ("p/device%2F2".into(), r#"[{"n":"lamp","vb":true,"t":1700000000.5}]"#.into(), 4, 1),
            ]
        );
    }

    #[test]
    fn senml_leaves_out_what_it_cannot_say_and_a_message_has_a_bound() {
        let points = [point(1, 1, "t", 1.0), point(2, 1, "°", 2.0), point(3, 2, "°", 3.0)];
        let told_senml = published(BrokerFormat::Senml, &points);
        assert_eq!(told_senml.len(), 1);
        assert_eq!((told_senml[0].2, told_senml[0].3), (1, 1));
        assert_eq!(published(BrokerFormat::Json, &points).len(), 3);
        let many: Vec<BrokerPoint> = (0..100).map(|n| point(n, 1, "t", n as f64)).collect();
        let lengths =
            published(BrokerFormat::Senml, &many).into_iter().map(|(.., upto, points)| (upto, points));
        assert_eq!(lengths.collect::<Vec<_>>(), [(63, 64), (99, 36)]);
    }

    #[test]
    fn only_devices_that_are_chosen_and_the_owners_own_are_told() {
        let broker = |devices| BrokerToServe {
            id: BrokerId(1),
            revision: 0,
            owner: UserId(1),
            owner_name: "ann".into(),
            settings: BrokerSettings {
                label: String::new(),
                url: String::new(),
                username: None,
                authority: None,
                prefix: String::new(),
                qos: 1,
                retain: false,
                format: BrokerFormat::Json,
            },
            password: None,
            client_id: String::new(),
            devices,
        };
        let own = point(1, 1, "t", 1.0);
        let of_another = BrokerPoint { owner: UserId(2), ..own.clone() };
        for (devices, is) in [
            (BrokerDevices::All, true),
            (BrokerDevices::These([ResourceId(1)].into()), true),
            (BrokerDevices::These([ResourceId(2)].into()), false),
            (BrokerDevices::These([].into()), false),
            (BrokerDevices::Tagged("roof".into()), true),
            (BrokerDevices::Tagged("cellar".into()), false),
        ] {
            assert_eq!(is_of(&broker(devices.clone()), &own), is, "{devices:?}");
            assert!(!is_of(&broker(devices), &of_another));
        }
    }
}
