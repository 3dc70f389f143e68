//! What rules and computed streams cost: posts to a cloud that has them, beside the same to one that has none, in turn.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;

use crate::cloud::{LABEL, ask_as_admin, credential, enrol_for};
use crate::device::AT_ONE_ADDRESS;
use crate::process::cpu_seconds;
use crate::{Cloud, Credential, Fleet, Habits, Latencies, LoadPattern, Program, Progress, Target, Tell};

/// Readings a post, and streams a device: the pack of a node.
const READINGS: u32 = 3;
/// Posts, or handshakes, that are under way at the same time.
const AT_ONCE: usize = 128;
/// More posts than a device makes in one round.
const POSTS: u32 = 100_000;
/// How long the devices post before it counts, each time.
const WARM_UP: Duration = Duration::from_secs(1);
/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of the posts in a second of the server's processor time without rules and computed streams, the least with them.
const LEAST_SHARE: f64 = 0.8;
/// The 99th percentile at [`Scale::rate`], in those without.
const MOST_TIMES: f64 = 1.5;

/// How many there are of everything.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Devices, with three streams each.
    pub devices: usize,
    /// Users, who have as many devices each: a user has at most 100 rules.
    pub users: usize,
    /// Of so many devices, one has a rule and another a computed stream.
    pub every: usize,
    /// How often each cloud is measured, in turn.
    pub rounds: usize,
    /// How many posts a second make the 99th percentile.
    pub rate: f64,
    /// How long the devices post each time: as often as they may, and then so many times a second.
    pub span: Duration,
}

impl Scale {
    /// 10,000 devices with 30,000 streams, 1,000 rules and 1,000 computed streams.
    pub const fn whole(span: Duration) -> Self {
        Self { devices: 10_000, users: 10, every: 10, rounds: 2, rate: 2_000.0, span }
    }

    /// How many rules there are, and how many computed streams.
    const fn each(&self) -> usize {
        self.devices / self.every
    }
}

/// What was measured.
#[derive(Debug)]
pub struct WithRules {
    scale: Scale,
    without: Half,
    with: Half,
}

/// What was measured of one of the two clouds.
#[derive(Debug, Default)]
struct Half {
    posts: u64,
    seconds: f64,
    cpu_seconds: f64,
    /// Of the posts that came as often as [`Scale::rate`] says.
    latencies: Latencies,
}

impl Half {
    fn posts_per_cpu_second(&self) -> f64 {
        self.posts as f64 / self.cpu_seconds
    }

    fn posts_per_second(&self) -> f64 {
        self.posts as f64 / self.seconds
    }

    fn millis(&self, share: f64) -> f64 {
        self.latencies.quantile(share).unwrap_or_default().as_secs_f64() * 1_000.0
    }

    fn json(&self) -> Value {
        json!({
            "posts_per_second": self.posts_per_second(),
            "posts_per_cpu_second": self.posts_per_cpu_second(),
            "p50_ms": self.millis(0.50),
            "p99_ms": self.millis(0.99),
        })
    }
}

impl Display for Half {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (posts, cpu) = (self.posts_per_second(), self.posts_per_cpu_second());
        write!(f, "{posts:>10.0} {cpu:>14.0} {:>8.1} {:>8.1}", self.millis(0.50), self.millis(0.99))
    }
}

impl WithRules {
    /// With them in those without: posts a second, posts in a second of processor time, and the 99th percentile.
    fn ratios(&self) -> [f64; 3] {
        let Self { without, with, .. } = self;
        [
            with.posts_per_second() / without.posts_per_second(),
            with.posts_per_cpu_second() / without.posts_per_cpu_second(),
            with.millis(0.99) / without.millis(0.99),
        ]
    }

    /// Whether rules and computed streams take no more than they may.
    pub fn holds(&self) -> bool {
        let [_, share, times] = self.ratios();
        share >= LEAST_SHARE && times <= MOST_TIMES
    }

    /// The measurement as JSON.
    pub fn json(&self) -> Value {
        let ([posts, share, times], scale) = (self.ratios(), &self.scale);
        json!({
            "devices": scale.devices,
            "rules": scale.each(),
            "computed_streams": scale.each(),
            "without": self.without.json(),
            "with": self.with.json(),
            "posts_ratio": posts,
            "posts_per_cpu_second_ratio": share,
            "p99_ratio": times,
            "holds": self.holds(),
        })
    }
}

