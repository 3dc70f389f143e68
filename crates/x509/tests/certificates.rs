//! Certificates made by rcgen, and what is refused of them.

use proptest::prelude::*;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PublicKeyData as _,
    SanType, date_time_ymd,
};
use sixlock_crypto::Soft;
use sixlock_crypto::p256::P256 as _;
use sixlock_x509::{Certificate, Clock, Error, MAX_CHAIN, Purpose, Template, Time, Trust, verify};

/// Midday on a day of 2025, in which the certificates are valid.
fn day(number: u32) -> Time {
    Time::new(20_089 + number, 43_200)
}

/// One who signs certificates, with their own.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    der: Vec<u8>,
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "Sixlock");
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(2025, 12, 31));
    params
}

fn authority_params(name: &str, most: Option<u8>) -> CertificateParams {
    let mut params = params(name);
    params.is_ca = IsCa::Ca(most.map_or(BasicConstraints::Unconstrained, BasicConstraints::Constrained));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

impl Authority {
    fn root(params: CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        let der = params.self_signed(&key).unwrap().der().to_vec();
        Self { issuer: Issuer::new(params, key), der }
    }

    fn below(params: CertificateParams, above: &Self) -> Self {
        let key = KeyPair::generate().unwrap();
        let der = params.signed_by(&key, &above.issuer).unwrap().der().to_vec();
        Self { issuer: Issuer::new(params, key), der }
    }

    fn sign(&self, params: &CertificateParams) -> Vec<u8> {
        params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap().der().to_vec()
    }
}

fn judge(
    chain: &[&[u8]],
    authorities: &[&[u8]],
    clock: Clock,
    purpose: Purpose,
    name: Option<&[u8]>,
) -> Result<(), Error> {
    let trust = Trust { authorities, clock, purpose, name };
    verify(&mut Soft, &trust, chain.iter().copied()).map(drop)
}

/// Judges a chain at a time at which all is valid.
fn judged(chain: &[&[u8]], authorities: &[&[u8]]) -> Result<(), Error> {
    judge(chain, authorities, Clock::At(day(100)), Purpose::Client, None)
}

#[test]
fn a_certificate_is_read_whole() {
    let root = Authority::root(authority_params("root", Some(2)));
    let key = KeyPair::generate().unwrap();
    let mut params = params("02-12-74-00-00-00-00-01");
    params.serial_number = Some(vec![1, 2, 3].into());
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let der = params.signed_by(&key, &root.issuer).unwrap().der().to_vec();
    let certificate = Certificate::parse(&der).unwrap();
    let authority = Certificate::parse(&root.der).unwrap();
    assert_eq!(certificate.serial(), [1, 2, 3]);
    assert_eq!(certificate.common_name(), Some(&b"02-12-74-00-00-00-00-01"[..]));
    assert_eq!(certificate.issuer(), authority.subject());
    assert_eq!(certificate.validity(), (Time::new(20_089, 0), Time::new(20_453, 0)));
    assert_eq!(certificate.public_key()[..], *key.der_bytes());
    assert!(certificate.basic_constraints().is_none());
    let constraints = authority.basic_constraints().unwrap();
    assert_eq!((constraints.authority, constraints.path_length), (true, Some(2)));
    assert_eq!(certificate.is_signed_by(&mut Soft, &authority), Ok(()));
    assert_eq!(authority.is_signed_by(&mut Soft, &authority), Ok(()));
    assert_eq!(authority.is_signed_by(&mut Soft, &certificate), Err(Error::Signature));
}

#[test]
fn a_certificate_is_known_by_one_of_its_names() {
    let root = Authority::root(authority_params("root", None));
    let uri = || SanType::URI("urn:dev:mac:0212740000000001".try_into().unwrap());
    let dns = || SanType::DnsName("node-1".try_into().unwrap());
    let address = || SanType::IpAddress([192, 0, 2, 1].into());
    for (names, known) in [
        (vec![], "device"),
        (vec![address()], "device"),
        (vec![address(), uri(), dns()], "urn:dev:mac:0212740000000001"),
        (vec![dns(), uri()], "node-1"),
    ] {
        let mut params = params("device");
        params.subject_alt_names = names;
        let der = root.sign(&params);
        assert_eq!(Certificate::parse(&der).unwrap().identity(), Some(known.as_bytes()));
    }
}

#[test]
fn a_chain_leads_to_who_is_trusted() {
    let root = Authority::root(authority_params("root", None));
    let middle = Authority::below(authority_params("middle", Some(0)), &root);
    let own = middle.sign(&params("device"));
    let other = Authority::root(authority_params("other", None));
    assert_eq!(judged(&[&own, &middle.der], &[&root.der]), Ok(()));
    assert_eq!(judged(&[&own, &middle.der, &root.der], &[&other.der, &root.der]), Ok(()));
    assert_eq!(judged(&[&own], &[&middle.der]), Ok(()), "who is trusted need not be a root");
    assert_eq!(judged(&[&own], &[&root.der]), Err(Error::UnknownAuthority));
    assert_eq!(judged(&[&own, &middle.der], &[&other.der]), Err(Error::UnknownAuthority));
    assert_eq!(judged(&[&own, &other.der], &[&other.der]), Err(Error::UnknownAuthority));
    assert_eq!(judged(&[], &[&root.der]), Err(Error::UnknownAuthority));
}

#[test]
fn an_authority_of_the_same_name_is_another() {
    let (root, namesake) =
        (Authority::root(authority_params("root", None)), Authority::root(authority_params("root", None)));
    let own = root.sign(&params("device"));
    assert_eq!(judged(&[&own], &[&namesake.der]), Err(Error::Signature));
    assert_eq!(judged(&[&own], &[&namesake.der, &root.der]), Ok(()), "one replaces the other");
    let forged = namesake.sign(&params("device"));
    assert_eq!(judged(&[&forged, &root.der], &[&root.der]), Err(Error::Signature));
}

#[test]
fn only_authorities_sign_and_as_many_as_they_may() {
    let root = Authority::root(authority_params("root", Some(1)));
    let first = Authority::below(authority_params("first", None), &root);
    let second = Authority::below(authority_params("second", None), &first);
    let own = second.sign(&params("device"));
    assert_eq!(judged(&[&own, &second.der, &first.der], &[&root.der]), Err(Error::PathLength));
    assert_eq!(judged(&[&own, &second.der, &first.der], &[&first.der]), Ok(()));

    let device = Authority::below(params("device"), &root);
    let own = device.sign(&params("device of a device"));
    assert_eq!(judged(&[&own, &device.der], &[&root.der]), Err(Error::NotAuthority));
    let mut unused = authority_params("unused", None);
    unused.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let unused = Authority::below(unused, &root);
    let own = unused.sign(&params("device"));
    assert_eq!(judged(&[&own, &unused.der], &[&root.der]), Err(Error::KeyUsage));
}

#[test]
fn a_chain_ends() {
    let root = Authority::root(authority_params("0", None));
    let mut authorities = vec![root];
    for n in 1..=MAX_CHAIN {
        authorities
            .push(Authority::below(authority_params(&n.to_string(), None), authorities.last().unwrap()));
    }
    let own = authorities.last().unwrap().sign(&params("device"));
    let chain: Vec<&[u8]> = [&own]
        .into_iter()
        .chain(authorities.iter().rev().map(|authority| &authority.der))
        .map(|der| &der[..])
        .collect();
    assert_eq!(judged(&chain, &[&authorities[0].der]), Err(Error::PathLength));
    assert_eq!(judged(&chain, &[&authorities[1].der]), Ok(()));
}

#[test]
fn time_is_judged_as_far_as_it_is_known() {
    let root = Authority::root(authority_params("root", None));
    let mut short = params("device");
    (short.not_before, short.not_after) = (date_time_ymd(2025, 3, 1), date_time_ymd(2025, 4, 1));
    let own = root.sign(&short);
    let at = |clock| judge(&[&own], &[&root.der], clock, Purpose::Client, None);
    assert_eq!(at(Clock::At(day(58))), Err(Error::NotYetValid));
    assert_eq!(at(Clock::At(day(59))), Ok(()));
    assert_eq!(at(Clock::At(day(91))), Err(Error::Expired));
    assert_eq!(at(Clock::Since(day(10))), Ok(()));
    assert_eq!(at(Clock::Since(day(91))), Err(Error::Expired));
    let mut ended = authority_params("ended", None);
    ended.not_after = date_time_ymd(2025, 2, 1);
    let ended = Authority::root(ended);
    let own = ended.sign(&params("device"));
    assert_eq!(judged(&[&own], &[&ended.der]), Err(Error::Expired));
}

#[test]
fn a_certificate_is_for_what_it_says() {
    let root = Authority::root(authority_params("root", None));
    let as_who = |purposes: &[ExtendedKeyUsagePurpose]| {
        let mut params = params("device");
        params.extended_key_usages = purposes.to_vec();
        let own = root.sign(&params);
        [Purpose::Client, Purpose::Server]
            .map(|purpose| judge(&[&own], &[&root.der], Clock::At(day(100)), purpose, None))
    };
    use ExtendedKeyUsagePurpose::{Any, ClientAuth, CodeSigning, ServerAuth};
    assert_eq!(as_who(&[]), [Ok(()), Ok(())]);
    assert_eq!(as_who(&[ClientAuth]), [Ok(()), Err(Error::Purpose)]);
    assert_eq!(as_who(&[CodeSigning, ServerAuth]), [Err(Error::Purpose), Ok(())]);
    assert_eq!(as_who(&[Any]), [Ok(()), Ok(())]);
    let mut params = params("device");
    params.key_usages = vec![KeyUsagePurpose::KeyAgreement];
    assert_eq!(judged(&[&root.sign(&params)], &[&root.der]), Err(Error::KeyUsage));
}

#[test]
fn names_are_looked_for_where_they_stand() {
    let root = Authority::root(authority_params("root", None));
    let named = |der: &[u8], name: &[u8]| {
        judge(&[der], &[&root.der], Clock::At(day(100)), Purpose::Server, Some(name))
    };
    let own = root.sign(&params("cloud.example"));
    assert_eq!(named(&own, b"Cloud.Example"), Ok(()));
    assert_eq!(named(&own, b"example"), Err(Error::Name));
    let mut others =
        CertificateParams::new(vec!["a.example".into(), "192.0.2.1".into(), "*.b.example".into()]).unwrap();
    (others.not_before, others.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(2025, 12, 31));
    others.distinguished_name.push(DnType::CommonName, "cloud.example");
    let own = root.sign(&others);
    assert_eq!(named(&own, b"a.example"), Ok(()));
    assert_eq!(
        named(&own, b"cloud.example"),
        Err(Error::Name),
        "other names come instead of the common name"
    );
    assert_eq!(named(&own, b"c.b.example"), Err(Error::Name), "there are no wildcards");
}

#[test]
fn what_is_not_understood_is_refused_where_it_must_be() {
    let root = Authority::root(authority_params("root", None));
    let with = |extensions: Vec<CustomExtension>| {
        let mut params = params("device");
        params.custom_extensions = extensions;
        judged(&[&root.sign(&params)], &[&root.der])
    };
    let unknown = || CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99_999], vec![5, 0]);
    let mut critical = unknown();
    critical.set_criticality(true);
    assert_eq!(with(vec![unknown()]), Ok(()));
    assert_eq!(with(vec![critical]), Err(Error::CriticalExtension));
    let usage = || CustomExtension::from_oid_content(&[2, 5, 29, 15], vec![3, 2, 7, 0x80]);
    assert_eq!(with(vec![usage()]), Ok(()));
    assert_eq!(with(vec![usage(), usage()]), Err(Error::RepeatedExtension));
}

