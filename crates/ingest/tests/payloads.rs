//! Payloads and what they mean.

use proptest::prelude::*;
use sixlock_ingest::*;

const ARRIVAL: i64 = 1_800_000_000_000;

fn specification(kind: Kind, stream: &str, expression: &str) -> Specification {
    let (label, stream, expression) = (stream.into(), stream.into(), expression.into());
    let value_type = ValueType::Number;
    Specification { label, kind, expression, stream, value_type, time: None, required: true }
}

fn typed(value_type: ValueType, mut specification: Specification) -> Specification {
    specification.value_type = value_type;
    specification
}

fn timed(mut specification: Specification, expression: Option<&str>, format: &str) -> Specification {
    let expression = expression.map(Into::into);
    specification.time = Some(TimeSpecification { expression, format: format.parse().unwrap() });
    specification
}

fn parsers(specifications: &[Specification]) -> Vec<Parser> {
    specifications.iter().map(|specification| Parser::new(specification).unwrap()).collect()
}

/// Streams, times and values.
fn with(
    format: Format,
    payload: &[u8],
    specifications: &[Specification],
) -> Result<Vec<(String, i64, Value)>, String> {
    let readings = read(format, payload, &parsers(specifications), ARRIVAL).map_err(|why| why.to_string())?;
    Ok(readings.into_iter().map(|reading| (reading.stream, reading.time, reading.value)).collect())
}

/// What a first payload is read as.
fn first(format: Format, payload: &[u8]) -> Result<Vec<(String, i64, Value)>, String> {
    let found = discover(format, payload).map_err(|why| why.to_string())?;
    with(format, payload, &found)
}

fn now(points: &[(&str, f64)]) -> Vec<(String, i64, Value)> {
    points.iter().map(|&(stream, value)| (stream.into(), ARRIVAL, value.into())).collect()
}

