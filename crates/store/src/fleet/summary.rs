//! A fleet in a few numbers.

use std::collections::HashMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::device::{DeviceState, FleetDevice};
use super::folders::below;
use super::natural::natural;

/// The most tags that are told, and the most folders.
const GROUPS: usize = 1_000;

/// How many devices there are, and how they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Counts {
    /// All.
    pub devices: u64,
    /// Those that report.
    pub reporting: u64,
    /// Those that are silent.
    pub silent: u64,
    /// Those that were never heard.
    pub unheard: u64,
    /// Those with alerts that are not cleared.
    pub with_alerts: u64,
    /// Those whose poller is paused.
    pub polls_paused: u64,
}

/// Devices with the same tag, or below the same folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Group {
    /// The tag, or the folder's own name.
    pub name: String,
    /// How many they are, and how.
    #[serde(flatten)]
    pub counts: Counts,
}

/// All devices of a user in a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct FleetSummary {
    /// How many they are, and how.
    #[serde(flatten)]
    pub counts: Counts,
    /// Those of each tag: of the commonest 1000 tags, in the order of their names.
    pub tags: Vec<Group>,
}

impl Counts {
    fn add(&mut self, device: &FleetDevice) {
        self.devices += 1;
        match device.state {
            DeviceState::Reporting => self.reporting += 1,
            DeviceState::Silent => self.silent += 1,
            DeviceState::Unheard => self.unheard += 1,
        }
        self.with_alerts += u64::from(device.alerts > 0);
        self.polls_paused += u64::from(device.polls_paused == Some(true));
    }
}

impl FleetSummary {
    pub(crate) fn of(devices: &[FleetDevice]) -> Self {
        let mut counts = Counts::default();
        let mut tags = HashMap::<&str, Counts>::new();
        for device in devices {
            counts.add(device);
            for tag in &device.resource.tags {
                tags.entry(tag).or_default().add(device);
            }
        }
        Self { counts, tags: groups(tags) }
    }
}

/// The folders right below `above`, each with all devices below it.
pub(crate) fn folders(devices: &[FleetDevice], above: &str) -> Vec<Group> {
    let mut folders = HashMap::<&str, Counts>::new();
    for device in devices {
        let Some(rest) = below(&device.resource.folder, above).filter(|rest| !rest.is_empty()) else {
            continue;
        };
        let name = rest.split_once('/').map_or(rest, |(name, _)| name);
        folders.entry(name).or_default().add(device);
    }
    groups(folders)
}

/// As many groups as are told, those of most devices, in the order of their names.
fn groups(counts: HashMap<&str, Counts>) -> Vec<Group> {
    let mut groups: Vec<Group> =
        counts.into_iter().map(|(name, counts)| Group { name: name.to_owned(), counts }).collect();
    if groups.len() > GROUPS {
        groups.sort_by(|one, other| {
            other.counts.devices.cmp(&one.counts.devices).then_with(|| one.name.cmp(&other.name))
        });
        groups.truncate(GROUPS);
    }
    groups.sort_by(|one, other| natural(&one.name, &other.name));
    groups
}

#[cfg(test)]
mod tests {
    use super::super::device::tests::resource;
    use super::*;
    use crate::resources::Resource;

    fn device(id: i64, tags: &[&str], folder: &str, heard: Option<i64>) -> FleetDevice {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let resource = Resource { tags, folder: folder.into(), ..resource(id, "node") };
        FleetDevice::new(resource, heard, Some((60, true)), id % 2, 10_000_000)
    }

    fn named(groups: &[Group]) -> Vec<(&str, u64, u64)> {
        groups.iter().map(|group| (&*group.name, group.counts.devices, group.counts.silent)).collect()
    }

    #[test]
    fn devices_are_counted_in_all_by_tag_and_by_folder() {
        let devices = [
            device(1, &["a10", "a9"], "x/y", Some(0)),
            device(2, &["a9"], "x/y/z", Some(9_999_999)),
            device(3, &[], "x", None),
            device(4, &["a9"], "", Some(0)),
            device(5, &[], "xx", Some(0)),
        ];
        let summary = FleetSummary::of(&devices);
        let expected =
            Counts { devices: 5, reporting: 1, silent: 3, unheard: 1, with_alerts: 3, polls_paused: 5 };
        assert_eq!(summary.counts, expected);
        assert_eq!(named(&summary.tags), [("a9", 3, 2), ("a10", 1, 1)]);
        assert_eq!(named(&folders(&devices, "")), [("x", 3, 1), ("xx", 1, 1)]);
        assert_eq!(named(&folders(&devices, "x")), [("y", 2, 1)]);
        assert_eq!(named(&folders(&devices, "x/y/z")), []);
    }

    #[test]
    fn of_very_many_tags_the_commonest_are_told() {
        let mut devices: Vec<FleetDevice> =
            (0..=GROUPS as i64).map(|n| device(n, &[&*format!("t{n}")], "", None)).collect();
        devices.push(device(9_999, &["t1000"], "", None));
        let tags = FleetSummary::of(&devices).tags;
        assert_eq!((tags.len(), &*tags[GROUPS - 1].name), (GROUPS, "t1000"));
        // Of those that are as common, the last of the alphabet is not.
        assert!(!tags.iter().any(|tag| tag.name == "t999"));
    }
}
