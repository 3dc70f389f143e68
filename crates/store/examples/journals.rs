//! How many readings a second each journal takes, and what the queue in front of it costs:
//! `cargo run --release -p sixlock-store --example journals -- [POSTS [sqlite|memory|computed]]`
//!
//! As many posts wait as a cloud with many devices has under way, of three readings each. `computed` is SQLite with a stream that is
//! computed from one of them, over a window of 60 points.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sixlock_store::journal::{Memory, Queue};
use sixlock_store::{
    Append, Computation, Device, Idempotency, InputReference, Reading, ResourceId, Store, now_ms,
};
use sixlock_telemetry::Events;
use tokio::sync::Semaphore;

/// Posts that wait at the same time.
const UNDER_WAY: usize = 2_048;
const STREAMS: [&str; 3] = ["temperature", "humidity", "light"];

fn post(resource: ResourceId) -> Append {
    let reading =
        |stream: &str| Reading { stream: stream.into(), unit: None, time: now_ms(), value: 21.5.into() };
    let idempotency = Idempotency::unique().expect("entropy");
    Append { resource, idempotency, readings: STREAMS.into_iter().map(reading).collect() }
}

/// Appends `posts` and returns how long that took.
async fn measure<F: Future<Output = ()> + Send + 'static>(posts: usize, append: impl Fn() -> F) -> Duration {
    let room = Arc::new(Semaphore::new(UNDER_WAY));
    let began = Instant::now();
    for _ in 0..posts {
        let place = room.clone().acquire_owned().await.expect("it stays open");
        let append = append();
        tokio::spawn(async move {
            append.await;
            drop(place);
        });
    }
    let _all = room.acquire_many(UNDER_WAY as u32).await.expect("it stays open");
    began.elapsed()
}

fn print(journal: &str, posts: usize, took: Duration) {
    let readings = (posts * STREAMS.len()) as f64;
    println!("{journal}: {:.0} readings a second", readings / took.as_secs_f64());
}

async fn sqlite(posts: usize, computes: bool) -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let (store, writer) = Store::open(directory.path()).await?;
    let user = store.add_user("ann", "", "a long password".into(), false).await?;
    let resource = store.enrol(user.id, Device::named("node")).await?.resource.id;
    if computes {
        store.append(post(resource)).await?;
        let input = InputReference { resource: None, stream: STREAMS[0].into() };
        let (expression, time_zone) = ("mean(t, '60 points')".into(), "UTC".into());
        let computation = Computation { expression, time_zone, inputs: [("t".into(), input)].into() };
        store.add_computed_stream((user.id, resource), ("mean", None, ""), &computation).await?;
    }
    let took = measure(posts, || {
        let store = store.clone();
        async move { drop(store.append(post(resource)).await.expect("it is stored")) }
    });
    print(if computes { "sqlite, computed" } else { "sqlite" }, posts, took.await);
    store.close().await;
    Ok(writer.ended().await?)
}

async fn memory(posts: usize) -> Result<(), Box<dyn std::error::Error>> {
    let resource = ResourceId(1);
    let journal = Memory::new(usize::MAX);
    let (queue, writer, _changes) = Queue::start(journal, now_ms, Events::unheard())?;
    let took = measure(posts, || {
        let queue = queue.clone();
        async move { drop(queue.append(post(resource)).await.expect("it is stored")) }
    });
    print("memory", posts, took.await);
    queue.close().await;
    Ok(writer.ended().await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let posts = std::env::args().nth(1).map_or(Ok(100_000), |posts| posts.parse())?;
    match std::env::args().nth(2).as_deref() {
        Some("sqlite") => sqlite(posts, false).await,
        Some("computed") => sqlite(posts, true).await,
        Some("memory") => memory(posts).await,
        _ => sqlite(posts, false).await.and(memory(posts).await),
    }
}