impl Display for WithRules {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (Scale { devices, rate, .. }, each) = (self.scale, self.scale.each());
        let [posts, share, times] = self.ratios();
        let judged = |holds| if holds { "yes" } else { "NO" };
        writeln!(f, "{devices} devices, {READINGS} streams each; {each} rules, {each} computed streams")?;
        writeln!(f, "p50 and p99 at {rate:.0} posts/s  posts/s    posts/CPU-s   p50 ms   p99 ms")?;
        writeln!(f, "without them              {}", self.without)?;
        writeln!(f, "with them                 {}", self.with)?;
        writeln!(f, "of the posts a second, {posts:.2} are left")?;
        writeln!(
            f,
            "of the posts/CPU-s, {share:.2} are left, at least {LEAST_SHARE}: {}",
            judged(share >= LEAST_SHARE)
        )?;
        write!(f, "p99 is {times:.2} times as long, at most {MOST_TIMES}: {}", judged(times <= MOST_TIMES))
    }
}

/// A cloud, and the devices that are enrolled with it.
struct Enrolled {
    data: TempDir,
    cloud: Cloud,
    credentials: Vec<Credential>,
    half: Half,
    /// How many fleets there were: each has other ports.
    fleets: usize,
}

/// Measures two clouds that keep their data in new folders under `disk`, one with rules and computed streams, in turn.
///
/// # Errors
/// What does not start or answer, and points that were not computed with the posts that they come from.
pub fn with_rules(program: &Program, disk: &Path, scale: Scale, tell: &mut Tell) -> io::Result<WithRules> {
    let [mut without, mut with] =
        [Enrolled::start(program, disk, scale)?, Enrolled::start(program, disk, scale)?];
    // The streams are to be there before anything rests on them.
    for enrolled in [&mut without, &mut with] {
        enrolled.fleet(tell)?;
    }
    with.define(scale, tell)?;
    for round in 0..scale.rounds {
        let mut both = [&mut without, &mut with];
        // Whoever comes second has the larger caches, and the machine may be busier: each does once.
        if round % 2 == 1 {
            both.reverse();
        }
        for enrolled in both {
            enrolled.measure(scale, tell)?;
        }
    }
    tell.done();
    with.check_computed(scale)?;
    Ok(WithRules { scale, without: without.half, with: with.half })
}

/// Whose a device is.
fn owner(device: usize, scale: Scale) -> String {
    format!("owner-{}", device * scale.users / scale.devices)
}

impl Enrolled {
    fn start(program: &Program, disk: &Path, scale: Scale) -> io::Result<Self> {
        let data = tempfile::tempdir_in(disk)?;
        let sessions = (scale.devices * (scale.rounds + 1)).to_string();
        let options = ["--max-sessions", &sessions];
        let cloud = Cloud::start(program, data.path(), (Ipv4Addr::LOCALHOST, 0).into(), &options)?;
        let credentials: Vec<_> = (0..scale.devices).map(credential).collect();
        for (n, some) in credentials.chunks(scale.devices / scale.users).enumerate() {
            let name = owner(n * (scale.devices / scale.users), scale);
            enrol_for(cloud.http, data.path(), &name, some)?;
        }
        Ok(Self { data, cloud, credentials, half: Half::default(), fleets: 0 })
    }

    /// Connects all devices, and has each post once.
    fn fleet(&mut self, tell: &mut Tell) -> io::Result<Fleet> {
        // A post that has the number of an earlier one would be taken for that, sent again.
        let first_post = self.fleets as u32 * POSTS;
        let habits = Habits { readings: READINGS, first_post, ..Habits::default() };
        let first = self.fleets * self.credentials.len().next_multiple_of(AT_ONE_ADDRESS);
        self.fleets += 1;
        let mut fleet = Fleet::numbered(first, Target::cloud(self.cloud.coaps), &self.credentials, habits)
            .map_err(|error| {
                io::Error::other(format!("{error}: each device needs a socket; raise ulimit -n"))
            })?;
        let all = self.credentials.len();
        let connected =
            fleet.connect_in_turn(AT_ONCE, PATIENCE, |done| tell.progress("sessions", done, all))?;
        if !connected
            || !fleet.post_in_turn(AT_ONCE, PATIENCE, |done| tell.progress("first posts", done, all))?
        {
            return Err(io::Error::other("not every device is answered"));
        }
        no_refusal(&fleet)?;
        Ok(fleet)
    }

