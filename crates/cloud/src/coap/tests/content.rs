//! Formats, blocks and states of what devices get.

use super::*;
use sixlock_coap::Assembly;
use sixlock_coap_msg::Block;
use sixlock_store::ResourceChange;

/// A request with options besides its path and query.
fn request(
    code: Code,
    path: &str,
    query: &str,
    options: &[(OptionNumber, &[u8])],
    payload: &[u8],
) -> Request {
    let query = query.split('&').filter(|query| !query.is_empty());
    let path = path.split('/').map(|segment| (OptionNumber::URI_PATH, segment.as_bytes()));
    let query = query.map(|query| (OptionNumber::URI_QUERY, query.as_bytes()));
    let mut options: Vec<_> = path.chain(query).chain(options.iter().copied()).collect();
    options.sort_by_key(|(number, _)| *number);
    let mut datagram = [0; 2048];
    let mut builder = Builder::new(&mut datagram, Type::Confirmable, code, 1, b"tk").unwrap();
    for (number, value) in options {
        builder.option(number, value).unwrap();
    }
    let length = builder.finish_with(payload).unwrap();
    Request::read(&Message::parse(&datagram[..length]).unwrap(), usize::MAX)
}

impl Bench {
    async fn get(&self, path: &str, query: &str, options: &[(OptionNumber, &[u8])]) -> Answer {
        self.answer(self.secure(), request(Code::GET, path, query, options, b"")).await
    }

    async fn get_as(&self, path: &str, query: &str, format: u8) -> Answer {
        self.get(path, query, &[(OptionNumber::ACCEPT, &[format])]).await
    }

    async fn put(&self, state: &[(OptionNumber, &[u8])], payload: &str) -> Code {
        let put = request(Code::PUT, "resources", "", state, payload.as_bytes());
        self.answer(self.secure(), put).await.code
    }

    /// The id of a stream with two points.
    async fn stream(&self) -> i64 {
        let pack = r#"[{"n":"t","u":"Cel","v":20.5,"t":1700000000},{"n":"t","v":21,"t":1700000001.5}]"#;
        assert_eq!(
            self.ask(self.secure(), Code::POST, "resources/data", &[], pack).await.code,
            Code::CHANGED
        );
        self.devices.store.stream(self.own, "t").await.unwrap().unwrap().id.0
    }
}

