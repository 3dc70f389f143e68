//! The packs of RFC 8428 and of this project, read and written in JSON and in CBOR.

use proptest::prelude::*;
use sixlock_base::Eui64;
use sixlock_senml::cbor::{self, CborError};
use sixlock_senml::json::{self, JsonError};
use sixlock_senml::*;

#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Number(f64),
    Text(String),
    Boolean(bool),
    Base64Url(String),
    Bytes(Vec<u8>),
}

type Row = (String, Option<String>, Option<Owned>, Option<f64>, Option<f64>);

fn text(text: Text<'_>) -> String {
    text.chars().collect()
}

fn row_of(record: Record<'_>) -> Row {
    let value = record.value.map(|value| match value {
        Value::Number(number) => Owned::Number(number.sum(f64::from_bits).unwrap()),
        Value::Text(string) => Owned::Text(text(string)),
        Value::Boolean(boolean) => Owned::Boolean(boolean),
        Value::Data(Data::Base64Url(data)) => Owned::Base64Url(text(data)),
        Value::Data(Data::Bytes(data)) => Owned::Bytes(data.to_vec()),
    });
    let number = |number: Number<'_>| number.sum(f64::from_bits).unwrap();
    let name = record.name_chars().collect();
    (name, record.unit.map(text), value, record.sum.map(number), record.time.map(number))
}

/// Name, unit, value, sum and time of every record.
fn read(pack: &str) -> Result<Vec<Row>, ReadError> {
    json::PackReader::new(pack.as_bytes())?.map(|record| record.map(row_of)).collect()
}

fn read_cbor(pack: &[u8]) -> Result<Vec<Row>, ReadError> {
    cbor::PackReader::new(pack)?.map(|record| record.map(row_of)).collect()
}

fn row(name: &str, unit: &str, value: f64, time: Option<f64>) -> Row {
    (name.into(), (!unit.is_empty()).then(|| unit.into()), Some(Owned::Number(value)), None, time)
}

const DEVICE_PACK: &str = r#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":21.4},{"n":"humidity","u":"%RH","v":43.1},{"n":"light","u":"lx","v":310}]"#;

#[test]
fn a_device_writes_its_readings_in_the_agreed_bytes_and_the_server_reads_them() {
    let mut buffer = [0; 200];
    let device = DeviceName::new(Eui64::of_node(1));
    let mut pack = json::PackWriter::new(&mut buffer, device.as_str());
    pack.record("temperature", "Cel", Reading::Number(Decimal::new(214, -1))).unwrap();
    pack.record("humidity", "%RH", Reading::Number(Decimal::new(431, -1))).unwrap();
    pack.record("light", "lx", Reading::Number(Decimal::new(310, 0))).unwrap();
    let len = pack.finish().unwrap();
    assert_eq!(std::str::from_utf8(&buffer[..len]).unwrap(), DEVICE_PACK);

    let name = |name| format!("urn:dev:mac:0212740000000001:{name}");
    assert_eq!(
        read(DEVICE_PACK).unwrap(),
        [
            row(&name("temperature"), "Cel", 21.4, None),
            row(&name("humidity"), "%RH", 43.1, None),
            row(&name("light"), "lx", 310.0, None),
        ]
    );
    let first = json::PackReader::new(DEVICE_PACK.as_bytes()).unwrap().next().unwrap().unwrap();
    assert!(first.own_name() == *"temperature");
    assert!(first.base_name() == *device.as_str());
    assert_eq!(first.write_name(&mut [0; 39]), None);
    assert_eq!(first.write_name(&mut [0; 40]), Some(&*name("temperature")));
}