    /// Spreads rules and computed streams evenly over the devices.
    fn define(&self, scale: Scale, tell: &mut Tell) -> io::Result<()> {
        let post = |path: String, body: Value| {
            ask_as_admin(self.cloud.http, self.data.path(), &format!("POST {path}"), &body.to_string())
                .map(drop)
        };
        // It opens an alert of each device that has posted often enough.
        let condition = json!({"kind": "threshold", "operator": ">", "operand": 10, "hysteresis": 1});
        let inputs = json!({"t": {"stream": "temperature"}, "h": {"stream": "humidity"}});
        let computed =
            json!({"label": "computed", "expression": "mean(t, \"10m\") - h / 2", "inputs": inputs});
        for n in 0..scale.each() {
            tell.progress("rules", n, scale.each());
            let (computing, watched) = (n * scale.every, n * scale.every + scale.every / 2);
            let resources = format!("/api/v1/users/{}/resources", owner(computing, scale));
            post(format!("{resources}/{LABEL}{computing}/computed-streams"), computed.clone())?;
            let rule = json!({"label": format!("rule {watched}"), "resource": format!("{LABEL}{watched}"),
                "stream": "temperature", "condition": condition});
            post(format!("/api/v1/users/{}/rules", owner(watched, scale)), rule)?;
        }
        Ok(())
    }

    /// Has the devices post as often as they may, and then as often as is said.
    fn measure(&mut self, scale: Scale, tell: &mut Tell) -> io::Result<()> {
        let mut fleet = self.fleet(tell)?;
        let mut post = |pattern, span| {
            let progress = Progress::default();
            fleet.latencies = Latencies::default();
            if !fleet.run(pattern, &progress, Some(Instant::now() + span), PATIENCE)? {
                return Err(io::Error::other("a post was never answered"));
            }
            no_refusal(&fleet)?;
            Ok((progress.acknowledged(), std::mem::take(&mut fleet.latencies)))
        };
        post(LoadPattern::AtOnce(AT_ONCE), WARM_UP)?;
        let (before, began) = (cpu_seconds(self.cloud.id())?, Instant::now());
        let (posts, _) = post(LoadPattern::AtOnce(AT_ONCE), scale.span)?;
        self.half.seconds += began.elapsed().as_secs_f64();
        self.half.cpu_seconds += cpu_seconds(self.cloud.id())? - before;
        self.half.posts += posts;
        post(LoadPattern::Rate(scale.rate), WARM_UP)?;
        let (_, latencies) = post(LoadPattern::Rate(scale.rate), scale.span)?;
        self.half.latencies.append(latencies);
        Ok(())
    }

    /// Each time of a device's readings has a computed point: what is put off is no less work.
    fn check_computed(&self, scale: Scale) -> io::Result<()> {
        let sql = "SELECT (SELECT count(*) FROM points JOIN streams ON streams.id = stream WHERE label = 'computed'),
                   (SELECT count(*) FROM (SELECT DISTINCT points.stream, time FROM points
                        JOIN streams ON streams.id = points.stream
                        JOIN streams computed ON computed.resource = streams.resource AND computed.label = 'computed'
                    WHERE streams.label = 'temperature'))";
        let path = self.data.path().join("sixlock.db");
        let counted = tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
            let mut connection = SqliteConnectOptions::new().filename(path).connect().await?;
            let counted: (i64, i64) = sqlx::query_as(sql).fetch_one(&mut connection).await?;
            connection.close().await?;
            Ok::<_, sqlx::Error>(counted)
        });
        match counted.map_err(io::Error::other)? {
            (computed, posted) if computed == posted && posted >= scale.each() as i64 => Ok(()),
            (computed, posted) => {
                Err(io::Error::other(format!("of {posted} points, {computed} are computed when it is over")))
            }
        }
    }
}

fn no_refusal(fleet: &Fleet) -> io::Result<()> {
    match fleet.refusals.first() {
        None => Ok(()),
        Some(refusal) => Err(io::Error::other(format!("a post was refused: {refusal:?}"))),
    }
}