#[tokio::test]
async fn longer_content_comes_in_blocks_of_one_state() {
    let bench = bench().await;
    let pack: Vec<String> = (0..60).map(|n| format!(r#"{{"n":"stream-{n}","u":"Cel","v":{n}}}"#)).collect();
    let pack = format!("[{}]", pack.join(","));
    assert_eq!(bench.ask(bench.secure(), Code::POST, "resources/data", &[], &pack).await.code, Code::CHANGED);
    for (path, id) in [("streams", "id"), ("resources/data", "stream")] {
        let first = bench.get(path, "", &[]).await;
        assert_eq!((first.code, first.payload.len()), (Code::CONTENT, LONGEST_PAYLOAD));
        let (mut assembly, mut answer) = (Assembly::new(), first.clone());
        let whole = loop {
            assert_eq!(answer.etag, first.etag);
            let block = answer.block2.unwrap();
            if let Some(whole) = assembly.take(block, &answer.payload, 65_536).unwrap() {
                break whole;
            }
            let next = Block::new(block.number() + 1, false, 6).unwrap().value() as u8;
            answer = bench.get(path, "", &[(OptionNumber::BLOCK2, &[next])]).await;
        };
        assert_eq!(first.size2, Some(whole.len() as u32));
        let list: Vec<serde_json::Value> = serde_json::from_slice(&whole).unwrap();
        assert_eq!(list.len(), 60, "{path}");
        assert!(list.is_sorted_by_key(|item| item[id].as_i64()), "{path}");
        let rest = bench.get(path, &format!("after={}", list[57][id]), &[]).await;
        let rest: Vec<serde_json::Value> = serde_json::from_slice(&rest.payload).unwrap();
        assert_eq!(rest, list[58..]);
    }
    assert_eq!(bench.get("streams", "", &[(OptionNumber::BLOCK2, &[0xf6])]).await.code, Code::BAD_REQUEST);
    assert_eq!(bench.get("streams", "", &[(OptionNumber::BLOCK2, &[0x07])]).await.code, Code::BAD_REQUEST);
}

#[test]
fn a_list_is_cut_to_what_fits() {
    let items = || vec![1, 22, 333, 4444];
    assert_eq!(super::super::content::page(items(), false, 8).unwrap(), [1, 22]);
    assert_eq!(super::super::content::page(items(), false, 6).unwrap(), [1, 22], "[1,22]");
    assert_eq!(super::super::content::page(items(), false, 5).unwrap(), [1]);
    assert_eq!(super::super::content::page(items(), true, 10).unwrap(), [333, 4444]);
    assert_eq!(super::super::content::page(items(), true, 3).unwrap(), [0; 0]);
}

#[tokio::test]
async fn content_that_is_there_already_is_confirmed_until_it_changes() {
    let bench = bench().await;
    let first = bench.get("resources", "", &[]).await;
    let etag = first.etag.unwrap();
    let states = [(OptionNumber::ETAG, &b"another"[..]), (OptionNumber::ETAG, &etag)];
    let same = bench.get("resources", "", &states).await;
    assert_eq!((same.code, same.etag, &*same.payload), (Code::VALID, Some(etag), &b""[..]));
    // The state is that of the thing: that it is written in another way makes no difference.
    assert_eq!(bench.get_as("resources", "", 60).await.etag, Some(etag));
    assert_eq!(bench.put(&[], r#"{"description":"new"}"#).await, Code::CHANGED);
    let changed = bench.get("resources", "", &states).await;
    assert_eq!(changed.code, Code::CONTENT);
    assert_ne!(changed.etag, Some(etag));
}

#[tokio::test]
async fn a_change_of_a_state_that_is_past_is_refused() {
    let bench = bench().await;
    let old = bench.get("resources", "", &[]).await.etag.unwrap();
    assert_eq!(bench.put(&[(OptionNumber::IF_MATCH, &old)], r#"{"description":"a"}"#).await, Code::CHANGED);
    let stale = [(OptionNumber::IF_MATCH, &old[..])];
    assert_eq!(bench.put(&stale, r#"{"description":"b"}"#).await, Code::PRECONDITION_FAILED);
    let any = [(OptionNumber::IF_MATCH, &old[..]), (OptionNumber::IF_MATCH, &b""[..])];
    assert_eq!(bench.put(&any, r#"{"description":"c"}"#).await, Code::CHANGED);
    assert_eq!(bench.put(&any, r#"{"label":"node-2"}"#).await, Code::CONFLICT);
    assert_eq!(bench.put(&[(OptionNumber::IF_NONE_MATCH, b"")], "{}").await, Code::PRECONDITION_FAILED);
    assert_eq!(bench.get("resources", "", &stale).await.code, Code::BAD_OPTION);

    let id = format!("id={}", bench.stream().await);
    let old = bench.get("streams", &id, &[]).await.etag.unwrap();
    for code in [Code::CHANGED, Code::PRECONDITION_FAILED] {
        let put = request(Code::PUT, "streams", &id, &[(OptionNumber::IF_MATCH, &old)], br#"{"unit":"K"}"#);
        assert_eq!(bench.answer(bench.secure(), put).await.code, code);
    }
}

#[tokio::test]
async fn a_change_by_another_between_look_and_change_is_not_overwritten() {
    let bench = bench().await;
    let store = &bench.devices.store;
    let seen = store.resource_by_id(bench.own).await.unwrap().unwrap();
    store
        .change_resource(
            bench.own,
            ResourceChange { description: Some("by another"), ..Default::default() },
            None,
        )
        .await
        .unwrap();
    let change = ResourceChange { description: Some("late"), ..Default::default() };
    let late = store.change_resource(bench.own, change, Some(&seen)).await;
    assert!(matches!(late, Err(crate::Error::Changed)), "{late:?}");
    assert_eq!(store.resource_by_id(bench.own).await.unwrap().unwrap().description, "by another");
}

#[tokio::test]
async fn points_come_in_every_format_that_is_asked_for() {
    const ARRIVAL: i64 = 1_700_000_002_000;
    let bench = bench().await;
    let id = format!("id={}", bench.stream().await);
    let points = async |format| bench.get_as("streams/data", &id, format).await;
    let text = |answer: &Answer| String::from_utf8(answer.payload.clone()).unwrap();

    let json = points(50).await;
    assert_eq!(text(&json), r#"[{"time":1700000000000,"value":20.5},{"time":1700000001500,"value":21.0}]"#);
    let senml = points(110).await;
    assert_eq!(
        text(&senml),
        r#"[{"n":"t","u":"Cel","v":20.5,"t":1700000000.0},{"n":"t","u":"Cel","v":21.0,"t":1700000001.5}]"#
    );
    assert_eq!(text(&points(0).await), "1700000000000 20.5 t\n1700000001500 21 t\n");
    // What the cloud says in SenML and CBOR, it understands.
    let expected =
        sixlock_ingest::read(sixlock_ingest::Format::SenmlJson, &senml.payload, &[], ARRIVAL).unwrap();
    assert_eq!((expected[1].time, expected[1].value.number()), (1_700_000_001_500, Some(21.0)));
    let packed = points(112).await;
    let read =
        sixlock_ingest::read(sixlock_ingest::Format::SenmlCbor, &packed.payload, &[], ARRIVAL).unwrap();
    assert_eq!(read, expected);
    assert!(packed.payload.len() < senml.payload.len());
    let cbor: serde_json::Value = ciborium::from_reader(&*points(60).await.payload).unwrap();
    assert_eq!(cbor, serde_json::from_slice::<serde_json::Value>(&json.payload).unwrap());

    assert_eq!(points(42).await.code, Code::NOT_ACCEPTABLE);
    assert_eq!(bench.get_as("streams", &id, 110).await.code, Code::NOT_ACCEPTABLE);
    assert_eq!(text(&bench.get_as("resources/data", "", 0).await), "1700000001500 21 t\n");
}

#[tokio::test]
async fn texts_and_truth_values_come_in_every_format_that_is_asked_for() {
    const ARRIVAL: i64 = 1_700_000_002_000;
    let bench = bench().await;
    let new = br#"{"label":"door","value_type":"boolean"}"#;
    let made = request(Code::POST, "streams", "", &[(OptionNumber::CONTENT_FORMAT, &[50])], new);
    let made = bench.answer(bench.secure(), made).await;
    let made: serde_json::Value = serde_json::from_slice(&made.payload).unwrap();
    assert_eq!(made["value_type"], "boolean");
    let pack = r#"[{"n":"door","vb":true,"t":1700000000},{"n":"display","vs":"\"é\" open","t":1700000000},
                   {"n":"door","v":1},{"n":"display","vs":"a\tb"}]"#;
    let stored = bench.ask(bench.secure(), Code::POST, "resources/data", &[], pack).await;
    assert_eq!(stored.code, Code::CHANGED);
    let text = |answer: &Answer| String::from_utf8(answer.payload.clone()).unwrap();
    assert_eq!(
        text(&stored),
        r#""door" takes true and false only (1 left out); 1 of "display" with control characters, or some that turn the direction of text"#
    );
    let display = bench.devices.store.stream(bench.own, "display").await.unwrap().unwrap().id.0;
    for (id, json, line, senml) in [
        (made["id"].as_i64().unwrap(), "true", "true", r#""vb":true"#),
        (display, r#""\"é\" open""#, r#""\"é\" open""#, r#""vs":"\"é\" open""#),
    ] {
        let label = if id == display { "display" } else { "door" };
        let points = async |format| bench.get_as("streams/data", &format!("id={id}"), format).await;
        assert_eq!(text(&points(50).await), format!(r#"[{{"time":1700000000000,"value":{json}}}]"#));
        assert_eq!(text(&points(0).await), format!("1700000000000 {line} {label}\n"));
        let in_senml = points(110).await;
        assert_eq!(text(&in_senml), format!(r#"[{{"n":"{label}",{senml},"t":1700000000.0}}]"#));
        // What the cloud says in SenML and CBOR, it understands.
        let read =
            |format, answer: &Answer| sixlock_ingest::read(format, &answer.payload, &[], ARRIVAL).unwrap();
        let expected = read(sixlock_ingest::Format::SenmlJson, &in_senml);
        assert_eq!(read(sixlock_ingest::Format::SenmlCbor, &points(112).await), expected);
        let cbor: serde_json::Value = ciborium::from_reader(&*points(60).await.payload).unwrap();
        assert_eq!(cbor, serde_json::from_slice::<serde_json::Value>(&points(50).await.payload).unwrap());
        let post = |payload: &'static [u8]| {
            let format = [(OptionNumber::CONTENT_FORMAT, &[50u8][..])];
            bench.answer(
                bench.secure(),
                request(Code::POST, "streams/data", &format!("id={id}"), &format, payload),
            )
        };
        assert_eq!(post(br#"{"value":12}"#).await.code, Code::CONFLICT);
        let taken: &[u8] = if id == display { br#"{"value":"shut"}"# } else { br#"{"value":false}"# };
        assert_eq!(post(taken).await.code, Code::CHANGED);
    }
    let all = text(&bench.get_as("resources/data", "", 50).await);
    assert!(all.contains(r#""value":false"#) && all.contains(r#""value":"shut""#), "{all}");
}

#[tokio::test]
async fn what_senml_cannot_say_is_not_said_in_it() {
    let bench = bench().await;
    for (label, time) in [("a b", 1_700_000_000_000i64), ("early", 10)] {
        let new = format!(r#"{{"label":"{label}"}}"#);
        let made =
            request(Code::POST, "streams", "", &[(OptionNumber::CONTENT_FORMAT, &[50])], new.as_bytes());
        let made = bench.answer(bench.secure(), made).await;
        let made: serde_json::Value = serde_json::from_slice(&made.payload).unwrap();
        let id = format!("id={}", made["id"]);
        let point = format!(r#"{{"value":1,"time":{time}}}"#);
        let format = [(OptionNumber::CONTENT_FORMAT, &[50u8][..])];
        let post = request(Code::POST, "streams/data", &id, &format, point.as_bytes());
        assert_eq!(bench.answer(bench.secure(), post).await.code, Code::CHANGED);
        assert_eq!(bench.get_as("streams/data", &id, 110).await.code, Code::NOT_ACCEPTABLE, "{label}");
        assert_eq!(bench.get_as("streams/data", &id, 60).await.code, Code::CONTENT, "{label}");
    }
}

#[tokio::test]
async fn what_is_written_may_be_cbor() {
    let bench = bench().await;
    let mut new = Vec::new();
    ciborium::into_writer(&serde_json::json!({"label": "c", "unit": "V"}), &mut new).unwrap();
    let cbor = [(OptionNumber::CONTENT_FORMAT, &[60u8][..]), (OptionNumber::ACCEPT, &[60])];
    let made = bench.answer(bench.secure(), request(Code::POST, "streams", "", &cbor, &new)).await;
    assert_eq!((made.code, made.format), (Code::CREATED, Some(ContentFormat::CBOR)));
    let made: serde_json::Value = ciborium::from_reader(&*made.payload).unwrap();
    assert_eq!(made["unit"], "V");
    let deep = [0x81; 1500];
    let deep = bench.answer(bench.secure(), request(Code::POST, "streams", "", &cbor, &deep)).await;
    assert_eq!(deep.code, Code::BAD_REQUEST);
}

#[tokio::test]
async fn whoever_asks_is_told_what_there_is() {
    let bench = bench().await;
    let core = async |query: &str, options: &[(OptionNumber, &[u8])]| {
        let get = request(Code::GET, ".well-known/core", query, options, b"");
        bench.answer(bench.plain(), get).await
    };
    let all = core("", &[]).await;
    assert_eq!((all.code, all.format), (Code::CONTENT, Some(ContentFormat::LINK_FORMAT)));
    let text = String::from_utf8(all.payload.clone()).unwrap();
    assert_eq!(text.split(',').count(), 5);
    assert!(text.starts_with("</users>;ct=\"50 60\","), "{text}");
    let some = core("ct=112&href=/streams*", &[]).await;
    assert_eq!(some.payload, b"</streams/data>;ct=\"50 60 110 112 0\";obs");
    assert_eq!(core("obs&href=/streams*", &[]).await.payload, some.payload);
    assert_eq!(core("obs", &[]).await.payload.split(|byte| *byte == b',').count(), 2);
    assert_eq!(core("rt=nothing", &[]).await.payload, b"");
    assert_eq!(core("", &[(OptionNumber::ACCEPT, &[40])]).await.code, Code::CONTENT);
    assert_eq!(core("", &[(OptionNumber::ACCEPT, &[50])]).await.code, Code::NOT_ACCEPTABLE);
    assert_eq!(core("", &[(OptionNumber::ETAG, &all.etag.unwrap())]).await.code, Code::VALID);
    let post = request(Code::POST, ".well-known/core", "", &[], b"x");
    assert_eq!(bench.answer(bench.plain(), post).await.code, Code::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn readings_that_come_in_blocks_are_stored_when_they_are_whole() {
    let bench = bench().await;
    let records: Vec<String> = (0..40).map(|n| format!(r#"{{"n":"s{}","v":{n}}}"#, n % 4)).collect();
    let pack = format!("[{}]", records.join(","));
    let post = async |peer: Peer, number: u32, more: bool, bytes: &[u8]| {
        let value = Block::new(number, more, 4).unwrap().value().to_be_bytes();
        let options = [(OptionNumber::BLOCK1, &value[1..]), (OptionNumber::REQUEST_TAG, &b"tag"[..])];
        bench.answer(peer, request(Code::POST, "resources/data", "", &options, bytes)).await
    };
    let blocks: Vec<&[u8]> = pack.as_bytes().chunks(256).collect();
    assert!(blocks.len() > 2);
    for (number, bytes) in blocks.iter().enumerate() {
        let more = number + 1 < blocks.len();
        let answer = post(bench.secure(), number as u32, more, bytes).await;
        let code = if more { Code::CONTINUE } else { Code::CHANGED };
        assert_eq!((answer.code, answer.block1), (code, Block::new(number as u32, more, 4)));
        assert_eq!(bench.points(bench.own).await, if more { 0 } else { 40 });
    }
    assert_eq!(post(bench.secure(), 1, true, blocks[1]).await.code, Code::REQUEST_ENTITY_INCOMPLETE);
    assert_eq!(post(bench.plain(), 0, true, blocks[0]).await.code, Code::UNAUTHORIZED, "nothing is kept");
    let long = [(OptionNumber::BLOCK1, &[0x0c][..]), (OptionNumber::SIZE1, &[1, 0, 1])];
    let long = bench.answer(bench.secure(), request(Code::POST, "resources/data", "", &long, blocks[0]));
    let long = long.await;
    assert_eq!((long.code, long.size1), (Code::REQUEST_ENTITY_TOO_LARGE, Some(65_536)));
    let get = bench.get("streams", "", &[(OptionNumber::BLOCK1, &[0x0c])]).await;
    assert_eq!(get.code, Code::BAD_OPTION);
}
