//! Keys whose look-up takes for ever, at a real cloud: the database is made to behave so.

#[allow(dead_code, reason = "of what a device can do, these do little")]
mod client;

use std::thread;

use client::Client;
use sixlock_cloud::{Config, Device, Secret};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Type};
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";
const SLOW: [&str; 3] = ["slow-1", "slow-2", "slow-3"];
/// How often each of the slow ones tries to connect; all of them together more often than there may be look-ups.
const TRIES: usize = 10;

fn post(value: f64) -> Vec<u8> {
    let mut datagram = [0; 256];
    let mut builder = Builder::new(&mut datagram, Type::Confirmable, Code::POST, 1, b"token").unwrap();
    builder.path(&["resources", "data"]).unwrap().content_format(ContentFormat::SENML_JSON).unwrap();
    let len = builder.finish_with(format!(r#"[{{"n":"t","v":{value}}}]"#).as_bytes()).unwrap();
    datagram[..len].to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn look_ups_that_never_end_hold_up_neither_sessions_nor_the_handshakes_of_others() {
    let directory = tempfile::tempdir().unwrap();
    let config = Config { max_sessions: 100, ..Config::on_loopback(directory.path()) };
    let cloud = sixlock_cloud::start(config, None).await.unwrap();
    for label in SLOW.into_iter().chain(["node-1", "node-2"]) {
        let key = Some(Secret::new(KEY.to_vec()));
        let device = Device { key, ..Device::named(label) };
        cloud.enrol(device).await.unwrap();
    }
    let coaps = cloud.coaps;
    let connect = move |identity: &'static str| Client::connect(coaps, identity, KEY);
    let mut open = spawn_blocking(move || connect("node-1")).await.unwrap().unwrap();

    // Whoever looks a slow one up counts for ever.
    let database = rusqlite::Connection::open(directory.path().join("sixlock.db")).unwrap();
    database
        .execute_batch(
            "ALTER TABLE credentials RENAME TO kept;
             CREATE VIEW credentials AS SELECT * FROM kept WHERE CASE WHEN identity LIKE 'slow-%' THEN
                 (WITH RECURSIVE n(i) AS (SELECT length(identity) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)
             ELSE 1 END;",
        )
        .unwrap();
    let given_up = spawn_blocking(move || {
        let tries = SLOW.into_iter().flat_map(|identity| [identity; TRIES]);
        let tries: Vec<_> = tries.map(|identity| thread::spawn(move || connect(identity).is_err())).collect();
        tries.into_iter().map(|tried| tried.join().unwrap()).filter(|given_up| *given_up).count()
    });
    assert_eq!(given_up.await.unwrap(), SLOW.len() * TRIES, "a slow look-up came to its end");

    let others = spawn_blocking(move || {
        let mut new = connect("node-2").expect("the handshake of another is held up");
        [&mut open, &mut new].map(|client| client.ask(&post(21.5)))
    });
    assert_eq!(others.await.unwrap(), [Some(Code::CHANGED); 2]);
}
