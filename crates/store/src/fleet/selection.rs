//! Which devices are looked for, and in which order they come.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::device::{DeviceState, FleetDevice};
use super::folders::{below, check_folder};
use super::natural::natural;
use crate::error::Error;
use crate::tags;

/// The most words that are looked for at a time.
const WORDS: usize = 8;
/// The longest text that is looked for, in characters.
const LONGEST_SEARCH: usize = 200;

/// Which devices: those of which all holds that is said. Nothing said is all devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Words each of which is in the label, identity, mode, description, folder or a tag; letters of either case
    #[schema(max_length = 200)]
    pub search: String,
    /// Tags, all of which they have
    #[schema(max_items = 16)]
    pub tags: Vec<String>,
    /// Whether they report
    pub state: Option<DeviceState>,
    /// Only those with alerts that are not cleared
    pub with_alerts: bool,
    /// Those in this folder and the folders below it
    #[schema(max_length = 256)]
    pub folder: String,
    /// Those in that folder itself only
    pub not_below: bool,
}

/// In which order devices come. Those that are the same in it come by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceOrder {
    /// By their names, numbers in these by their values.
    #[default]
    Name,
    /// The one that has been silent for longest first, then those that will be silent first. Those that were never heard come last.
    Silence,
    /// The one that was heard last first.
    Heard,
    /// By their ids: as they were added.
    Added,
}

/// A [`Selection`] that was checked, and the words and tags that it looks for.
pub(crate) struct Sought {
    words: Vec<String>,
    tags: Vec<String>,
    selection: Selection,
}

impl Sought {
    pub(crate) fn new(selection: Selection) -> Result<Self, Error> {
        if selection.search.chars().count() > LONGEST_SEARCH {
            return Err(Error::Invalid("search has more than 200 characters"));
        }
        let search = selection.search.to_lowercase();
        let words: Vec<String> = search.split_whitespace().map(str::to_owned).collect();
        if words.len() > WORDS {
            return Err(Error::Invalid("search has at most 8 words"));
        }
        check_folder(&selection.folder)?;
        let tags = tags::tags_of_one(&selection.tags)?.into_iter().collect();
        Ok(Self { words, tags, selection })
    }

    /// Whether `device` is one of them.
    pub(crate) fn has(&self, device: &FleetDevice) -> bool {
        let Selection { state, with_alerts, folder, not_below, .. } = &self.selection;
        let resource = &device.resource;
        state.is_none_or(|state| device.state == state)
            && (!with_alerts || device.alerts > 0)
            && below(&resource.folder, folder).is_some_and(|rest| !not_below || rest.is_empty())
            && self.tags.iter().all(|tag| resource.tags.contains(tag))
            && self.says(device)
    }

    /// Whether each word stands somewhere in what is said of the device.
    fn says(&self, FleetDevice { resource, .. }: &FleetDevice) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let identity = resource.identity.as_deref().unwrap_or_default();
        let mut said = [&*resource.label, identity, &resource.mode, &resource.description, &resource.folder]
            .join("\n")
            .to_lowercase();
        for tag in &resource.tags {
            said.push('\n');
            said.push_str(tag);
        }
        self.words.iter().all(|word| said.contains(word))
    }
}

impl DeviceOrder {
    pub(crate) fn compare(self, one: &FleetDevice, other: &FleetDevice) -> Ordering {
        let last = |time: Option<i64>| time.unwrap_or(i64::MAX);
        let by_time = match self {
            Self::Name => Ordering::Equal,
            Self::Silence => last(one.silent_from).cmp(&last(other.silent_from)),
            Self::Heard => other.heard.cmp(&one.heard),
            Self::Added => return one.resource.id.cmp(&other.resource.id),
        };
        by_time.then_with(|| natural(&one.resource.label, &other.resource.label))
    }
}

#[cfg(test)]
mod tests {
    use super::super::device::tests::{device, resource};
    use super::*;
    use crate::resources::Resource;

    fn fleet() -> Vec<FleetDevice> {
        let with = |id, label: &str, tags: &[&str], folder: &str, heard: Option<i64>, alerts| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            let resource = Resource { tags, folder: folder.into(), ..resource(id, label) };
            FleetDevice::new(resource, heard, None, alerts, 10_000_000)
        };
        vec![
            with(1, "sensor10", &["pump", "roof"], "house/attic", Some(9_000_000), 0),
            with(2, "Sensor2", &["roof"], "house", Some(1_000), 1),
            with(3, "valve 1", &[], "houses", None, 0),
        ]
    }

    fn found(selection: Selection) -> Vec<i64> {
        let sought = Sought::new(selection).unwrap();
        fleet().iter().filter(|device| sought.has(device)).map(|device| device.resource.id.0).collect()
    }

    #[test]
    fn devices_are_found_by_all_that_is_said() {
        let text = |search: &str| Selection { search: search.into(), ..Selection::default() };
        let folder =
            |folder: &str, not_below| Selection { folder: folder.into(), not_below, ..Selection::default() };
        let tagged = |tags: &[&str]| Selection {
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..Selection::default()
        };
        for (selection, expected) in [
            (Selection::default(), vec![1, 2, 3]),
            (text("SENSOR"), vec![1, 2]),
            (text("sensor pum"), vec![1]),
            (text("attic"), vec![1]),
            (text("sensor valve"), vec![]),
            (tagged(&["roof"]), vec![1, 2]),
            (tagged(&["ROOF", "pump"]), vec![1]),
            (tagged(&["roo"]), vec![]),
            (folder("house", false), vec![1, 2]),
            (folder("house", true), vec![2]),
            (Selection { state: Some(DeviceState::Silent), ..Selection::default() }, vec![2]),
            (Selection { state: Some(DeviceState::Unheard), ..Selection::default() }, vec![3]),
            (Selection { with_alerts: true, ..text("sensor") }, vec![2]),
        ] {
            assert_eq!(found(selection.clone()), expected, "{selection:?}");
        }
        for selection in
            [text("a b c d e f g h i"), text(&"x".repeat(201)), folder("/", false), tagged(&["a,b"])]
        {
            assert!(Sought::new(selection).is_err());
        }
    }

    #[test]
    fn the_longest_silent_comes_first_and_what_was_never_heard_last() {
        for (order, expected) in [
            (DeviceOrder::Name, [2, 1, 3]),
            (DeviceOrder::Silence, [2, 1, 3]),
            (DeviceOrder::Heard, [1, 2, 3]),
            (DeviceOrder::Added, [1, 2, 3]),
        ] {
            let mut devices = fleet();
            devices.sort_by(|one, other| order.compare(one, other));
            assert_eq!(
                devices.iter().map(|device| device.resource.id.0).collect::<Vec<_>>(),
                expected,
                "{order:?}"
            );
        }
        // A device that is to report each day is not silent yet when one of each minute is.
        let of = |id, period_s, heard| {
            let resource = Resource { period_s: Some(period_s), ..resource(id, "node") };
            FleetDevice::new(resource, Some(heard), None, 0, 10_000_000)
        };
        let (daily, often) = (of(1, 86_400, 0), of(2, 60, 9_000_000));
        assert_eq!(DeviceOrder::Silence.compare(&often, &daily), Ordering::Less);
        assert_eq!(DeviceOrder::Name.compare(&device(1, "a9"), &device(2, "a10")), Ordering::Less);
    }
}
