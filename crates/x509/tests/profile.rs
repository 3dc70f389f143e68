//! Certificates written by hand: what RFC 5280 forbids in one is refused, and what its generators write all the same is taken.

use sixlock_crypto::p256::P256 as _;
use sixlock_crypto::{Hashes as _, Soft};
use sixlock_x509::{
    Certificate, Clock, DerSignature, Error, MAX_EXTENSIONS, Purpose, Time, Trust, public_key_info, verify,
};

/// An element of DER.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut der = match length {
        0..0x80 => vec![tag, length as u8],
        0x80..0x100 => vec![tag, 0x81, length as u8],
        _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
    };
    der.extend(content);
    der
}

fn sequence(elements: &[&[u8]]) -> Vec<u8> {
    element(0x30, &elements.concat())
}

/// A Name that is a common name.
fn name(text: &str) -> Vec<u8> {
    let attribute = sequence(&[&[6, 3, 0x55, 4, 3], &element(0x0c, text.as_bytes())]);
    sequence(&[&element(0x31, &attribute)])
}

/// An extension of this kind: its object identifier in DER, its truth value if one is written, and its value.
fn extension(kind: &[u8], critical: Option<u8>, value: &[u8]) -> Vec<u8> {
    let critical = critical.map(|critical| element(1, &[critical])).unwrap_or_default();
    sequence(&[&element(6, kind), &critical, &element(4, value)])
}

const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 19];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 15];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 37];
const CERTIFICATE_POLICIES: &[u8] = &[0x55, 0x1d, 32];
const CLIENT: &[u8] = &[6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 2];
const SERVER: &[u8] = &[6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1];
const ANY: &[u8] = &[6, 4, 0x55, 0x1d, 0x25, 0];

/// What a certificate says.
struct Draft {
    serial: Vec<u8>,
    issuer: &'static str,
    subject: &'static str,
    not_before: &'static str,
    not_after: &'static str,
    /// The private key that its public key belongs to.
    key: u8,
    extensions: Vec<Vec<u8>>,
}

impl Draft {
    fn new(issuer: &'static str, subject: &'static str, key: u8) -> Self {
        Self {
            serial: vec![1],
            issuer,
            subject,
            not_before: "250101000000Z",
            not_after: "251231000000Z",
            key,
            extensions: Vec::new(),
        }
    }

    /// An authority's, of which these bytes are the content of its basic constraints.
    fn authority(issuer: &'static str, subject: &'static str, key: u8, constraints: &[u8]) -> Self {
        Self::new(issuer, subject, key).with(extension(
            BASIC_CONSTRAINTS,
            Some(0xff),
            &element(0x30, constraints),
        ))
    }

    fn with(mut self, extension: Vec<u8>) -> Self {
        self.extensions.push(extension);
        self
    }