#[test]
fn extensions_are_der_and_say_something() {
    const KEY_USAGE: &[u64] = &[2, 5, 29, 15];
    const NAMES: &[u64] = &[2, 5, 29, 17];
    let root = Authority::root(authority_params("root", None));
    let signed = |kind: &[u64], content: &[u8]| {
        let mut params = params("device");
        params.custom_extensions = vec![CustomExtension::from_oid_content(kind, content.to_vec())];
        root.sign(&params)
    };
    let parsed = |kind, content| Certificate::parse(&signed(kind, content)).map(drop);
    for usage in [&[3, 2, 7, 0x80][..], &[3, 2, 1, 0x86], &[3, 3, 7, 0x80, 0x80], &[3, 2, 0, 0x81]] {
        assert_eq!(parsed(KEY_USAGE, usage), Ok(()), "{usage:x?}");
    }
    for usage in [
        // Bits behind the last one, zeros at the end, and no use.
        &[3, 2, 7, 0xc0][..],
        &[3, 2, 6, 0x80],
        &[3, 2, 0, 0x80],
        &[3, 3, 0, 0x80, 0],
        &[3, 3, 7, 0x80, 0],
        &[3, 2, 0, 0],
        &[3, 2, 8, 0x80],
        &[3, 1, 0],
    ] {
        assert_eq!(parsed(KEY_USAGE, usage), Err(Error::Encoding), "{usage:x?}");
    }
    assert_eq!(parsed(NAMES, &[0x30, 3, 0x82, 1, b'a']), Ok(()));
    assert_eq!(parsed(NAMES, &[0x30, 0]), Err(Error::Encoding), "no name");
    // An object identifier without a number, and one whose last number does not end.
    let unknown = signed(&[2, 5, 29, 99], &[5, 0]);
    let found = unknown.windows(5).position(|bytes| bytes == [6, 3, 0x55, 0x1d, 99]).unwrap();
    let mut bad = unknown.clone();
    bad[found + 4] = 0x80 | 99;
    assert_eq!(Certificate::parse(&unknown).map(drop), Ok(()));
    assert_eq!(Certificate::parse(&bad).map(drop), Err(Error::Encoding));
    // The same bytes as an empty identifier, with the value in a longer octet string.
    let mut bad = unknown;
    bad[found..found + 9].copy_from_slice(&[6, 0, 4, 5, 5, 0, 5, 0, 0]);
    assert_eq!(Certificate::parse(&bad).map(drop), Err(Error::Encoding));
}

