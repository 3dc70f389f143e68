//! The packs of RFC 8428 and of this project, read and written.

use proptest::prelude::*;
use sixlock_base::Eui64;
use sixlock_senml::*;

#[derive(Debug, PartialEq)]
enum Owned {
    Number(f64),
    Text(String),
    Boolean(bool),
    Data(String),
}

type Row = (String, Option<String>, Option<Owned>, Option<f64>, Option<f64>);

fn text(text: Text<'_>) -> String {
    text.chars().collect()
}

/// Name, unit, value, sum and time of every record.
fn read(pack: &str) -> Result<Vec<Row>, ReadError> {
    PackReader::new(pack.as_bytes())?
        .map(|record| {
            let record = record?;
            let value = record.value.map(|value| match value {
                Value::Number(number) => Owned::Number(number.sum().unwrap()),
                Value::Text(string) => Owned::Text(text(string)),
                Value::Boolean(boolean) => Owned::Boolean(boolean),
                Value::Data(data) => Owned::Data(text(data)),
            });
            let number = |number: Number<'_>| number.sum::<f64>().unwrap();
            let name = record.name_chars().collect();
            Ok((name, record.unit.map(text), value, record.sum.map(number), record.time.map(number)))
        })
        .collect()
}

fn row(name: &str, unit: &str, value: f64, time: Option<f64>) -> Row {
    (name.into(), (!unit.is_empty()).then(|| unit.into()), Some(Owned::Number(value)), None, time)
}

const DEVICE_PACK: &str = r#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":21.4},{"n":"humidity","u":"%RH","v":43.1},{"n":"light","u":"lx","v":310}]"#;

#[test]
fn a_device_writes_its_readings_in_the_agreed_bytes_and_the_server_reads_them() {
    let mut buffer = [0; 200];
    let device = DeviceName::new(Eui64::of_node(1));
    let mut pack = PackWriter::new(&mut buffer, device.as_str());
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
    let first = PackReader::new(DEVICE_PACK.as_bytes()).unwrap().next().unwrap().unwrap();
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
            Owned::Data("aGkgCg".into())
        ]
    );
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
    assert_eq!(PackReader::new(b"[\xff]").err(), Some(ReadError::Json(JsonError::Utf8)));
}

#[test]
fn a_pack_that_does_not_fit_is_refused() {
    for room in 0..DEVICE_PACK.len() {
        let mut buffer = vec![0; room];
        let mut pack = PackWriter::new(&mut buffer, "urn:dev:mac:0212740000000001:");
        let written = (|| {
            pack.record("temperature", "Cel", Reading::Number(Decimal::new(214, -1)))?;
            pack.record("humidity", "%RH", Reading::Number(Decimal::new(431, -1)))?;
            pack.record("light", "lx", Reading::Number(Decimal::new(310, 0)))?;
            pack.finish()
        })();
        assert_eq!(written, Err(NoRoom), "{room}");
    }
    assert_eq!(PackWriter::new(&mut [0; 2], "base").finish(), Ok(2));
}

proptest! {
    #[test]
    fn written_packs_are_read_as_they_were_meant(
        base in "([a-z0-9][a-z0-9:/_.-]{0,8})?",
        records in prop::collection::vec(("[a-zA-Z0-9]{1,8}", "[a-zA-Z%/]{0,4}", any::<(i32, i8)>(), any::<String>(), 0..3u8), 0..5),
    ) {
        let mut buffer = [0; 4000];
        let mut pack = PackWriter::new(&mut buffer, &base);
        let mut expected = Vec::new();
        for (name, unit, (mantissa, exponent), string, kind) in &records {
            let (reading, value) = match kind {
                0 => (
                    Reading::Number(Decimal::new(*mantissa, *exponent)),
                    Owned::Number(format!("{mantissa}e{exponent}").parse().unwrap()),
                ),
                1 => (Reading::Text(string), Owned::Text(string.clone())),
                _ => (Reading::Boolean(*mantissa > 0), Owned::Boolean(*mantissa > 0)),
            };
            pack.record(name, unit, reading).unwrap();
            let unit = (!unit.is_empty()).then(|| unit.clone());
            expected.push((format!("{base}{name}"), unit, Some(value), None, None));
        }
        let len = pack.finish().unwrap();
        prop_assert_eq!(read(std::str::from_utf8(&buffer[..len]).unwrap()).unwrap(), expected);
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), at in 0..DEVICE_PACK.len()) {
        let mut spliced = DEVICE_PACK.as_bytes()[..at].to_vec();
        spliced.extend_from_slice(&bytes);
        for pack in [&bytes[..], &spliced] {
            if let Ok(reader) = PackReader::new(pack) {
                prop_assert!(reader.count() <= pack.len());
            }
        }
    }
}
