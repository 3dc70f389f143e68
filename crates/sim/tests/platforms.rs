//! What documentation says of the platforms is what the simulator reckons with.

use sixlock_sim::{Job, Platform, Profile};

const PAGE: &str = include_str!("../../../docs/platforms.md");

/// A row of a table: its head, and a cell for each of these platforms.
fn row(head: &str, platforms: &[Platform], cell: impl Fn(&Platform) -> String) -> String {
    let cells: Vec<_> = platforms.iter().map(cell).collect();
    format!("| {head} | {} |", cells.join(" | "))
}

/// That with which a table of these platforms begins.
fn head(platforms: &[Platform]) -> String {
    let names: Vec<_> = platforms.iter().map(|platform| format!("`{}`", platform.name())).collect();
    format!("| | {} |", names.join(" | "))
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
    let platforms: Vec<_> = Platform::all().filter(|platform| platform.accelerator().is_some()).collect();
    let cells = |head: &str, time: &dyn Fn(&Platform) -> Option<u64>| {
        row(head, &platforms, |platform| time(platform).map_or("–".into(), |time| decimal(time, 1_000)))
    };
    assert!(PAGE.contains(&head(&platforms)));
    for (head, job, has_bus) in [
        ("AES-128, a block, µs", Job::AesBlock, true),
        ("CCM of a frame, 50 bytes and 69 encrypted, µs", Job::Frame { header: 50, payload: 69 }, true),
        ("CCM of a record, 13 bytes and 64 encrypted, µs", Job::Message { header: 13, payload: 64 }, true),
        ("SHA-256, a block of 64 bytes, µs", Job::Sha256Block, false),
        ("P-256, a point by a scalar, µs", Job::P256Multiplication, false),
    ] {
        let mut rows = vec![cells(head, &|platform| job.on(platform).map(|effort| effort.engine))];
        if has_bus {
            let all = |platform: &Platform| job.on(platform).map(|effort| effort.lasts(platform.profile()));
            rows.push(cells("– and the bus, µs", &all));
        }
        let rows = rows.join("\n");
        assert!(PAGE.contains(&rows), "docs/platforms.md lacks these rows:\n{rows}");
    }
}

#[test]
fn the_page_of_the_platforms_has_their_figures() {
    let platforms: Vec<_> = Platform::all().collect();
    let figures =
        |head: &str, cell: &dyn Fn(&Profile) -> String| row(head, &platforms, |board| cell(board.profile()));
    let ratio = |(cycles, units)| if units == 1 { format!("{cycles}") } else { format!("{cycles}/{units}") };
    let bus = |profile: &Profile| match profile.bus_byte {
        0 => "–".into(),
        nanoseconds => decimal(nanoseconds, 1_000),
    };
    for row in [
        head(&platforms),
        row("CPU", &platforms, |board| board.microcontroller().into()),
        row("counted work of", &platforms, |board| format!("`{}`", board.chip().name())),
        figures("– cycles for a unit of it", &|profile| ratio(profile.cycles_per_cost)),
        figures("clock, MHz", &|profile| decimal(profile.kilohertz, 1_000)),
        figures("supply, V", &|profile| decimal(profile.millivolts.into(), 1_000)),
        figures("CPU at work, mA", &|profile| milliamperes(profile.cpu)),
        figures("CPU with nothing to do, mA", &|profile| milliamperes(profile.lpm)),
        figures("radio sends, mA", &|profile| milliamperes(profile.tx)),
        figures("a frame comes in, mA", &|profile| milliamperes(profile.rx)),
        figures("radio waits for one, mA", &|profile| milliamperes(profile.listen)),
        figures("bus to the radio, µs a byte", &bus),
        figures("the radio keeps, bytes", &|profile| profile.receive_fifo.to_string()),
    ] {
        assert!(PAGE.contains(&row), "docs/platforms.md lacks this row:\n{row}");
    }
}

/// The page's example of a file is one.
#[test]
fn the_page_of_the_platforms_has_a_file_of_a_board_that_is_read() {
    let (_, example) = PAGE.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let path = std::env::temp_dir().join(format!("sixlock-board-{}.toml", std::process::id()));
    std::fs::write(&path, example).unwrap();
    let board = Platform::load(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(board.unwrap().name(), "my-board");
}