/// [RFC 8428 section 5.1](https://www.rfc-editor.org/rfc/rfc8428#section-5.1), some packs shortened.
#[test]
fn the_packs_of_rfc_8428_resolve() {
    let name = "urn:dev:ow:10e2073a01080063";
    assert_eq!(
        read(r#"[{"n":"urn:dev:ow:10e2073a01080063","u":"Cel","v":23.1}]"#).unwrap(),
        [row(name, "Cel", 23.1, None)]
    );
    let pack = r#"[
        {"bn":"urn:dev:ow:10e2073a0108006:","bt":1.276020076001e+09,"bu":"A","bver":5,"n":"voltage","u":"V","v":120.1},
        {"n":"current","t":-5,"v":1.2},
        {"n":"current","t":-4,"v":1.3}
    ]"#;
    let name = |name| format!("urn:dev:ow:10e2073a0108006:{name}");
    assert_eq!(
        read(pack).unwrap(),
        [
            row(&name("voltage"), "V", 120.1, Some(1_276_020_076.001)),
            row(&name("current"), "A", 1.2, Some(1_276_020_071.001)),
            row(&name("current"), "A", 1.3, Some(1_276_020_072.001)),
        ]
    );
    let pack = r#"[
        {"bn":"urn:dev:ow:10e2073a01080063","bt":1.320067464e+09,"bu":"%RH","v":20},
        {"u":"lon","v":24.30621},
        {"t":60,"v":20.3}
    ]"#;
    let name = "urn:dev:ow:10e2073a01080063";
    assert_eq!(
        read(pack).unwrap(),
        [
            row(name, "%RH", 20.0, Some(1_320_067_464.0)),
            row(name, "lon", 24.30621, Some(1_320_067_464.0)),
            row(name, "%RH", 20.3, Some(1_320_067_524.0)),
        ]
    );
    // Section 5.1.5's value types; "vd" is base64url.
    let pack = r#"[
        {"bn":"urn:dev:ow:10e2073a01080063:","n":"temp","u":"Cel","v":23.1},
        {"n":"label","vs":"Machine \"Room\""},
        {"n":"open","vb":false},
        {"n":"nfc-reader","vd":"aGkgCg"}
    ]"#;
    let values: Vec<_> = read(pack).unwrap().into_iter().map(|row| row.2.unwrap()).collect();
    assert_eq!(
        values,
        [
            Owned::Number(23.1),
            Owned::Text("Machine \"Room\"".into()),
            Owned::Boolean(false),
            Owned::Base64Url("aGkgCg".into())
        ]
    );
}

/// The packs of [RFC 8428 section 5.1.7](https://www.rfc-editor.org/rfc/rfc8428#section-5.1.7), which set actuators.
#[test]
fn a_record_of_base_fields_alone_sets_the_base() {
    let pack = r#"[
        {"bn":"urn:dev:ow:10e2073a01080063:"},
        {"n":"temp","u":"Cel","v":23.1},
        {"n":"heat","u":"/","v":1},
        {"n":"fan","u":"/","v":0}
    ]"#;
    let name = |name| format!("urn:dev:ow:10e2073a01080063:{name}");
    let rows = [
        row(&name("temp"), "Cel", 23.1, None),
        row(&name("heat"), "/", 1.0, None),
        row(&name("fan"), "/", 0.0, None),
    ];
    assert_eq!(read(pack).unwrap(), rows);
    // [{-2: "urn:dev:ow:10e2073a01080063:"}, {0: "temp", 1: "Cel", 2: 23.1}, {0: "heat", 1: "/", 2: 1}, {0: "fan", 1: "/", 2: 0}]
    let cbor = "84a121781c75726e3a6465763a6f773a313065323037336130313038303036333a\
        a3006474656d70016343656c02fb403719999999999aa3006468656174 01612f0201a3006366616e01612f0200";
    assert_eq!(read_cbor(&bytes(&cbor.replace(' ', ""))).unwrap(), rows);
    let pack = r#"[
        {"bt":1.320078429e+09,"bu":"/","n":"2001:db8::3","v":0.5},
        {"n":"2001:db8::4","v":0.5},
        {"n":"2001:db8::3","t":0.1,"v":0},
        {"n":"2001:db8::4","t":0.1,"v":0}
    ]"#;
    let (now, then) = (Some(1_320_078_429.0), Some(1_320_078_429.1));
    assert_eq!(
        read(pack).unwrap(),
        [
            row("2001:db8::3", "/", 0.5, now),
            row("2001:db8::4", "/", 0.5, now),
            row("2001:db8::3", "/", 0.0, then),
            row("2001:db8::4", "/", 0.0, then),
        ]
    );
}

