//! Runs a core of Wycheproof's cases in images of `firmware/primitives`: `wycheproof PLATFORM=IMAGE...`

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::Path;
use std::process::ExitCode;

use sixlock_emulator::{Cpu, Emulator, Image};
use wycheproof::{TestResult, aead, ecdh, ecdsa, mac};

/// What the image and this program tell each other: `firmware/primitives/src/bin/sixlock-wycheproof.rs`.
const IS_ACCEPTED: u32 = 1;
const PARTS: u32 = 12;
const PARTS_LEN: usize = 768;

type Failure = Box<dyn std::error::Error>;

/// The image's numbers of the primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Primitive {
    Ccm,
    HmacSha256,
    HmacSha1,
    Cmac,
    Ecdh,
    Ecdsa,
}

struct Case {
    primitive: Primitive,
    /// Wycheproof's number of it.
    id: usize,
    /// Why it is there, in Wycheproof's words.
    flag: String,
    parts: [Vec<u8>; 5],
    is_valid: bool,
    /// What is to be decrypted or agreed on.
    result: Vec<u8>,
}

/// Of P-256, all but the fastest processor are given these only: a case takes hundreds of millions of cycles, if it is
/// not refused at once.
const SLOW: [&str; 4] = ["EdgeCaseDoubling", "InvalidCurveAttack", "PointDuplication", "RangeCheck"];

impl Case {
    fn is_for(&self, cpu: Cpu) -> bool {
        let is_slow = matches!(self.primitive, Primitive::Ecdh | Primitive::Ecdsa);
        cpu == Cpu::CortexM3 || !is_slow || SLOW.contains(&self.flag.as_str())
    }

    /// Whether the image judged as Wycheproof does.
    fn run(&self, emulator: &mut Emulator, block: u32) -> Result<bool, Failure> {
        let mut bytes = vec![self.primitive as u8, 0];
        for part in &self.parts {
            bytes.extend(u16::try_from(part.len())?.to_le_bytes());
        }
        bytes.extend(self.parts.concat());
        emulator.write(block, &bytes)?;
        emulator.resume()?;
        let mut is_accepted = [0];
        emulator.read(block + IS_ACCEPTED, &mut is_accepted)?;
        let before: usize = self.parts[..3].iter().map(Vec::len).sum();
        let mut result = vec![0; self.result.len()];
        emulator.read(block + PARTS + u32::try_from(before)?, &mut result)?;
        Ok(is_accepted == [u8::from(self.is_valid)] && (!self.is_valid || result == self.result))
    }
}

/// The first case of each flag and verdict, of those that fit.
struct Core {
    cases: Vec<Case>,
    seen: BTreeSet<String>,
}

impl Core {
    fn add<F: Debug>(
        &mut self,
        primitive: Primitive,
        (id, result, flags): (usize, TestResult, &[F]),
        parts: [&[u8]; 5],
        produced: &[u8],
    ) {
        let fits = parts.iter().map(|part| part.len()).sum::<usize>() <= PARTS_LEN;
        let Some(flag) = flags.first().map(|flag| format!("{flag:?}")) else { return };
        // What is acceptable may be refused, and is.
        let is_valid = result == TestResult::Valid;
        let lengths = (parts[1].len(), parts[4].len());
        if fits && self.seen.insert(format!("{primitive:?} {flag} {is_valid} {lengths:?}")) {
            let (parts, result) = (parts.map(<[u8]>::to_vec), produced.to_vec());
            self.cases.push(Case { primitive, id, flag, parts, is_valid, result });
        }
    }
}

/// Those of the primitives of the devices' backend whose keys, nonces and tags have lengths that it takes.
fn core() -> Result<Vec<Case>, Failure> {
    let mut core = Core { cases: Vec::new(), seen: BTreeSet::new() };
    for test in
        aead::TestSet::load(aead::TestName::AesCcm)?.test_groups.into_iter().flat_map(|group| group.tests)
    {
        if test.key.len() == 16 && matches!(test.nonce.len(), 12 | 13) && matches!(test.tag.len(), 4 | 8 | 16)
        {
            let about = (test.tc_id, test.result, &test.flags[..]);
            core.add(
                Primitive::Ccm,
                about,
                [&test.key, &test.nonce, &test.aad, &test.ct, &test.tag],
                &test.pt,
            );
        }
    }
    for (primitive, name) in [
        (Primitive::HmacSha256, mac::TestName::HmacSha256),
        (Primitive::HmacSha1, mac::TestName::HmacSha1),
        (Primitive::Cmac, mac::TestName::AesCmac),
    ] {
        for test in mac::TestSet::load(name)?.test_groups.into_iter().flat_map(|group| group.tests) {
            if primitive != Primitive::Cmac || test.key.len() == 16 {
                let about = (test.tc_id, test.result, &test.flags[..]);
                core.add(primitive, about, [&test.key, &[], &[], &test.msg, &test.tag], &[]);
            }
        }
    }
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint)?;
    for test in set.test_groups.into_iter().flat_map(|group| group.tests) {
        // The private keys are integers: zeros before them may be missing or too many.
        let mut key = [0; 32];
        for (to, from) in key.iter_mut().rev().zip(test.private_key.iter().rev()) {
            *to = *from;
        }
        let about = (test.tc_id, test.result, &test.flags[..]);
        core.add(Primitive::Ecdh, about, [&key, &[], &[], &test.public_key, &[]], &test.shared_secret);
    }
    for group in ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363)?.test_groups {
        for test in group.tests {
            let about = (test.tc_id, test.result, &test.flags[..]);
            core.add(Primitive::Ecdsa, about, [&group.key.key, &[], &[], &test.msg, &test.sig], &[]);
        }
    }
    Ok(core.cases)
}

fn run() -> Result<bool, Failure> {
    let cases = core()?;
    let mut are_right = true;
    for argument in std::env::args().skip(1) {
        let (platform, path) = argument.split_once('=').ok_or("usage: wycheproof PLATFORM=IMAGE...")?;
        let image = Image::read(Path::new(path))?;
        let block = image.symbol("JUDGED")?.address;
        let mut emulator = Emulator::start(&image, "exchange")?;
        emulator.resume()?;
        let (mut valid, mut invalid) = (0, 0);
        for case in cases.iter().filter(|case| case.is_for(image.cpu())) {
            if !case.run(&mut emulator, block)? {
                are_right = false;
                println!(
                    "{platform}: {:?}, case {} of Wycheproof ({}), is misjudged",
                    case.primitive, case.id, case.flag
                );
            }
            *if case.is_valid { &mut valid } else { &mut invalid } += 1;
        }
        println!("{platform}: {valid} valid and {invalid} invalid cases of Wycheproof");
    }
    Ok(are_right)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
