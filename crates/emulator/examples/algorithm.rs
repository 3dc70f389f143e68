//! Lets an image of `firmware/granjal2008` work on published vectors and on data of the paper's lengths, alone or as a node that answers another by what its
//! algorithm makes of datagrams, and prints how many bytes of stack that took: `algorithm IMAGE`

mod alone;
#[path = "../tests/bridging/mod.rs"]
mod bridging;

use std::path::Path;
use std::process::ExitCode;

use sixlock_testing::Random;

use alone::{DATAGRAM_LEN, Device, Failure};
use bridging::Bridged;

/// The paper's lengths, of 128 to 2048 bits.
const LENGTHS: [usize; 5] = [16, 32, 64, 128, 256];
/// The longest of them that fits into a packet of the node.
const LONGEST_IN_NODE: usize = 128;

/// What an algorithm is given, and what it makes of that.
struct Vector {
    given: Vec<u8>,
    made: Vec<u8>,
}

/// Published ones.
fn vectors(algorithm: &str) -> Result<Vec<Vector>, Failure> {
    Ok(match algorithm {
        "no-algorithm" => vec![Vector { given: b"abc".into(), made: b"abc".into() }],
        "aes-192" => vec![aes_192()],
        "triple-des" => vec![triple_des()],
        "sha-1" => sha_1(),
        "sha-512" => sha_512(),
        _ => return Err("there are no vectors of what its name says".into()),
    })
}

/// NIST SP 800-38A appendix F.2.3.
fn aes_192() -> Vector {
    let blocks = |blocks: [u128; 4]| blocks.map(u128::to_be_bytes).concat();
    Vector {
        given: blocks([
            0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a,
            0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51,
            0x30c8_1c46_a35c_e411_e5fb_c119_1a0a_52ef,
            0xf69f_2445_df4f_9b17_ad2b_417b_e66c_3710,
        ]),
        made: blocks([
            0x4f02_1db2_43bc_633d_7178_183a_9fa0_71e8,
            0xb4d9_ada9_ad7d_edf4_e5e7_3876_3f69_145a,
            0x571b_2420_12fb_7ae0_7fa9_baac_3df1_02e0,
            0x08b0_e279_8859_8881_d920_a9e6_4f56_15cd,
        ]),
    }
}

/// NIST SP 800-67 appendix B.1, whose blocks are not chained: what the chain adds to each of them is added before.
fn triple_des() -> Vector {
    let plain = [b"The qufc", b"k brown ", b"fox jump"].map(|block| u64::from_be_bytes(*block));
    let encrypted: [u64; 3] = [0xa826_fd8c_e53b_855f, 0xcce2_1c81_1225_6fe6, 0x68d5_c05d_d9b6_b900];
    let given = [plain[0], plain[1] ^ encrypted[0], plain[2] ^ encrypted[1]];
    Vector { given: given.map(u64::to_be_bytes).concat(), made: encrypted.map(u64::to_be_bytes).concat() }
}

/// FIPS 180's "abc", and its message of 448 bits.
fn sha_1() -> Vec<Vector> {
    let vector = |given: &[u8], digest: [u32; 5]| Vector {
        given: given.into(),
        made: digest.map(u32::to_be_bytes).concat(),
    };
    vec![
        vector(b"abc", [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d]),
        vector(
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            [0x8498_3e44, 0x1c3b_d26e, 0xbaae_4aa1, 0xf951_29e5, 0xe546_70f1],
        ),
    ]
}

/// FIPS 180's "abc", and its message of 896 bits.
fn sha_512() -> Vec<Vector> {
    let vector = |given: &[u8], digest: [u64; 8]| Vector {
        given: given.into(),
        made: digest.map(u64::to_be_bytes).concat(),
    };
    vec![
        vector(
            b"abc",
            [
                0xddaf_35a1_9361_7aba,
                0xcc41_7349_ae20_4131,
                0x12e6_fa4e_89a9_7ea2,
                0x0a9e_eee6_4b55_d39a,
                0x2192_992a_274f_c1a8,
                0x36ba_3c23_a3fe_ebbd,
                0x454d_4423_643c_e80e,
                0x2a9a_c94f_a54c_a49f,
            ],
        ),
        vector(
            b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            [
                0x8e95_9b75_dae3_13da,
                0x8cf4_f728_14fc_143f,
                0x8f77_79c6_eb9f_7fa1,
                0x7299_aead_b688_9018,
                0x501d_289e_4900_f7e4,
                0x331b_99de_c4b5_433a,
                0xc7d3_29ee_b6dd_2654,
                0x5e96_e55b_874b_e909,
            ],
        ),
    ]
}

/// Has `work` do what the vectors say, and then data of the paper's lengths up to the `longest`.
fn check(
    algorithm: &str,
    longest: usize,
    mut work: impl FnMut(&[u8]) -> Result<Vec<u8>, Failure>,
) -> Result<(), Failure> {
    for Vector { given, made } in vectors(algorithm)? {
        let found = work(&given)?;
        if found != made {
            return Err(format!("it makes {found:02x?} of {given:02x?}, and not {made:02x?}").into());
        }
    }
    for length in LENGTHS.into_iter().filter(|length| *length <= longest) {
        if work(&vec![0x42; length])?.is_empty() {
            return Err(format!("it makes nothing of {length} bytes").into());
        }
    }
    Ok(())
}

fn measure(image: &Path) -> Result<u32, Failure> {
    let name = image.file_stem().and_then(|name| name.to_str()).ok_or("its file has no name")?;
    let Some(algorithm) = name.strip_prefix("udp-") else {
        let (mut device, mut entropy) = (Device::start(image)?, Random::new(2));
        check(name, DATAGRAM_LEN, |data| device.task(data, &mut entropy))?;
        return device.stack_peak();
    };
    let mut node = Bridged::new(image, false);
    check(algorithm, LONGEST_IN_NODE, |data| {
        let [answer] = &node.ask(data)[..] else { return Err("it does not answer once".into()) };
        Ok(answer.clone())
    })?;
    Ok(node.stack_peak())
}

fn main() -> ExitCode {
    alone::print_stacks(std::env::args().skip(1), measure)
}