#[test]
fn other_keys_and_algorithms_are_refused() {
    for (algorithm, error) in [(&PKCS_ECDSA_P384_SHA384, Error::Algorithm), (&PKCS_ED25519, Error::Algorithm)]
    {
        let key = KeyPair::generate_for(algorithm).unwrap();
        let der = params("device").self_signed(&key).unwrap().der().to_vec();
        assert_eq!(Certificate::parse(&der).map(drop), Err(error));
        let root = Authority::root(authority_params("root", None));
        let der = params("device").signed_by(&key, &root.issuer).unwrap().der().to_vec();
        assert_eq!(Certificate::parse(&der).map(drop), Err(Error::Key));
    }
}

#[test]
fn no_bit_of_a_chain_can_be_changed() {
    let root = Authority::root(authority_params("root", None));
    let own = root.sign(&params("device"));
    assert_eq!(judged(&[&own], &[&root.der]), Ok(()));
    for bit in 0..8 * own.len() {
        let mut forged = own.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        assert!(judged(&[&forged], &[&root.der]).is_err(), "bit {bit}");
    }
    for end in 0..own.len() {
        assert!(Certificate::parse(&own[..end]).is_err(), "{end} bytes");
    }
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), at: prop::sample::Index, put in prop::collection::vec(any::<u8>(), 1..6)) {
        let _ = judged(&[&bytes], &[&bytes]);
        let mut own = Authority::root(authority_params("root", None)).der;
        let from = at.index(own.len());
        for (to, byte) in own[from..].iter_mut().zip(&put) {
            *to = *byte;
        }
        let _ = judged(&[&own], &[&own]);
    }
}

