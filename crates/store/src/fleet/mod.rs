//! Many devices of one user: in a few numbers, found, in order, a page at a time, and changed together.
//!
//! All that is shown rests on one look at the devices of the user, of whom there are some ten thousand at most; which of them are
//! shown is decided here, not by the database, so that what is found, sorted, counted and changed is the same.

mod changes;
mod chosen;
mod device;
mod folders;
mod natural;
mod reader;
mod selection;
mod summary;

use serde::Serialize;
use utoipa::ToSchema;

pub use changes::{FleetChange, FleetChanged};
pub use chosen::{Chosen, MOST_CHOSEN};
pub use device::{DeviceState, FleetDevice, PlacedDevice};
pub(crate) use folders::check_folder;
use selection::Sought;
pub use selection::{DeviceOrder, Selection};
pub use summary::{FleetSummary, Group};

use crate::error::Error;
use crate::ids::UserId;
use crate::store::Store;

/// The most devices of one page.
pub const LONGEST_FLEET_PAGE: usize = 1_000;

/// Which devices are asked for, and which page of them.
#[derive(Clone, Debug, Default)]
pub struct FleetQuery {
    /// Which.
    pub selection: Selection,
    /// In which order.
    pub order: DeviceOrder,
    /// How many are left out before the page.
    pub offset: usize,
    /// The most of the page.
    pub limit: usize,
}

/// The devices of a user.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Fleet {
    /// All of them in a few numbers.
    pub summary: FleetSummary,
    /// The folders right below the one that is asked for, with all devices below each.
    pub folders: Vec<Group>,
    /// How many devices are found.
    pub found: usize,
    /// The page of them.
    pub devices: Vec<FleetDevice>,
}

impl Store {
    /// The devices of `owner` in a few numbers, and those that `query` asks for, as they are at the time `now`.
    pub async fn fleet(&self, owner: UserId, query: FleetQuery, now: i64) -> Result<Fleet, Error> {
        let FleetQuery { selection, order, offset, limit } = query;
        let folder = selection.folder.clone();
        let sought = Sought::new(selection)?;
        let make = move |all: Vec<FleetDevice>| {
            let (summary, folders) = (FleetSummary::of(&all), summary::folders(&all, &folder));
            let mut found: Vec<FleetDevice> = all.into_iter().filter(|device| sought.has(device)).collect();
            found.sort_by(|one, other| order.compare(one, other));
            let number = found.len();
            let devices = found.into_iter().skip(offset).take(limit.min(LONGEST_FLEET_PAGE)).collect();
            Fleet { summary, folders, found: number, devices }
        };
        self.look(owner, now, make).await
    }

    /// The devices of `owner` that have a place, as they are at the time `now`.
    pub async fn places(&self, owner: UserId, now: i64) -> Result<Vec<PlacedDevice>, Error> {
        let make = |all: Vec<FleetDevice>| all.into_iter().filter_map(PlacedDevice::of).collect();
        self.look(owner, now, make).await
    }

    /// What `make` makes of all devices of `owner`, as they are at the time `now`.
    async fn look<T: Send + 'static>(
        &self,
        owner: UserId,
        now: i64,
        make: impl FnOnce(Vec<FleetDevice>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.long_reads
            .clone()
            .read(owner, move |transaction| reader::devices(transaction, owner, now).map(make))
            .await
    }
}