    fn signed_by(&self, key: u8) -> Vec<u8> {
        const ECDSA_WITH_SHA_256: &[u8] = &[0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
        let times = [self.not_before, self.not_after]
            .map(|time| element(if time.len() == 13 { 0x17 } else { 0x18 }, time.as_bytes()));
        let extensions = match &self.extensions[..] {
            [] => Vec::new(),
            extensions => element(0xa3, &element(0x30, &extensions.concat())),
        };
        let to_be_signed = sequence(&[
            &[0xa0, 3, 2, 1, 2],
            &element(2, &self.serial),
            ECDSA_WITH_SHA_256,
            &name(self.issuer),
            &sequence(&[&times[0], &times[1]]),
            &name(self.subject),
            &public_key_info(&Soft.p256_public_key(&[self.key; 32]).unwrap()),
            &extensions,
        ]);
        let mut hash = Soft.sha256();
        Soft.sha256_update(&mut hash, &to_be_signed);
        let digest = Soft.sha256_finish(hash);
        let signature = DerSignature::new(&Soft.p256_sign(&[key; 32], &digest).unwrap());
        let signature = element(3, &[&[0], signature.bytes()].concat());
        sequence(&[&to_be_signed, ECDSA_WITH_SHA_256, &signature])
    }
}

const TRUE: &[u8] = &[1, 1, 0xff];
const ROOT: u8 = 1;
const MIDDLE: u8 = 2;
const DEVICE: u8 = 9;

fn judged_for(chain: &[&[u8]], root: &[u8], purpose: Purpose) -> Result<(), Error> {
    let clock = Clock::At(Time::new(20_189, 0));
    let trust = Trust { authorities: &[root], clock, purpose, name: None };
    verify(&mut Soft, &trust, chain.iter().copied()).map(drop)
}

fn judged(chain: &[&[u8]], root: &[u8]) -> Result<(), Error> {
    judged_for(chain, root, Purpose::Client)
}

fn root() -> Vec<u8> {
    Draft::authority("root", "root", ROOT, TRUE).signed_by(ROOT)
}

/// Judges a device's certificate that the root signs.
fn judged_alone(draft: &Draft) -> Result<(), Error> {
    judged(&[&draft.signed_by(ROOT)], &root())
}

fn device() -> Draft {
    Draft::new("root", "device", DEVICE)
}

#[test]
fn a_certificate_written_by_hand_is_taken() {
    assert_eq!(judged_alone(&device()), Ok(()));
}

#[test]
fn a_serial_number_is_above_zero_and_as_short_as_it_can_be() {
    let with = |serial: &[u8]| judged_alone(&Draft { serial: serial.to_vec(), ..device() });
    for taken in [&[1][..], &[0x7f; 20], &[0, 0x80], &[0, 0xff, 0xff], &[1, 0]] {
        assert_eq!(with(taken), Ok(()), "{taken:?}");
    }
    for refused in
        [&[][..], &[0], &[0x80], &[0xff], &[0, 1], &[0, 0, 0x80], &[0xff, 0x80], &[1; 21], &[0, 0, 0, 0, 5]]
    {
        assert_eq!(with(refused), Err(Error::Encoding), "{refused:?}");
    }
    let mut longest = vec![0, 0x80];
    longest.resize(20, 7);
    assert_eq!(with(&longest), Ok(()));
    longest.push(7);
    assert_eq!(with(&longest), Err(Error::Encoding));
}

#[test]
fn validity_ends_and_begins_on_days_that_exist() {
    let until = |not_after| judged_alone(&Draft { not_after, ..device() });
    assert_eq!(until("250630235959Z"), Ok(()));
    assert_eq!(until("20280229235959Z"), Ok(()));
    for missing in ["250631000000Z", "270229000000Z", "21000229000000Z", "250630240000Z", "250630236000Z"] {
        assert_eq!(until(missing), Err(Error::Encoding), "{missing}");
    }
    let from = |not_before| judged_alone(&Draft { not_before, ..device() });
    assert_eq!(from("240229000000Z"), Ok(()));
    assert_eq!(from("230229000000Z"), Err(Error::Encoding));
    assert_eq!(from("240431000000Z"), Err(Error::Encoding));
}

#[test]
fn no_extension_comes_twice_known_or_not() {
    let unknown = |number| extension(&[0x2b, 6, 1, number], None, &[5, 0]);
    let policies = || extension(CERTIFICATE_POLICIES, None, &[0x30, 0]);
    assert_eq!(judged_alone(&device().with(unknown(1)).with(policies()).with(unknown(2))), Ok(()));
    for twice in [
        unknown(1),
        policies(),
        extension(KEY_USAGE, None, &[3, 2, 7, 0x80]),
        extension(EXTENDED_KEY_USAGE, None, &element(0x30, CLIENT)),
        extension(BASIC_CONSTRAINTS, None, &[0x30, 0]),
        extension(&[0x55, 0x1d, 17], None, &[0x30, 3, 0x82, 1, b'a']),
    ] {
        let repeated = device().with(twice.clone()).with(unknown(3)).with(twice);
        assert_eq!(judged_alone(&repeated), Err(Error::RepeatedExtension));
    }
}

#[test]
fn extensions_have_a_limit() {
    let many = |count: usize| {
        (0..count)
            .fold(device(), |draft, number| draft.with(extension(&[0x2b, 6, 1, number as u8], None, &[5, 0])))
    };
    assert_eq!(judged_alone(&many(MAX_EXTENSIONS)), Ok(()));
    assert_eq!(judged_alone(&many(MAX_EXTENSIONS + 1)), Err(Error::Encoding));
}

/// DER leaves a FALSE by default out; generators of embedded systems write it.
#[test]
fn a_false_that_is_written_is_taken_and_no_other_spelling() {
    let constraints = |content: &[u8], critical| {
        judged_alone(&device().with(extension(BASIC_CONSTRAINTS, critical, &element(0x30, content))))
    };
    for critical in [None, Some(0), Some(0xff)] {
        assert_eq!(constraints(&[], critical), Ok(()));
        assert_eq!(constraints(&[1, 1, 0], critical), Ok(()));
    }
    for value in [1, 0x7f, 0x80, 0xfe] {
        assert_eq!(constraints(&[1, 1, value], None), Err(Error::Encoding), "{value}");
        assert_eq!(constraints(&[], Some(value)), Err(Error::Encoding), "{value}");
    }
    assert_eq!(constraints(&[1, 0], None), Err(Error::Encoding));
    // A FALSE that is written makes nobody an authority.
    let middle = Draft::authority("root", "middle", MIDDLE, &[1, 1, 0]).signed_by(ROOT);
    let own = Draft::new("middle", "device", DEVICE).signed_by(MIDDLE);
    assert_eq!(judged(&[&own, &middle], &root()), Err(Error::NotAuthority));
    // An extension that is not known, and says that it need not be.
    assert_eq!(judged_alone(&device().with(extension(CERTIFICATE_POLICIES, Some(0), &[0x30, 0]))), Ok(()));
}

#[test]
fn a_long_form_of_a_date_and_an_empty_list_of_extensions_are_taken() {
    // wolfSSL writes all dates so.
    let mut long = device();
    (long.not_before, long.not_after) = ("20250101000000Z", "20251231000000Z");
    assert_eq!(judged_alone(&long), Ok(()));
    long.not_after = "20250102000000Z";
    assert_eq!(judged_alone(&long), Err(Error::Expired));
    // Mbed TLS writes a list for whoever asks for no extension.
    assert_eq!(judged_alone(&device().with(Vec::new())), Ok(()));
}

#[test]
fn an_authority_whose_names_are_constrained_signs_nothing_critical_or_not() {
    const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 30];
    let own = Draft::new("middle", "device", DEVICE).signed_by(MIDDLE);
    for critical in [None, Some(0xff)] {
        let value = element(0x30, &element(0xa0, &element(0x30, &element(0x82, b"example.org"))));
        let middle = Draft::authority("root", "middle", MIDDLE, TRUE);
        let middle = middle.with(extension(NAME_CONSTRAINTS, critical, &value)).signed_by(ROOT);
        assert_eq!(judged(&[&own, &middle], &root()), Err(Error::CriticalExtension), "{critical:?}");
    }
}