/// A certificate of ours: an authority's of its own, or one that this authority signs.
fn issued(subject: &str, serial: &[u8], key: [u8; 32], authority: bool) -> Vec<u8> {
    issued_for(&[], subject, serial, key, authority)
}

/// The same, to be shown as these.
fn issued_for(purposes: &[Purpose], subject: &str, serial: &[u8], key: [u8; 32], authority: bool) -> Vec<u8> {
    let template = Template {
        serial,
        issuer: "authority",
        subject,
        validity: (day(0), Time::new(30_000, 0)),
        public_key: &Soft.p256_public_key(&key).unwrap(),
        authority,
        purposes,
    };
    template.issue(&mut Soft, &[1; 32], &mut [0; 512]).unwrap().to_vec()
}

#[test]
fn what_an_authority_of_ours_signs_is_accepted_and_says_what_it_was_to_say() {
    let root = issued("authority", &[1], [1; 32], true);
    let own = issued("02-12-74-00-00-00-00-01", &[1, 0x80], [2; 32], false);
    assert_eq!(judged(&[&own], &[&root]), Ok(()));
    assert_eq!(judged(&[&own, &root], &[&root]), Ok(()));
    let read = Certificate::parse(&own).unwrap();
    assert_eq!(read.common_name(), Some(&b"02-12-74-00-00-00-00-01"[..]));
    assert_eq!((read.serial(), read.validity()), (&[1, 0x80][..], (day(0), Time::new(30_000, 0))));
    assert_eq!(read.public_key(), &Soft.p256_public_key(&[2; 32]).unwrap());
    assert_eq!(read.issuer(), Certificate::parse(&root).unwrap().subject());
    // Who is no authority signs nothing, and an authority makes no handshakes.
    assert_eq!(read.may_sign_certificates(0), Err(Error::NotAuthority));
    assert_eq!(judged(&[&root], &[&root]), Err(Error::KeyUsage));
    let room = own.len() - 1;
    let template = Template {
        serial: &[1, 0x80],
        issuer: "authority",
        subject: "02-12-74-00-00-00-00-01",
        validity: read.validity(),
        public_key: read.public_key(),
        authority: false,
        purposes: &[],
    };
    assert_eq!(template.issue(&mut Soft, &[1; 32], &mut vec![0; room]), None);
}

#[test]
fn a_certificate_of_ours_is_shown_as_what_it_says() {
    const BOTH: [Purpose; 2] = [Purpose::Client, Purpose::Server];
    for purposes in [&BOTH[..], &BOTH[..1], &BOTH[1..], &[]] {
        let own = issued_for(purposes, "own", &[1], [2; 32], false);
        let read = Certificate::parse(&own).unwrap();
        for purpose in BOTH {
            let says = purposes.is_empty() || purposes.contains(&purpose);
            assert_eq!(read.is_for(purpose), if says { Ok(()) } else { Err(Error::Purpose) }, "{purposes:?}");
        }
    }
}
