//! How long it takes to show and change many devices:
//! `cargo run --release -p sixlock-store --example fleet -- [DEVICES [STREAMS_EACH]]`
//!
//! All devices are one user's, each in a folder, with three tags and as many streams, each with a reading. Of each question the median
//! and the worst of 21 times are printed.

use std::time::{Duration, Instant};

use sixlock_store::{
    Append, Chosen, Device, DeviceOrder, DeviceState, FleetChange, FleetQuery, Idempotency, Reading,
    Selection, Store, UserId, now_ms,
};
use tokio::task::JoinSet;

/// How often each is asked.
const TIMES: usize = 21;
/// Devices of one import.
const IMPORT: usize = 1_000;
const PAGE: usize = 100;

fn device(n: usize) -> Device {
    let tags = vec![format!("house {}", n % 50), format!("kind {}", n % 7), "field".into()];
    let folder = format!("site {}/house {}", n % 10, n % 50);
    Device { tags, folder, period_s: Some(900), ..Device::named(format!("sensor{n}")) }
}

async fn fill(
    store: &Store,
    owner: UserId,
    devices: usize,
    streams: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut ids = Vec::new();
    for first in (0..devices).step_by(IMPORT) {
        let some = (first..devices.min(first + IMPORT)).map(device).collect();
        ids.extend(store.import(owner, some, false).await?.into_iter().map(|enrolled| enrolled.resource.id));
    }
    let reading =
        |n: usize| Reading { stream: format!("s{n}"), unit: None, time: now_ms(), value: 21.5.into() };
    // A tenth of them is never heard.
    for some in ids[..devices - devices / 10].chunks(1_000) {
        let mut appended = JoinSet::new();
        for &resource in some {
            let (store, readings) = (store.clone(), (0..streams).map(reading).collect());
            appended.spawn(async move {
                store.append(Append { resource, idempotency: Idempotency::unique()?, readings }).await
            });
        }
        while let Some(stored) = appended.join_next().await {
            stored??;
        }
    }
    Ok(())
}

fn print(what: &str, mut took: Vec<Duration>, found: usize) {
    took.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!(
        "{what}: median {:.0} ms, worst {:.0} ms ({found})",
        ms(took[took.len() / 2]),
        ms(took[took.len() - 1])
    );
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |n, usual| std::env::args().nth(n).map_or(Ok(usual), |text| text.parse::<usize>());
    let (devices, streams) = (argument(1, 10_000)?, argument(2, 3)?);
    let directory = tempfile::tempdir()?;
    let (store, writer) = Store::open(directory.path()).await?;
    // An administrator has no quotas.
    let owner = store.add_user("ann", "", "a long password".into(), true).await?.id;
    fill(&store, owner, devices, streams).await?;
    // So that readings are where they stay.
    tokio::time::sleep(Duration::from_secs(5)).await;
    println!("{devices} devices, {} streams", devices * streams);
    let later = now_ms() + 3_600_000;
    let text = |search: &str| Selection { search: search.into(), ..Selection::default() };
    for (what, order, offset, selection) in [
        ("first page by name", DeviceOrder::Name, 0, Selection::default()),
        ("last page by name", DeviceOrder::Name, devices.saturating_sub(PAGE), Selection::default()),
        ("by silence", DeviceOrder::Silence, 0, Selection::default()),
        ("search of two words", DeviceOrder::Name, 0, text("sensor77 kind")),
        ("one tag", DeviceOrder::Name, 0, Selection { tags: vec!["house 7".into()], ..Selection::default() }),
        ("a folder", DeviceOrder::Name, 0, Selection { folder: "site 3".into(), ..Selection::default() }),
        (
            "silent",
            DeviceOrder::Silence,
            0,
            Selection { state: Some(DeviceState::Silent), ..Selection::default() },
        ),
    ] {
        let (mut took, mut found) = (Vec::new(), 0);
        for _ in 0..TIMES {
            let query = FleetQuery { selection: selection.clone(), order, offset, limit: PAGE };
            let began = Instant::now();
            found = store.fleet(owner, query, later).await?.found;
            took.push(began.elapsed());
        }
        print(what, took, found);
    }
    let all = || Chosen::Matching(Selection::default());
    for (what, change) in [
        ("tag all", FleetChange::Tag(vec!["new".into()])),
        ("untag all", FleetChange::Untag(vec!["new".into()])),
        ("move all", FleetChange::Move("yard".into())),
        ("keep of all", FleetChange::Keep { keep_s: Some(86_400), discard: false }),
    ] {
        let began = Instant::now();
        let changed = store.change_fleet(owner, (all(), None), change, now_ms()).await?;
        print(what, vec![began.elapsed()], changed.changed);
    }
    let few = Chosen::Matching(Selection { tags: vec!["house 7".into()], ..Selection::default() });
    let began = Instant::now();
    let deleted = store.change_fleet(owner, (few, None), FleetChange::Delete, now_ms()).await?;
    print("delete those of one tag", vec![began.elapsed()], deleted.changed);
    store.close().await;
    Ok(writer.ended().await?)
}