#[test]
fn only_an_authority_has_a_path_length_and_it_has_one_form() {
    let constraints = |content: &[u8]| {
        let der = Draft::authority("root", "device", DEVICE, content).signed_by(ROOT);
        Certificate::parse(&der).map(|read| read.basic_constraints().unwrap().path_length)
    };
    assert_eq!(constraints(&[2, 1, 0]), Err(Error::Encoding));
    assert_eq!(constraints(&[1, 1, 0, 2, 1, 0]), Err(Error::Encoding));
    assert_eq!(constraints(TRUE), Ok(None));
    let most = |content: &[u8]| constraints(&[TRUE, content].concat());
    assert_eq!(most(&[2, 1, 0]), Ok(Some(0)));
    assert_eq!(most(&[2, 1, 0x7f]), Ok(Some(0x7f)));
    assert_eq!(most(&[2, 2, 0, 0x80]), Ok(Some(0x80)));
    assert_eq!(most(&[2, 2, 1, 0]), Ok(Some(u8::MAX)));
    for refused in [&[2, 0][..], &[2, 1, 0x80], &[2, 2, 0, 3], &[2, 2, 0xff, 0xff], &[2, 1, 1, 2, 1, 1]] {
        assert_eq!(most(refused), Err(Error::Encoding), "{refused:?}");
    }
}

#[test]
fn an_authority_with_a_new_key_takes_no_place_in_the_path() {
    // The root lets one authority follow. That one has issued its own certificate for a new key.
    let root = Draft::authority("root", "root", ROOT, &[1, 1, 0xff, 2, 1, 1]).signed_by(ROOT);
    let old = Draft::authority("root", "middle", MIDDLE, &[1, 1, 0xff, 2, 1, 0]).signed_by(ROOT);
    let new = Draft::authority("middle", "middle", 3, TRUE).signed_by(MIDDLE);
    let own = Draft::new("middle", "device", DEVICE).signed_by(3);
    assert_eq!(judged(&[&own, &new, &old], &root), Ok(()));
    // Another authority in its place is one too many, for the root and for the one before it.
    let other = Draft::authority("middle", "other", 3, TRUE).signed_by(MIDDLE);
    let own = Draft::new("other", "device", DEVICE).signed_by(3);
    assert_eq!(judged(&[&own, &other, &old], &root), Err(Error::PathLength));
    // What was issued under the new key counts as it did under the old one.
    let next = Draft::authority("middle", "next", 4, TRUE).signed_by(3);
    let own = Draft::new("next", "device", DEVICE).signed_by(4);
    assert_eq!(judged(&[&own, &next, &new, &old], &root), Err(Error::PathLength));
    // The last certificate counts for nothing, self-issued or not.
    let own = Draft::new("middle", "middle", DEVICE).signed_by(MIDDLE);
    assert_eq!(judged(&[&own, &old], &root), Ok(()));
}

