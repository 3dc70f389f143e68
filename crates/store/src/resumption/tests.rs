use super::*;
use crate::master_key::MasterKey;

const LIMITS: Limits = Limits { records: 100, milliseconds: 86_400_000 };

/// Opens what is kept: the records that there are, and the way to add some.
fn open(directory: &Path, limits: Limits) -> (Vec<(i64, Vec<u8>)>, ResumptionWriter<Secret>) {
    let mut told = Vec::new();
    let keeper = ResumptionFiles::open(directory, Owner::Server, limits)
        .unwrap()
        .resume(Events::unheard(), std::convert::identity, |record| {
            told.push(match record {
                Record::Resumable { until, state } => (until, state.to_vec()),
                Record::Forgotten { id } => (0, id.to_vec()),
            });
        })
        .unwrap();
    (told, keeper)
}

/// How many bytes are kept of one.
fn length(n: u64) -> usize {
    [90, 255, 256, LONGEST_STATE][n as usize % 4]
}

fn add(keeper: ResumptionWriter<Secret>, numbers: std::ops::Range<u64>) {
    for n in numbers {
        let kept = vec![n as u8; length(n)];
        let record = match n % 10 {
            0 => Record::Forgotten { id: u128::from(n).to_be_bytes() },
            _ => Record::Resumable { until: n as i64, state: &kept },
        };
        keeper.records.blocking_send(record.to_bytes()).unwrap();
    }
    drop(keeper.records);
    keeper.thread.join().unwrap();
}

fn numbers(told: &[(i64, Vec<u8>)]) -> Vec<u64> {
    let number = |(until, bytes): &(i64, Vec<u8>)| match until {
        0 => u128::from_be_bytes(bytes[..].try_into().unwrap()) as u64,
        _ => {
            let n = *until as u64;
            assert_eq!(bytes, &vec![n as u8; length(n)]);
            n
        }
    };
    told.iter().map(number).collect()
}

#[test]
fn what_was_written_is_told_in_its_order_after_each_restart() {
    let directory = MasterKey::in_new_directory();
    let (told, keeper) = open(directory.path(), LIMITS);
    assert!(told.is_empty());
    let secret = keeper.secret.clone();
    add(keeper, 1..30);
    let (told, keeper) = open(directory.path(), LIMITS);
    assert_eq!(numbers(&told), (1..30).collect::<Vec<_>>());
    assert!(keeper.secret == secret);
    add(keeper, 30..60);
    let (told, keeper) = open(directory.path(), LIMITS);
    assert_eq!(numbers(&told), (1..60).collect::<Vec<_>>());
    assert!(keeper.secret == secret);
}

#[test]
fn however_much_is_written_two_files_are_kept_with_the_newest() {
    let directory = MasterKey::in_new_directory();
    let mut newest = 0;
    for _ in 0..8 {
        let (told, keeper) = open(directory.path(), LIMITS);
        let told = numbers(&told);
        // A batch is not cut, so a file may have some more.
        assert!(told.len() as u64 >= newest.min(LIMITS.records) && told.len() < 1000, "{}", told.len());
        assert!(told.last().is_none_or(|last| *last == newest));
        assert!(told.is_sorted());
        add(keeper, newest + 1..newest + 71);
        newest += 70;
    }
}

#[test]
fn a_file_gives_way_when_nothing_in_it_can_be_resumed_any_more() {
    let directory = MasterKey::in_new_directory();
    let limits = Limits { milliseconds: 0, ..LIMITS };
    for n in 1..5 {
        let (told, keeper) = open(directory.path(), limits);
        assert_eq!(numbers(&told), (n.max(3) - 2..n).collect::<Vec<_>>());
        add(keeper, n..n + 1);
    }
}

#[test]
fn of_a_damaged_file_what_stands_before_the_damage_is_told_and_it_goes_on_from_there() {
    let directory = MasterKey::in_new_directory();
    let path = directory.path().join(Owner::Server.file());
    add(open(directory.path(), LIMITS).1, 1..5);
    let good = std::fs::metadata(&path).unwrap().len() as usize;
    add(open(directory.path(), LIMITS).1, 5..9);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[good + 40] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (told, keeper) = open(directory.path(), LIMITS);
    assert_eq!(numbers(&told), [1, 2, 3, 4]);
    add(keeper, 11..13);
    assert_eq!(numbers(&open(directory.path(), LIMITS).0), [1, 2, 3, 4, 11, 12]);
}

#[test]
fn in_place_of_a_file_that_is_none_another_is_begun() {
    let directory = MasterKey::in_new_directory();
    std::fs::write(directory.path().join(Owner::Server.file()), "nothing of ours").unwrap();
    let (told, keeper) = open(directory.path(), LIMITS);
    assert!(told.is_empty());
    add(keeper, 1..3);
    assert_eq!(numbers(&open(directory.path(), LIMITS).0), [1, 2]);
}

#[test]
fn what_has_no_time_left_is_not_resumed() {
    assert_eq!(Record::remaining(5_000, 5_000), None);
    assert_eq!(Record::remaining(4_000, 5_000), None);
    assert_eq!(Record::remaining(6_000, 5_000), Some(Duration::from_secs(1)));
    assert_eq!(Record::remaining(i64::MIN, 5_000), None);
}
