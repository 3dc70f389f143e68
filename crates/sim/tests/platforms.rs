//! What documentation says of the platforms is what the simulator reckons with.

use sixlock_sim::{Job, Platform, Profile};

const PAGE: &str = include_str!("../../../docs/platforms.md");

/// A row of a table: its head, and a cell for each platform.
fn row(head: &str, cell: impl Fn(Profile) -> String) -> String {
    let cells = Platform::ALL.map(|(_, platform)| cell(Profile::of(platform)));
    format!("| {head} | {} |", cells.join(" | "))
}

/// `value` parts of `of`, with as many decimals as it takes.
fn decimal(value: u64, of: u64) -> String {
    format!("{}", value as f64 / of as f64)
}

fn milliamperes(nanoamperes: u32) -> String {
    decimal(nanoamperes.into(), 1_000_000)
}

#[test]
fn the_page_of_the_platforms_has_the_times_of_their_engines() {
    let cells = |head: &str, cell: &dyn Fn(Platform) -> Option<u64>| {
        let cells = Platform::ALL
            .map(|(_, platform)| cell(platform).map_or("–".into(), |time| decimal(time, 1_000)));
        format!("| {head} | {} |", cells.join(" | "))
    };
    for (head, job, has_bus) in [
        ("AES-128, a block, µs", Job::AesBlock, true),
        ("CCM of a frame, 50 bytes and 69 encrypted, µs", Job::Frame { header: 50, payload: 69 }, true),
        ("CCM of a record, 13 bytes and 64 encrypted, µs", Job::Message { header: 13, payload: 64 }, true),
        ("SHA-256, a block of 64 bytes, µs", Job::Sha256Block, false),
        ("P-256, a point by a scalar, µs", Job::P256Multiplication, false),
    ] {
        let mut rows = vec![cells(head, &|platform| job.on(platform).map(|effort| effort.engine))];
        if has_bus {
            let all = |platform| job.on(platform).map(|effort| effort.lasts(&Profile::of(platform)));
            rows.push(cells("– and the bus, µs", &all));
        }
        let rows = rows.join("\n");
        assert!(PAGE.contains(&rows), "docs/platforms.md lacks these rows:\n{rows}");
    }
}

#[test]
fn the_page_of_the_platforms_has_their_figures() {
    let bus = |profile: Profile| match profile.bus_byte {
        0 => "–".into(),
        nanoseconds => decimal(nanoseconds, 1_000),
    };
    for row in [
        row("clock, MHz", |profile| decimal(profile.kilohertz, 1_000)),
        row("CPU at work, mA", |profile| milliamperes(profile.cpu)),
        row("CPU with nothing to do, mA", |profile| milliamperes(profile.lpm)),
        row("radio sends, mA", |profile| milliamperes(profile.tx)),
        row("a frame comes in, mA", |profile| milliamperes(profile.rx)),
        row("radio waits for one, mA", |profile| milliamperes(profile.listen)),
        row("bus to the radio, µs a byte", bus),
        row("the radio keeps, bytes", |profile| profile.receive_fifo.to_string()),
    ] {
        assert!(PAGE.contains(&row), "docs/platforms.md lacks this row:\n{row}");
    }
    let names = Platform::ALL.map(|(name, _)| format!("`{name}`"));
    assert!(PAGE.contains(&format!("| | {} |", names.join(" | "))));
    assert!(Platform::ALL.iter().all(|&(_, platform)| Profile::of(platform).millivolts == 3_000));
}
