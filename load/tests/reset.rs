//! The machine under the cloud is reset under load, and started again with the disk it has: what was acknowledged is
//! there, once.
//!
//! The cloud runs in a virtual machine with a Debian kernel. A reset takes the machine's memory, and of the disk's
//! cache each sector or not, by chance: what is left is what was flushed, and some of the rest.
//! `SIXLOCK_RESETS` says how often, and `SIXLOCK_SEED` repeats a run that failed.
#![cfg(target_arch = "x86_64")]

mod support;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use sixlock_load::{
    Cloud, Fleet, Habits, LoadPattern, Program, Progress, Random, Target, differences, enrol, posts, variable,
};
use sixlock_vm::{Disk, Hardware, Initramfs, Linux, Machine, Network, Powered, unclaimed_port};
use support::{DEVICES, PATIENCE, await_more, own_address};

/// Where the cloud listens in the machine.
const COAPS: u16 = 5684;
/// How much the disk holds, and the memory, in mebibytes.
const DISK: u32 = 256;
const MEMORY: u32 = 1024;

/// What is the same each time the machine starts.
struct Computer {
    linux: Linux,
    initramfs: PathBuf,
    /// Where the disk is reached.
    socket: PathBuf,
    port: u16,
}

impl Computer {
    /// One that starts `program` as the cloud, on the data that its disk holds.
    fn new(program: &Program, folder: &Path) -> Self {
        let linux = Linux::fetched().unwrap();
        let mut initramfs = Initramfs::new(&linux).unwrap();
        let modules = ["virtio_pci", "virtio_blk", "virtio_net", "crc32c_generic", "ext4"];
        initramfs.modules(&linux, &modules).unwrap();
        initramfs.program(program.path()).unwrap();
        let script = format!(
            "ip addr add 10.0.2.15/24 dev eth0\n\
             ip link set eth0 up\n\
             mount -t ext4 /dev/vda /mnt\n\
             sixlock cloud --listen 127.0.0.1:0 --coaps 0.0.0.0:{COAPS} --data /mnt"
        );
        let file = folder.join("initramfs");
        fs::write(&file, initramfs.finish(&script)).unwrap();
        Self { linux, initramfs: file, socket: folder.join("disk"), port: unclaimed_port().unwrap() }
    }

    /// Where the cloud is reached.
    fn coaps(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Starts it, and waits until the cloud is ready.
    fn start(&self, disk: Disk) -> (Machine, Powered) {
        let disk = disk.power_on(self.socket.clone()).unwrap();
        let network = Network::Forward { here: self.port, there: COAPS };
        let hardware = Hardware { memory: MEMORY, disk: Some(&disk), network, air: None };
        let mut machine = Machine::start(&self.linux, &self.initramfs, &hardware).unwrap();
        machine.await_line("ready ", PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        (machine, disk)
    }
}

#[test]
fn reset_at_random_moments_under_load_the_machine_has_every_acknowledged_post_exactly_once() {
    // ./soak asks for more.
    let resets = variable("SIXLOCK_RESETS").unwrap_or(1);
    let mut random = Random::seeded();

    let (program, place) = (Program::built(), tempfile::tempdir().unwrap());
    let [data, left] = ["data", "left"].map(|name| place.path().join(name));
    let first = Cloud::start(&program, &data, own_address(), &[]).unwrap();
    let credentials = enrol(first.http, &data, DEVICES).unwrap();
    assert!(first.terminate(PATIENCE).unwrap().expect("it ends").success());

    let computer = Computer::new(&program, place.path());
    let started = Instant::now();
    let (mut machine, mut disk) = computer.start(Disk::with_files(&data, DISK).unwrap());
    println!("started in {:?}", started.elapsed());
    let habits = Habits { readings: 3, ..Habits::default() };
    let mut fleet = Fleet::new(Target::cloud(computer.coaps()), &credentials, habits).unwrap();
    assert!(fleet.connect(PATIENCE).unwrap(), "not every device could connect");

    let progress = Progress::default();
    let reset = |random: &mut Random, machine: Machine, disk: Powered| {
        machine.cut_power().unwrap();
        disk.cut_power(|| random.below(2) == 0).unwrap()
    };
    let started = Instant::now();
    let (all_answered, machine, disk) = thread::scope(|scope| {
        let _end = progress.finish_when_dropped();
        let fleet = scope.spawn(|| fleet.run(LoadPattern::Answered, &progress, None, PATIENCE).unwrap());
        for n in 1..=resets {
            // Somewhere in the middle of things: posts are acknowledged again, and then a moment later.
            let rate = await_more(&progress, 1_000 + random.below(2_000));
            thread::sleep(Duration::from_micros(random.below(100_000)));
            let moment = Instant::now();
            let (off, lost) = reset(&mut random, machine, disk);
            (machine, disk) = computer.start(off);
            let took = moment.elapsed();
            println!("reset {n} at {rate:.0} posts/s: {lost} sectors lost; ready again after {took:?}");
        }
        await_more(&progress, 1_000);
        progress.finish();
        (fleet.join().unwrap(), machine, disk)
    });
    let took = started.elapsed();
    assert!(all_answered, "a post was never answered");
    assert_eq!(fleet.refusals, [], "a post was refused");
    // Nothing has told the cloud to bring what it holds to an end.
    let (off, _) = reset(&mut random, machine, disk);
    fs::create_dir(&left).unwrap();
    off.read_files(&left).unwrap();

    println!("{}", fleet.summary(took));
    // Each post was answered in the end, so each is there, with each of its readings once.
    assert_eq!(differences(fleet.acknowledged(), &posts(&left).unwrap(), 3), None);
    // Each device had a post under way at the last reset; not all may have been back from the one before.
    assert!(fleet.sessions() as usize >= 2 * DEVICES, "not every device has made its session anew");
}