fn point(stream: &str, time: i64, value: impl Into<Value>) -> (String, i64, Value) {
    (stream.into(), time, value.into())
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn a_first_payload_makes_a_stream_of_every_number_in_it_and_of_what_is_true_or_false() {
    let payload =
        br#"{"id":"node 7","sensors":[{"temp":21.5},{"temp":-3e1,"a/b~c":1}],"on":true,"none":null}"#;
    let mut expected = vec![point("on", ARRIVAL, Value::Boolean(true))];
    expected.extend(now(&[("sensors/0/temp", 21.5), ("sensors/1/a~1b~0c", 1.0), ("sensors/1/temp", -30.0)]));
    assert_eq!(first(Format::Json, payload).unwrap(), expected);
    assert_eq!(first(Format::Json, b"21.5").unwrap(), now(&[("value", 21.5)]));
    assert_eq!(first(Format::Text, b" t = -2.15e1 C\r\n").unwrap(), now(&[("value", -21.5)]));
    // {"t": 21.5, 1: [2, 4([-1, 214])], "raw": h'0102'}
    let cbor = b"\xa3\x61t\xf9\x4d\x60\x01\x82\x02\xc4\x82\x20\x18\xd6\x63raw\x42\x01\x02";
    assert_eq!(first(Format::Cbor, cbor).unwrap(), now(&[("1/0", 2.0), ("1/1", 21.4), ("t", 21.5)]));
}

#[test]
fn what_is_true_or_false_at_first_keeps_nothing_else_from_being_read_later() {
    let found = discover(Format::Json, br#"{"alarm":false,"t":21}"#).unwrap();
    for (alarm, expected) in [("1.0", Value::Boolean(true)), ("0", Value::Boolean(false)), ("2", 2.0.into())]
    {
        let payload = format!(r#"{{"alarm":{alarm},"t":22}}"#);
        let mut read = with(Format::Json, payload.as_bytes(), &found).unwrap();
        read.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(read, [point("alarm", ARRIVAL, expected), point("t", ARRIVAL, Value::Number(22.0))]);
    }
}

#[test]
fn what_a_first_payload_shows_reads_the_next_one_also_when_a_number_is_missing() {
    let found = discover(Format::Json, br#"{"t":21.5,"battery":90}"#).unwrap();
    assert_eq!(with(Format::Json, br#"{"t":22}"#, &found).unwrap(), now(&[("t", 22.0)]));
    assert_eq!(with(Format::Json, br#"{"t":null,"battery":89}"#, &found).unwrap(), now(&[("battery", 89.0)]));
    let error = with(Format::Json, br#"{"humidity":40}"#, &found).unwrap_err();
    assert!(error.contains("\"battery\", \"t\""), "{error}");
}

#[test]
fn a_value_with_its_time_is_one_point() {
    let of_value = |time: i64, value: Value| vec![point("value", time, value)];
    for (payload, expected) in [
        (r#"{"value":21.5,"time":1700000000123}"#, of_value(1_700_000_000_123, 21.5.into())),
        (r#"{"time":1700000000,"value":21.5}"#, of_value(1_700_000_000_000, 21.5.into())),
        (r#"{"time":"2023-11-14T22:13:20Z","value":0}"#, of_value(1_700_000_000_000, 0.0.into())),
        (r#"{"time":1700000000,"value":false}"#, of_value(1_700_000_000_000, Value::Boolean(false))),
        (r#"{"time":1700000000,"value":"1"}"#, of_value(1_700_000_000_000, text("1"))),
    ] {
        assert_eq!(first(Format::Json, payload.as_bytes()).unwrap(), expected, "{payload}");
    }
    let points = br#"[{"value":1,"time":1700000000000},{"value":2,"time":1700000000000}]"#;
    let expected =
        [of_value(1_700_000_000_000, 1.0.into()), of_value(1_700_000_000_000, 2.0.into())].concat();
    assert_eq!(first(Format::Json, points).unwrap(), expected);
    // A time that is none is a number like others, and so is one beside other members.
    let other = br#"{"value":21.5,"time":1700000000,"battery":90}"#;
    assert_eq!(first(Format::Json, other).unwrap().len(), 3);
    let microseconds = br#"{"value":21.5,"time":1700000000000000}"#;
    assert_eq!(first(Format::Json, microseconds).unwrap().len(), 2);
}

#[test]
fn first_payloads_that_leave_it_open_what_is_meant_are_refused_with_the_reason() {
    let many = format!("[{}]", vec!["1"; 65].join(","));
    let long = format!(r#"{{"{}":1}}"#, "a".repeat(129));
    for (format, payload, why) in [
        (Format::Text, "12.5 and 3", "2 numbers"),
        (Format::Text, "on", "0 numbers"),
        (Format::Json, "{}", "no number"),
        (Format::Json, r#"{"state":"on"}"#, "no number"),
        (Format::Json, &many, "more than 64 numbers"),
        (Format::Json, &long, "longer than 128 bytes"),
        (Format::Json, r#"{"a\u0000b":1}"#, "characters that cannot be seen"),
        (Format::Json, r#"{"a":1"#, "not JSON"),
        (Format::Json, r#"{"a":1e999}"#, "not JSON"),
        (Format::Cbor, "\u{1}\u{1}", "more follows"),
        (Format::Cbor, "", "not CBOR"),
    ] {
        let error = first(format, payload.as_bytes()).unwrap_err();
        assert!(error.contains(why), "{payload}: {error}");
    }
}

#[test]
fn parsers_read_values_and_times_as_their_owner_says() {
    let payload = br#"{"at":"21.11.2026 16:45","data":[{"id":"t","v":"21.5"},{"id":"h","v":40}]}"#;
    let of = |id: &str| format!("$.data[?@.id=='{id}'].v");
    let by_path = [
        timed(specification(Kind::JsonPath, "temperature", &of("t")), Some("$.at"), "%d.%m.%Y %H:%M"),
        specification(Kind::JsonPath, "humidity", &of("h")),
    ];
    let expected = [point("temperature", 1_795_279_500_000, 21.5), point("humidity", ARRIVAL, 40.0)];
    assert_eq!(with(Format::Json, payload, &by_path).unwrap(), expected);

    let times = br#"{"v":[1,null,3],"t":[1700000000,1700000001,1700000002.5]}"#;
    let zipped = [timed(specification(Kind::JsonPath, "v", "$.v[*]"), Some("$.t[*]"), "unix-s")];
    let expected = [point("v", 1_700_000_000_000, 1.0), point("v", 1_700_000_002_500, 3.0)];
    assert_eq!(with(Format::Json, times, &zipped).unwrap(), expected);

    let text = b"2026-11-21T16:45:00Z t=21.5\n2026-11-21T16:46:00Z t=22\n";
    let by_group =
        [timed(specification(Kind::Regex, "t", r"(?<time>\S+Z) t=(?<value>\S+)"), None, "rfc3339")];
    let expected = [point("t", 1_795_279_500_000, 21.5), point("t", 1_795_279_560_000, 22.0)];
    assert_eq!(with(Format::Text, text, &by_group).unwrap(), expected);
    // Regular expressions read JSON as text, too.
    let both = [specification(Kind::Regex, "r", r#""h","v":(\d+)"#), by_path[1].clone()];
    assert_eq!(with(Format::Json, payload, &both).unwrap(), now(&[("r", 40.0), ("humidity", 40.0)]));
}

#[test]
fn a_parser_reads_values_as_the_type_that_it_states() {
    let json = |value_type, path| [typed(value_type, specification(Kind::JsonPath, "x", path))];
    let payload = br#"{"n":21.50,"one":1,"on":true,"spelled":" false ","state":"open","none":null}"#;
    for (value_type, path, expected) in [
        (ValueType::Text, "$.state", text("open")),
        (ValueType::Text, "$.spelled", text(" false ")),
        (ValueType::Text, "$.n", text("21.5")),
        (ValueType::Text, "$.on", text("true")),
        (ValueType::Boolean, "$.on", Value::Boolean(true)),
        (ValueType::Boolean, "$.one", Value::Boolean(true)),
        (ValueType::Boolean, "$.spelled", Value::Boolean(false)),
        (ValueType::Number, "$.on", Value::Number(1.0)),
        // A stream of truth values leaves it out.
        (ValueType::Boolean, "$.n", Value::Number(21.5)),
    ] {
        let read = with(Format::Json, payload, &json(value_type, path)).unwrap();
        assert_eq!(read, [point("x", ARRIVAL, expected)], "{path}");
    }
    for (value_type, path, why) in [
        (ValueType::Boolean, "$.state", "\"open\" is neither true nor false"),
        (ValueType::Number, "$.state", "\"open\" is not a number"),
        (ValueType::Text, "$", "object"),
        (ValueType::Text, "$.none", "finds nothing"),
    ] {
        let error = with(Format::Json, payload, &json(value_type, path)).unwrap_err();
        assert!(error.contains(why), "{path}: {error}");
    }
    let state = [typed(ValueType::Text, specification(Kind::Regex, "x", r"state=(.*)$"))];
    let read = with(Format::Text, b"state= =1+1", &state).unwrap();
    assert_eq!(read, [point("x", ARRIVAL, text(" =1+1"))]);
}

#[test]
fn a_payload_that_does_not_fit_a_parser_is_refused_whole_and_the_parser_named() {
    let json = |stream, path| specification(Kind::JsonPath, stream, path);
    let payload = br#"{"a":1,"b":{"c":"on"},"d":[1,2],"t":"noon"}"#;
    for (bad, why) in [
        (json("x", "$.x"), "finds nothing"),
        (json("x", "$.b"), "object"),
        (json("x", "$.d"), "array"),
        (json("x", "$.b.c"), "\"on\" is not a number"),
        (timed(json("x", "$.a"), Some("$.t"), "rfc3339"), "noon"),
        (timed(json("x", "$.a"), Some("$.b"), "rfc3339"), "neither text nor a number"),
        (timed(json("x", "$.d[*]"), Some("$.nothing"), "unix-s"), "0 times for 2 values"),
        (specification(Kind::Regex, "x", "z=(.)"), "finds nothing"),
        (specification(Kind::Regex, "x", "\"c\":(.*)"), "not a number"),
    ] {
        let error = with(Format::Json, payload, &[json("a", "$.a"), bad]).unwrap_err();
        assert!(error.contains("parser \"x\"") && error.contains(why), "{error}");
    }
    let error = with(Format::Text, b"21", &[json("a", "$.a")]).unwrap_err();
    assert!(error.contains("parser \"a\""), "{error}");
}

#[test]
fn what_would_take_too_long_is_refused() {
    let any = [specification(Kind::JsonPath, "x", "$..x")];
    let refused = |format, payload: &[u8]| with(format, payload, &any).unwrap_err();
    let nested = format!("{}1{}", r#"{"x":"#.repeat(17), "}".repeat(17));
    assert!(refused(Format::Json, nested.as_bytes()).contains("16 deep"));
    assert!(refused(Format::Json, "[".repeat(100_000).as_bytes()).contains("not JSON"));
    assert!(refused(Format::Cbor, &[0x81; 100_000]).contains("not CBOR"));
    let large = format!("[{}]", vec!["0"; 2048].join(","));
    assert!(refused(Format::Json, large.as_bytes()).contains("2048 values"));
    let many = [specification(Kind::JsonPath, "x", "$[*]")];
    let large = format!("[{}]", vec!["0"; 257].join(","));
    assert!(with(Format::Json, large.as_bytes(), &many).unwrap_err().contains("256 readings"));
    let text = [specification(Kind::Regex, "x", r"\d")];
    assert!(with(Format::Text, &[b'1'; 257], &text).unwrap_err().contains("256 readings"));
    assert!(with(Format::Text, &[b'1'; 4097], &text).unwrap_err().contains("4096 bytes"));
    let pack = format!("[{}]", vec![r#"{"n":"a","v":1}"#; 257].join(","));
    assert!(with(Format::SenmlJson, pack.as_bytes(), &[]).unwrap_err().contains("256 readings"));
}

#[test]
fn specifications_that_make_no_parser_are_refused_with_the_field_that_is_wrong() {
    let json = |path| specification(Kind::JsonPath, "x", path);
    let regex = |expression| specification(Kind::Regex, "x", expression);
    let without_path = |path| timed(json(path), None, "unix-s");
    for (bad, why) in [
        (json("x"), "expression: not a JSON path"),
        (regex("("), "expression: not a regular expression"),
        (without_path("$.x"), "time_expression: the path"),
        (timed(json("$.x"), Some("t"), "unix-s"), "time_expression: not a JSON path"),
        (timed(regex("(?<time>.)(.)"), Some("$.t"), "unix-s"), "time_expression: a regular expression"),
        (timed(regex("."), None, "unix-s"), "no group"),
        (regex("(?<time>.)(.)"), "time_format"),
        (Specification { stream: String::new(), ..json("$.x") }, "stream"),
        (Specification { stream: "a\n".into(), ..json("$.x") }, "stream"),
    ] {
        let error = Parser::new(&bad).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!("xpath".parse::<Kind>().is_err());
    assert_eq!("regex".parse(), Ok(Kind::Regex));
}

#[test]
fn senml_needs_no_parsers_and_says_what_is_a_number_a_text_or_a_truth_value() {
    let pack =
        r#"[{"bn":"urn:dev:mac:0212740000000001:","n":"t","u":"Cel","v":21.5},{"n":"open","vb":true},{"n":"s","vs":"é\"\u00e9"}]"#
            .as_bytes();
    let expected = [
        point("t", ARRIVAL, 21.5),
        point("open", ARRIVAL, Value::Boolean(true)),
        point("s", ARRIVAL, text("é\"é")),
    ];
    assert_eq!(discover(Format::SenmlJson, pack).unwrap(), []);
    assert_eq!(with(Format::SenmlJson, pack, &[]).unwrap(), expected);
    // The same in CBOR: [{-2: "urn:dev:mac:01:", 0: "t", 2: 4([-1, 215])}, {0: "open", 4: true}, {0: "s", 3: "é\"é"}]
    let cbor = b"\x83\xa3\x21\x6furn:dev:mac:01:\x00\x61t\x02\xc4\x82\x20\x18\xd7\xa2\x00\x64open\x04\xf5\xa2\x00\x61s\x03\x65\xc3\xa9\"\xc3\xa9";
    assert_eq!(with(Format::SenmlCbor, cbor, &[]).unwrap(), expected);
    for (pack, why) in [
        ("[]", "empty"),
        (r#"[{"n":"a","v":1},{"n":"b","vd":"AQ"}]"#, "bytes (vd)"),
        (r#"[{"n":"a","v":1},{"n":"b","s":1}]"#, "a sum (s) and no value"),
        (r#"[{"n":"a","v":1},{"n":"b","v":1e999}]"#, "too large"),
        (r#"[{"n":"a","v":1,"new_":1}]"#, "must be understood"),
        ("{", "not SenML JSON: it ends too early"),
        (r#"[{"n":"a","v":NaN}]"#, "not SenML JSON: a number is not written as"),
    ] {
        let error = with(Format::SenmlJson, pack.as_bytes(), &[]).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    for (pack, why) in [
        (&b"\x81\xa2\x00\x61a\x02\xf9\x7e\x00"[..], "not SenML CBOR: a number is not finite"),
        (b"\x81\xa1\x00\x01", "not SenML CBOR: an item is not of the type"),
        (b"\x81", "not SenML CBOR: it ends too early"),
    ] {
        let error = with(Format::SenmlCbor, pack, &[]).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn members_without_a_name_have_labels_of_their_own() {
    for (payload, expected) in [
        (r#"{"":[5],"0":6}"#, [("//0", 5.0), ("0", 6.0)]),
        (r#"{"":5,"value":6}"#, [("/", 5.0), ("value", 6.0)]),
        (r#"{"":{"":5},"/":6}"#, [("//", 5.0), ("~1", 6.0)]),
    ] {
        let readings = first(Format::Json, payload.as_bytes()).unwrap();
        let labels: Vec<_> =
            readings.iter().map(|reading| (reading.0.as_str(), reading.2.number().unwrap())).collect();
        assert_eq!(labels, expected, "{payload}");
    }
}

/// A name that can be that of a stream, also an empty one: paths hold others as well.
fn name() -> impl Strategy<Value = String> {
    "\\PC{0,6}"
        .prop_filter("characters that cannot be seen", |name: &String| is_stream_label(&format!("a{name}")))
}

/// Any JSON value that is not too deep.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-z0-9.]{0,5}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(name(), inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Number(number) => vec![number.as_f64().unwrap()],
        serde_json::Value::Bool(value) => vec![f64::from(u8::from(*value))],
        serde_json::Value::Array(items) => items.iter().flat_map(numbers).collect(),
        serde_json::Value::Object(members) => members.values().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

proptest! {
    #[test]
    fn every_number_of_a_first_payload_becomes_a_reading_of_its_own(tree in json()) {
        let payload = tree.to_string();
        let mut expected = numbers(&tree);
        match first(Format::Json, payload.as_bytes()) {
            Ok(readings) => {
                let labels: std::collections::BTreeSet<_> = readings.iter().map(|reading| &reading.0).collect();
                prop_assert_eq!(labels.len(), readings.len());
                let mut values: Vec<f64> = readings.iter().map(|reading| reading.2.number().unwrap()).collect();
                values.sort_by(f64::total_cmp);
                expected.sort_by(f64::total_cmp);
                prop_assert_eq!(values, expected);
            }
            Err(why) => prop_assert!(expected.is_empty() || expected.len() > MOST_PARSERS, "{}: {}", payload, why),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(payload in prop::collection::vec(any::<u8>(), 0..64), text: String) {
        let specifications = [
            specification(Kind::JsonPath, "a", "$..[?@ > 1]"),
            timed(specification(Kind::JsonPath, "b", "$[*].value"), Some("$[*].time"), "unix-ms"),
            timed(specification(Kind::Regex, "c", r"(?<time>\d+) (.*)"), None, "%Y%m%d"),
        ];
        for format in [Format::SenmlJson, Format::SenmlCbor, Format::Json, Format::Cbor, Format::Text] {
            for payload in [&payload[..], text.as_bytes()] {
                let _ = first(format, payload);
                let _ = with(format, payload, &specifications);
            }
        }
    }
}

#[test]
fn a_time_more_than_a_day_ahead_is_refused_with_a_reason_whatever_says_it() {
    const DAY: i64 = 86_400_000;
    let path = timed(specification(Kind::JsonPath, "t", "$.t"), Some("$.at"), "unix-ms");
    let pattern = timed(specification(Kind::Regex, "t", r"(?<value>\d+) at (?<time>\d+)"), None, "unix-ms");
    let payloads = |time: i64| {
        let cbor = [b"\x81\xa3\x00\x61t\x02\x01\x06\xfb", &(time as f64 / 1e3).to_be_bytes()[..]].concat();
        [
            (
                Format::SenmlJson,
                format!(r#"[{{"n":"t","v":1,"t":{}}}]"#, time as f64 / 1e3).into_bytes(),
                vec![],
            ),
            (Format::SenmlCbor, cbor, vec![]),
            (Format::Json, format!(r#"{{"t":1,"at":{time}}}"#).into_bytes(), vec![path.clone()]),
            (Format::Text, format!("1 at {time}").into_bytes(), vec![pattern.clone()]),
        ]
    };
    for (format, payload, parsers) in payloads(ARRIVAL + DAY) {
        let readings = with(format, &payload, &parsers);
        assert_eq!(readings, Ok(vec![point("t", ARRIVAL + DAY, 1.0)]), "{format:?}");
    }
    for (format, payload, parsers) in payloads(ARRIVAL + DAY + 1000) {
        let refused = with(format, &payload, &parsers).unwrap_err();
        assert!(refused.contains("2027-01-16T08:00:01Z"), "{refused}");
        assert!(refused.contains("more than 24 hours ahead"), "{refused}");
    }
    // Relative times of SenML count from arrival.
    let ahead = |seconds: i64| format!(r#"[{{"n":"t","v":1,"t":{seconds}}}]"#);
    assert!(with(Format::SenmlJson, ahead(86_400).as_bytes(), &[]).is_ok());
    assert!(with(Format::SenmlJson, ahead(86_401).as_bytes(), &[]).is_err());
    // One of many is enough.
    let pack = br#"[{"n":"a","v":1},{"n":"b","v":1,"t":99999999999}]"#;
    let refused = with(Format::SenmlJson, pack, &[]).unwrap_err();
    assert!(refused.starts_with("b: its time, 5138-11-16T09:46:39Z"), "{refused}");
}