#[test]
fn an_authority_goes_on_with_a_new_key_that_its_trusted_one_signed() {
    let old = root();
    let new = Draft::authority("root", "root", 3, TRUE).signed_by(ROOT);
    let own = Draft::new("root", "device", DEVICE).signed_by(3);
    assert_eq!(judged(&[&own, &new], &old), Ok(()));
    // Also where another stands between.
    let middle = Draft::authority("root", "middle", MIDDLE, TRUE).signed_by(3);
    let below = Draft::new("middle", "device", DEVICE).signed_by(MIDDLE);
    assert_eq!(judged(&[&below, &middle, &new], &old), Ok(()));
    // Nobody else goes on in its name.
    let forged = Draft::authority("root", "root", 3, TRUE).signed_by(3);
    assert_eq!(judged(&[&own, &forged], &old), Err(Error::Signature));
    assert_eq!(judged(&[&own], &old), Err(Error::Signature));
}

#[test]
fn no_more_signatures_are_verified_than_a_chain_may_have_certificates() {
    let [newer, new] =
        [(4, 3), (3, ROOT)].map(|(key, by)| Draft::authority("root", "root", key, TRUE).signed_by(by));
    let own = Draft::new("root", "device", DEVICE).signed_by(4);
    // The device's certificate and the newer one are first held against the root's key, which makes five.
    assert_eq!(judged(&[&own, &newer, &new], &root()), Err(Error::PathLength));
    assert_eq!(judged(&[&own, &newer], &new), Ok(()));
}

#[test]
fn a_chain_of_self_issued_certificates_ends() {
    let chain: Vec<_> =
        (2..8).rev().map(|key| Draft::authority("root", "root", key, TRUE).signed_by(key - 1)).collect();
    let own = Draft::new("root", "device", DEVICE).signed_by(7);
    let chain: Vec<&[u8]> = [&own].into_iter().chain(&chain).map(|der| &der[..]).collect();
    let stranger = Draft::authority("stranger", "stranger", 20, TRUE).signed_by(20);
    assert_eq!(judged(&chain, &stranger), Err(Error::PathLength));
}

#[test]
fn an_authority_signs_for_no_purpose_that_its_own_certificate_has_not() {
    let usages = |usages: &[&[u8]]| extension(EXTENDED_KEY_USAGE, None, &element(0x30, &usages.concat()));
    let own = Draft::new("middle", "device", DEVICE).signed_by(MIDDLE);
    let below = |middle: Draft, root: Draft| {
        let (middle, root) = (middle.signed_by(ROOT), root.signed_by(ROOT));
        [Purpose::Client, Purpose::Server].map(|purpose| judged_for(&[&own, &middle], &root, purpose))
    };
    let middle = || Draft::authority("root", "middle", MIDDLE, TRUE);
    let root = || Draft::authority("root", "root", ROOT, TRUE);
    let refused = Err(Error::Purpose);
    assert_eq!(below(middle(), root()), [Ok(()), Ok(())]);
    assert_eq!(below(middle().with(usages(&[CLIENT])), root()), [Ok(()), refused]);
    assert_eq!(below(middle().with(usages(&[SERVER])), root()), [refused, Ok(())]);
    assert_eq!(below(middle().with(usages(&[SERVER, CLIENT])), root()), [Ok(()), Ok(())]);
    assert_eq!(below(middle().with(usages(&[ANY])), root()), [Ok(()), Ok(())]);
    assert_eq!(below(middle().with(usages(&[])), root()), [refused, refused]);
    assert_eq!(below(middle(), root().with(usages(&[CLIENT]))), [Ok(()), refused]);
    assert_eq!(below(middle().with(usages(&[SERVER])), root().with(usages(&[CLIENT]))), [refused, refused]);
    // A device's own certificate adds nothing to what its authority may do.
    let own = Draft::new("middle", "device", DEVICE).with(usages(&[SERVER])).signed_by(MIDDLE);
    let middle = middle().with(usages(&[CLIENT])).signed_by(ROOT);
    for purpose in [Purpose::Client, Purpose::Server] {
        assert_eq!(judged_for(&[&own, &middle], &root().signed_by(ROOT), purpose), refused);
    }
}