#[test]
fn every_base_field_may_stand_alone_and_again() {
    let pack = r#"[
        {"bver":9.0},
        {"bn":"a:","bt":300000000},
        {"bu":"Cel","bx":1},
        {"bv":100,"bs":1000},
        {"n":"x","v":1,"t":5},
        {"bn":"b:","bv":-1},
        {"n":"y","v":1,"u":"V"},
        {"bs":7}
    ]"#;
    let sum = Some(1000.0);
    let rows = [
        ("a:x".into(), Some("Cel".into()), Some(Owned::Number(101.0)), sum, Some(300_000_005.0)),
        ("b:y".into(), Some("V".into()), Some(Owned::Number(0.0)), sum, Some(300_000_000.0)),
    ];
    assert_eq!(read(pack).unwrap(), rows);
    // The same, its lengths without end.
    let cbor = "9fbf2009ffa22162613a221a11e1a300a2236343656c6262780\
        1a22418642519 03e8a3006178020106 05a22162623a2420a300617901615602 01a12507ff";
    assert_eq!(read_cbor(&bytes(&cbor.replace(' ', ""))).unwrap(), rows);
    assert_eq!(read(r#"[{"bn":"a"},{"bt":1}]"#), Ok(vec![]));
    assert_eq!(read_cbor(&bytes("81a1216161")), Ok(vec![]));
}

#[test]
fn base_values_and_sums_are_added_and_unknown_fields_passed_over() {
    let pack = r#"[{"bn":"a","bv":100,"bs":1000,"v":1,"s":5},{"n":"b","x":{"y":[1,[2]]},"v":-1},{"bn":"c","\u0076":2}]"#;
    let rows = read(pack).unwrap();
    assert_eq!(rows[0], ("a".into(), None, Some(Owned::Number(101.0)), Some(1005.0), None));
    assert_eq!(rows[1], ("ab".into(), None, Some(Owned::Number(99.0)), Some(1000.0), None));
    assert_eq!(rows[2], ("c".into(), None, Some(Owned::Number(102.0)), Some(1000.0), None));
    assert_eq!(read("[]").unwrap(), []);
    assert_eq!(read(r#"[{"n":"a","s":1}]"#).unwrap(), [("a".into(), None, None, Some(1.0), None)]);
}

#[test]
fn bad_packs_are_refused_with_the_reason() {
    for (pack, error) in [
        ("", ReadError::Json(JsonError::Syntax)),
        ("{}", ReadError::Json(JsonError::Syntax)),
        (r#"[{"n":"a","v":1}"#, ReadError::Json(JsonError::Syntax)),
        (r#"[{"n":"a","v":1}] x"#, ReadError::Json(JsonError::Syntax)),
        (r#"[{"n":"a","v":1},]"#, ReadError::Json(JsonError::Syntax)),
        (r#"[{"n":"a","v":"1"}]"#, ReadError::Json(JsonError::Number)),
        (r#"[{"n":"a","v":NaN}]"#, ReadError::Json(JsonError::Number)),
        (r#"[{"n":"a","vb":1}]"#, ReadError::Json(JsonError::Syntax)),
        (r#"[{"bver":11,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":5,"n":"a","v":1},{"bver":6,"n":"a","v":1}]"#, ReadError::Version),
        // A pack whose first record states no version is of version 10.
        (r#"[{"n":"a","v":1},{"bver":5,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":5},{"bver":6},{"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":11}]"#, ReadError::Version),
        (r#"[{"bver":0,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":-1,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":9.5,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":266,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":99999999999,"n":"a","v":1}]"#, ReadError::Version),
        // Any regular field makes a record one that measures something.
        (r#"[{"bn":"a","bv":1,"u":"Cel"}]"#, ReadError::Value),
        (r#"[{"bn":"d:","bv":20},{"n":"t"}]"#, ReadError::Value),
        (r#"[{"bver":1.1e1,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":1e127,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bver":5e-1,"n":"a","v":1}]"#, ReadError::Version),
        (r#"[{"bn":"a","bv":1,"t":1}]"#, ReadError::Value),
        (r#"[{"bn":"a","bv":1,"ut":1}]"#, ReadError::Value),
        (r#"[{"bn":"a"},{}]"#, ReadError::Value),
        (r#"[{"bn":"é"},{"n":"a","v":1}]"#, ReadError::Name),
        (r#"[{"bn":"a","bn":"b"}]"#, ReadError::Duplicate),
        (r#"[{"bn":"a","new_":1}]"#, ReadError::Unknown),
        (r#"[{"_":1,"n":"a","v":1}]"#, ReadError::Unknown),
        (r#"[{"bn":"a"}"#, ReadError::Json(JsonError::Syntax)),
        (r#"[{"bn":"a"},]"#, ReadError::Json(JsonError::Syntax)),
        (r#"[{"n":"a","n":"b","v":1}]"#, ReadError::Duplicate),
        (r#"[{"n":"a","v":1,"vs":"1"}]"#, ReadError::Value),
        (r#"[{"n":"a"}]"#, ReadError::Value),
        ("[{}]", ReadError::Value),
        (r#"[{"v":1}]"#, ReadError::Name),
        (r#"[{"n":"-a","v":1}]"#, ReadError::Name),
        (r#"[{"n":"a b","v":1}]"#, ReadError::Name),
        (r#"[{"n":"é","v":1}]"#, ReadError::Name),
        (r#"[{"n":"a","v":1,"new_":1}]"#, ReadError::Unknown),
    ] {
        assert_eq!(read(pack), Err(error), "{pack}");
    }
    assert_eq!(read("[\u{0}").err(), Some(ReadError::Json(JsonError::Syntax)));
    assert_eq!(json::PackReader::new(b"[\xff]").err(), Some(ReadError::Json(JsonError::Utf8)));
}

#[test]
fn a_pack_that_does_not_fit_is_refused() {
    for room in 0..DEVICE_PACK.len() {
        let mut buffer = vec![0; room];
        let mut pack = json::PackWriter::new(&mut buffer, "urn:dev:mac:0212740000000001:");
        let written = (|| {
            pack.record("temperature", "Cel", Reading::Number(Decimal::new(214, -1)))?;
            pack.record("humidity", "%RH", Reading::Number(Decimal::new(431, -1)))?;
            pack.record("light", "lx", Reading::Number(Decimal::new(310, 0)))?;
            pack.finish()
        })();
        assert_eq!(written, Err(NoRoom), "{room}");
    }
    assert_eq!(json::PackWriter::new(&mut [0; 2], "base").finish(), Ok(2));
}

/// The pack of [RFC 8428 section 6](https://www.rfc-editor.org/rfc/rfc8428#section-6), figure 1.
const RFC_8428_CBOR: &str = "87a721781b75726e3a6465763a6f773a313065323037336130313038303036\
    3a22fb41d303a15b00106223614120050067766f6c7461676501615602fb405e066666666666a3006763757272656e740624\
    02fb3ff3333333333333a3006763757272656e74062302fb3ff4cccccccccccda3006763757272656e74062202fb3ff66666\
    66666666a3006763757272656e74062102f93e00a3006763757272656e74062002fb3ff999999999999aa300676375727265\
    6e74060002fb3ffb333333333333";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn the_cbor_pack_of_rfc_8428_means_what_its_json_pack_means() {
    let json = r#"[
        {"bn":"urn:dev:ow:10e2073a0108006:","bt":1.276020076001e+09,"bu":"A","bver":5,"n":"voltage","u":"V","v":120.1},
        {"n":"current","t":-5,"v":1.2},
        {"n":"current","t":-4,"v":1.3},
        {"n":"current","t":-3,"v":1.4},
        {"n":"current","t":-2,"v":1.5},
        {"n":"current","t":-1,"v":1.6},
        {"n":"current","t":0,"v":1.7}
    ]"#;
    let rows = read_cbor(&bytes(RFC_8428_CBOR)).unwrap();
    assert_eq!(rows.len(), 7);
    assert_eq!(rows, read(json).unwrap());
}

#[test]
fn a_device_writes_its_readings_in_cbor_and_they_mean_the_same() {
    let mut buffer = [0; 200];
    let device = DeviceName::new(Eui64::of_node(1));
    let mut pack = cbor::PackWriter::new(&mut buffer, device.as_str());
    pack.record("temperature", "Cel", Reading::Number(Decimal::new(214, -1))).unwrap();
    pack.record("humidity", "%RH", Reading::Number(Decimal::new(431, -1))).unwrap();
    pack.record("light", "lx", Reading::Number(Decimal::new(310, 0))).unwrap();
    pack.record("open", "", Reading::Boolean(false)).unwrap();
    let len = pack.finish().unwrap();
    let expected = "84\
        a421781d75726e3a6465763a6d61633a303231323734303030303030303030313a\
        006b74656d706572617475726501634365 6c02c4822018d6\
        a3006868756d696469747901632552 4802c482201901af\
        a300656c6967687401626c780219 0136\
        a200646f70656e04f4";
    assert_eq!(buffer[..len], bytes(&expected.replace(' ', "")));
    let rows = read_cbor(&buffer[..len]).unwrap();
    assert_eq!(rows[..3], read(DEVICE_PACK).unwrap());
    assert_eq!(rows[3].2, Some(Owned::Boolean(false)));
}

/// A pack of one record `a` whose value is spelt so.
fn value(hex: &str) -> Result<f64, ReadError> {
    let pack = [bytes("81a200616102"), bytes(hex)].concat();
    match read_cbor(&pack)?.remove(0).2 {
        Some(Owned::Number(number)) => Ok(number),
        other => panic!("{other:?}"),
    }
}

/// [RFC 8949 appendix A](https://www.rfc-editor.org/rfc/rfc8949#appendix-A), as far as SenML has it.
#[test]
fn the_numbers_of_rfc_8949_are_read_as_they_are() {
    for (hex, expected) in [
        ("00", 0.0f64),
        ("1818", 24.0),
        ("1a000f4240", 1_000_000.0),
        ("1b000000e8d4a51000", 1_000_000_000_000.0),
        ("1bffffffffffffffff", 18_446_744_073_709_551_615.0),
        ("3863", -100.0),
        ("3903e7", -1000.0),
        ("3bffffffffffffffff", -18_446_744_073_709_551_616.0),
        ("3bfffffffffffffffe", -18_446_744_073_709_551_615.0),
        ("20", -1.0),
        ("29", -10.0),
        ("c482203bffffffffffffffff", -1_844_674_407_370_955_161.6),
        ("c482397fff01", 0.0),
        ("f90000", 0.0),
        ("f98000", -0.0),
        ("f93c00", 1.0),
        ("fb3ff199999999999a", 1.1),
        ("f97bff", 65504.0),
        ("fa47c35000", 100_000.0),
        ("fa7f7fffff", 3.402_823_466_385_288_6e38),
        ("fb7e37e43c8800759c", 1.0e300),
        ("f90001", 5.960_464_477_539_063e-8),
        ("f90400", 0.000_061_035_156_25),
        ("f9c400", -4.0),
        ("fbc010666666666666", -4.1),
        // A subnormal number of each size, and a decimal fraction.
        ("f983ff", -6.097_555_160_522_461e-5),
        ("fa00000001", 1.401_298_464_324_817e-45),
        ("fb0000000000000001", 5e-324),
        ("c48221196ab3", 273.15),
        ("c482390100387f", -128e-257),
    ] {
        assert_eq!(value(hex).map(f64::to_bits), Ok(expected.to_bits()), "{hex}");
    }
    for hex in [
        "f97c00",
        "f97e00",
        "faff800000",
        "fb7ff0000000000000",
        "c4821a0001000001",
        "c4823bffffffffffffffff01",
    ] {
        assert_eq!(value(hex), Err(ReadError::Cbor(CborError::Number)), "{hex}");
    }
}

#[test]
fn cbor_packs_may_have_lengths_without_end_and_fields_that_nobody_knows() {
    for hex in [
        "9fbf0061610201ffff",
        // Beside name and value: "x": [1, {2: h'03'}, (_ "p", "q"), 1(0), undefined, {_ 1: [_ ]}], 9: null, -7: 1.5
        "81a500616102016178 86 01 a1024103 7f61706171ff c100 f7 bf019fffff 09f6 26f93e00",
        // Labels beyond those of 8 bits: 2^64 - 1, -2^64, -129, -128.
        "81a60061610201 1bffffffffffffffff00 3bffffffffffffffff00 388000 387f00",
    ] {
        assert_eq!(read_cbor(&bytes(&hex.replace(' ', ""))).unwrap(), [row("a", "", 1.0, None)], "{hex}");
    }
    let data = read_cbor(&bytes("82a22161620843010203a10363c3a921")).unwrap();
    assert_eq!(data[0].2, Some(Owned::Bytes(vec![1, 2, 3])));
    assert_eq!(data[1].2, Some(Owned::Text("é!".into())));
    assert_eq!(read_cbor(&bytes("80")).unwrap(), []);
}

#[test]
fn bad_cbor_packs_are_refused_with_the_reason() {
    for (hex, error) in [
        ("", ReadError::Cbor(CborError::End)),
        ("a0", ReadError::Cbor(CborError::Type)),
        ("8100", ReadError::Cbor(CborError::Type)),
        ("81a2006161", ReadError::Cbor(CborError::End)),
        ("81a200616102", ReadError::Cbor(CborError::End)),
        ("81a20061610201 00", ReadError::Cbor(CborError::Trailing)),
        ("81a2006161021c", ReadError::Cbor(CborError::Syntax)),
        ("81a20061610261 31", ReadError::Cbor(CborError::Type)),
        ("81a2006161 0401", ReadError::Cbor(CborError::Type)),
        ("81a20061ff0201", ReadError::Cbor(CborError::Utf8)),
        ("81a2007f6161ff0201", ReadError::Cbor(CborError::Pieces)),
        ("81a2004161 0201", ReadError::Cbor(CborError::Type)),
        ("81a3006161020120 0b", ReadError::Version),
        ("81a300616102012020", ReadError::Cbor(CborError::Type)),
        ("82a30061610201 2005a2 2006 0201", ReadError::Version),
        ("82a200616102 01a3006161 02012005", ReadError::Version),
        ("81a1200b", ReadError::Version),
        ("81a120190100", ReadError::Version),
        ("81a12000", ReadError::Version),
        ("81a2216161 0663", ReadError::Cbor(CborError::Type)),
        ("81a22161610165", ReadError::Cbor(CborError::End)),
        ("81a2216161 0605", ReadError::Value),
        ("81a221616107 05", ReadError::Value),
        ("81a2216161 21 6162", ReadError::Duplicate),
        ("81a2216161 615f01", ReadError::Unknown),
        ("81a3006161006162 0201", ReadError::Duplicate),
        ("81a300616102010361 31", ReadError::Value),
        ("81a1006161", ReadError::Value),
        ("81a0", ReadError::Value),
        ("81a10201", ReadError::Name),
        ("81a2006120 0201", ReadError::Name),
        // "new_": 1, and the JSON label where the integer belongs.
        ("81a300616102 01646e65775f01", ReadError::Unknown),
        ("81a2616e61610201", ReadError::Name),
        // What is passed over has to be CBOR, too.
        ("81a300616102016178ff", ReadError::Cbor(CborError::Syntax)),
        ("81a300616102016178c1ff", ReadError::Cbor(CborError::Syntax)),
        ("81a300616102016178bf01ff", ReadError::Cbor(CborError::Syntax)),
        ("81a300616102016178f800", ReadError::Cbor(CborError::Syntax)),
        ("81a3006161020161789bffffffffffffffff", ReadError::Cbor(CborError::End)),
        ("81a300616102016178bbffffffffffffffff", ReadError::Cbor(CborError::End)),
    ] {
        assert_eq!(read_cbor(&bytes(&hex.replace(' ', ""))), Err(error), "{hex}");
    }
    let nested = |depth: usize| {
        let pack = [&bytes("81a300616102016178")[..], &vec![0x81; depth], &[0]].concat();
        read_cbor(&pack).map(|rows| rows.len())
    };
    assert_eq!(nested(16), Ok(1));
    assert_eq!(nested(17), Err(ReadError::Cbor(CborError::Depth)));
    assert_eq!(nested(100_000), Err(ReadError::Cbor(CborError::Depth)));
}

#[test]
fn a_cbor_pack_states_how_many_records_it_holds_however_many() {
    let mut buffer = vec![0; 2000];
    for records in [0, 1, 23, 24, 256] {
        let written = |buffer: &mut [u8]| {
            let mut pack = cbor::PackWriter::new(buffer, "");
            for _ in 0..records {
                pack.record("a", "", Reading::Number(Decimal::new(-1, 0)))?;
            }
            pack.finish()
        };
        let len = written(&mut buffer).unwrap();
        assert_eq!(read_cbor(&buffer[..len]).unwrap(), vec![row("a", "", -1.0, None); records]);
        for room in 0..len {
            assert_eq!(written(&mut buffer[..room]), Err(NoRoom), "{room}");
        }
    }
}

proptest! {
    #[test]
    fn written_packs_are_read_as_they_were_meant(
        base in "([a-z0-9][a-z0-9:/_.-]{0,8})?",
        records in prop::collection::vec(("[a-zA-Z0-9]{1,8}", "[a-zA-Z%/]{0,4}", any::<(i32, i8)>(), any::<String>(), 0..3u8), 0..5),
    ) {
        let mut expected = Vec::new();
        let mut readings = Vec::new();
        for (name, unit, (mantissa, exponent), string, kind) in &records {
            let (reading, value) = match kind {
                0 => (
                    Reading::Number(Decimal::new(*mantissa, *exponent)),
                    Owned::Number(format!("{mantissa}e{exponent}").parse().unwrap()),
                ),
                1 => (Reading::Text(string), Owned::Text(string.clone())),
                _ => (Reading::Boolean(*mantissa > 0), Owned::Boolean(*mantissa > 0)),
            };
            readings.push((name, unit, reading));
            let unit = (!unit.is_empty()).then(|| unit.clone());
            expected.push((format!("{base}{name}"), unit, Some(value), None, None));
        }
        let mut buffer = [0; 4000];
        let mut pack = json::PackWriter::new(&mut buffer, &base);
        for (name, unit, reading) in &readings {
            pack.record(name, unit, *reading).unwrap();
        }
        let len = pack.finish().unwrap();
        prop_assert_eq!(&read(std::str::from_utf8(&buffer[..len]).unwrap()).unwrap(), &expected);
        let mut pack = cbor::PackWriter::new(&mut buffer, &base);
        for (name, unit, reading) in &readings {
            pack.record(name, unit, *reading).unwrap();
        }
        let len = pack.finish().unwrap();
        prop_assert_eq!(&read_cbor(&buffer[..len]).unwrap(), &expected);
    }

    #[test]
    fn any_cbor_is_read_or_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), at in 0..195usize) {
        let mut spliced = self::bytes(RFC_8428_CBOR)[..at].to_vec();
        spliced.extend_from_slice(&bytes);
        let skipped = [&self::bytes("81a300616102016178")[..], &bytes].concat();
        for pack in [&bytes[..], &spliced, &skipped] {
            if let Ok(reader) = cbor::PackReader::new(pack) {
                prop_assert!(reader.count() <= pack.len() + 1);
            }
        }
    }

    #[test]
    fn whole_numbers_of_64_bits_are_read_as_they_are(number: u64) {
        let hex = format!("1b{number:016x}");
        prop_assert_eq!(value(&hex), Ok(number as f64));
        let negative = -1 - i128::from(number);
        prop_assert_eq!(value(&format!("3b{number:016x}")), Ok(negative as f64));
        let hex = format!("c482323b{number:016x}");
        prop_assert_eq!(value(&hex), Ok(format!("{negative}e-19").parse::<f64>().unwrap()));
        let hex = format!("c482321b{number:016x}");
        prop_assert_eq!(value(&hex), Ok(format!("{number}e-19").parse::<f64>().unwrap()));
    }

    #[test]
    fn floating_point_numbers_are_read_as_they_are(single: f32, double: f64) {
        let of = |hex: String| value(&hex).map(f64::to_bits).ok();
        let finite = |number: f64| number.is_finite().then(|| number.to_bits());
        prop_assert_eq!(of(format!("fa{:08x}", single.to_bits())), finite(single.into()));
        prop_assert_eq!(of(format!("fb{:016x}", double.to_bits())), finite(double));
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), at in 0..DEVICE_PACK.len()) {
        let mut spliced = DEVICE_PACK.as_bytes()[..at].to_vec();
        spliced.extend_from_slice(&bytes);
        for pack in [&bytes[..], &spliced] {
            if let Ok(reader) = json::PackReader::new(pack) {
                prop_assert!(reader.count() <= pack.len());
            }
        }
    }
}

#[test]
fn a_version_is_a_number_however_it_is_spelled() {
    for version in ["10", "10.0", "1e1", "1.0e1", "0.1e2", "100e-1", "1E+1"] {
        let pack = format!(r#"[{{"bver":{version},"n":"a","v":1}}]"#);
        assert_eq!(read(&pack).unwrap().len(), 1, "{version}");
    }
}
