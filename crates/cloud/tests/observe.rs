//! Observers over plain CoAP: what they are told, and when no more.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use sixlock_cloud::{Config, Device, ResourceId, Running, Secret};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};
use sixlock_store::{Computation, InputReference};
use tempfile::TempDir;

const KEY: &str = "0123456789abcdef";
/// How often a socket waits a tenth of a second before a test fails.
const WAITS: usize = 1200;

struct Cloud {
    running: Running,
    _directory: TempDir,
    resource: ResourceId,
}

async fn start() -> Cloud {
    let directory = tempfile::tempdir().unwrap();
    let config = Config::on_loopback(directory.path());
    let config = Config { coap: Some(config.coaps), max_sessions: 10, ..config };
    let running = sixlock_cloud::start(config, None).await.unwrap();
    let key = Some(Secret::new(KEY.into()));
    let device = Device { key, ..Device::named("node") };
    let resource = running.enrol(device).await.unwrap().resource.id;
    Cloud { running, _directory: directory, resource }
}

struct Client {
    socket: UdpSocket,
    resource: ResourceId,
    id: u16,
    token: [u8; 4],
    /// The id of the last separate response.
    separate: Option<u16>,
}

/// A message that was received.
struct Received(Vec<u8>);

impl Received {
    fn message(&self) -> Message<'_> {
        Message::parse(&self.0).unwrap()
    }

    fn number(&self, option: OptionNumber) -> Option<u32> {
        self.message().value(option).and_then(|value| value.uint())
    }

    fn bytes(&self, option: OptionNumber) -> Option<Vec<u8>> {
        self.message().value(option).map(|value| value.value.to_vec())
    }

    fn text(&self) -> String {
        String::from_utf8(self.message().payload().to_vec()).unwrap()
    }
}

impl Client {
    fn new(address: SocketAddr, resource: ResourceId) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Self { socket, resource, id: 0, token: *b"seen", separate: None }
    }

    /// Asks until it is answered; notifications that come meanwhile are not looked at.
    fn ask(
        &mut self,
        code: Code,
        path: &str,
        query: &str,
        options: &[(OptionNumber, &[u8])],
        payload: &str,
    ) -> Received {
        self.id += 1;
        let query = match path {
            ".well-known/core" => String::new(),
            _ => format!("resource={}&key={KEY}&{query}", self.resource.0),
        };
        let path = path.split('/').map(|segment| (OptionNumber::URI_PATH, segment.as_bytes()));
        let query = query.split('&').filter(|query| !query.is_empty());
        let query = query.map(|query| (OptionNumber::URI_QUERY, query.as_bytes()));
        let mut options: Vec<_> = path.chain(query).chain(options.iter().copied()).collect();
        options.sort_by_key(|(number, _)| *number);
        let mut request = [0; 512];
        let mut builder = Builder::new(&mut request, Type::Confirmable, code, self.id, &self.token).unwrap();
        for (number, value) in options {
            builder.option(number, value).unwrap();
        }
        let length = builder.finish_with(payload.as_bytes()).unwrap();
        for wait in 0..WAITS {
            if wait % 10 == 0 {
                self.socket.send(&request[..length]).unwrap();
            }
            let Some(answer) = self.receive() else { continue };
            let message = answer.message();
            match message.message_type() {
                Type::Acknowledgement if message.id() == self.id && message.code() != Code::EMPTY => {
                    return answer;
                }
                // What takes the cloud longer is answered separately, and again until it sees the acknowledgement.
                Type::Confirmable if answer.number(OptionNumber::OBSERVE).is_none() => {
                    self.socket.send(&empty(Type::Acknowledgement, message.id())).unwrap();
                    if self.separate.replace(message.id()) != Some(message.id()) {
                        return answer;
                    }
                }
                _ => {}
            }
        }
        panic!("no answer");
    }

    fn receive(&self) -> Option<Received> {
        let mut datagram = [0; 2048];
        let length = self.socket.recv(&mut datagram).ok()?;
        Some(Received(datagram[..length].to_vec()))
    }

    /// The next notification, which is answered by `answer`.
    fn notified(&self, answer: Type) -> Received {
        let other = (0..WAITS).find_map(|_| {
            self.receive().filter(|message| message.message().message_type() != Type::Acknowledgement)
        });
        let notification = other.expect("a notification");
        self.socket.send(&empty(answer, notification.message().id())).unwrap();
        notification
    }

    fn post(&mut self, value: u32) {
        let pack = format!(r#"[{{"n":"t","v":{value}}}]"#);
        let format = [(OptionNumber::CONTENT_FORMAT, &[110u8][..])];
        assert_eq!(
            self.ask(Code::POST, "resources/data", "", &format, &pack).message().code(),
            Code::CHANGED
        );
    }

    /// Observes the first stream there is, or ends that.
    fn observe(&mut self, register: bool) -> Received {
        self.observe_stream(1, register)
    }

    /// Observes a stream, or ends that.
    fn observe_stream(&mut self, stream: i64, register: bool) -> Received {
        let value: &[u8] = if register { &[] } else { &[1] };
        let options = [(OptionNumber::OBSERVE, value), (OptionNumber::ACCEPT, &[])];
        self.ask(Code::GET, "streams/data", &format!("id={stream}&limit=1"), &options, "")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_is_told_of_new_points_until_it_wants_no_more() {
    let cloud = start().await;
    let (address, resource) = (cloud.running.coap.unwrap(), cloud.resource);
    let clients = tokio::task::spawn_blocking(move || {
        let (mut device, mut observer) = (Client::new(address, resource), Client::new(address, resource));
        device.post(1);
        let first = observer.observe(true);
        assert_eq!(first.number(OptionNumber::OBSERVE), Some(0));
        assert!(first.text().ends_with(" 1 t\n"), "{}", first.text());
        let mut last = 0;
        for value in 2..4 {
            device.post(value);
            let notification = observer.notified(Type::Acknowledgement);
            assert!(notification.text().ends_with(&format!(" {value} t\n")), "{}", notification.text());
            assert_eq!(notification.message().token(), b"seen");
            let confirmable = notification.message().message_type() == Type::Confirmable;
            assert_eq!(confirmable, value == 2, "the first is to be acknowledged");
            let number = notification.number(OptionNumber::OBSERVE).unwrap();
            assert!(number > last);
            last = number;
        }
        // By now there may be one under way: it comes before the answer.
        assert_eq!(observer.observe(false).number(OptionNumber::OBSERVE), None);
        device.post(4);
        let begun = observer.observe(true);
        assert!(begun.text().ends_with(" 4 t\n"));
        device.post(5);
        assert!(observer.notified(Type::Reset).text().ends_with(" 5 t\n"));
        device.post(6);
        // Whoever rejects a notification gets no other: the next message is the answer to the next question.
        let asked = observer.ask(Code::GET, "users", "", &[], "");
        assert_eq!(asked.message().code(), Code::CONTENT);
        for _ in 0..50 {
            assert!(observer.receive().is_none(), "it does not observe any more");
        }
    });
    clients.await.unwrap();
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_that_may_not_read_is_told_so_and_no_more() {
    let cloud = start().await;
    let (address, resource) = (cloud.running.coap.unwrap(), cloud.resource);
    let client = tokio::task::spawn_blocking(move || {
        let mut client = Client::new(address, resource);
        let unknown = client.observe(true);
        assert_eq!(unknown.number(OptionNumber::OBSERVE), None);
        assert_eq!(unknown.message().code(), Code::UNAUTHORIZED, "there is no such stream yet");
        client.post(1);
        for n in 0..10u32 {
            // Eight observations of one peer are taken; the ninth is answered like any other question.
            client.token = n.to_be_bytes();
            let answer = client.observe(true);
            assert_eq!(answer.message().code(), Code::CONTENT);
            assert_eq!(answer.number(OptionNumber::OBSERVE).is_some(), n < 8, "{n}");
        }
    });
    client.await.unwrap();
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_goes_only_to_whoever_shows_where_it_is() {
    let cloud = start().await;
    let (address, resource) = (cloud.running.coap.unwrap(), cloud.resource);
    let clients = tokio::task::spawn_blocking(move || {
        let (mut client, mut other) = (Client::new(address, resource), Client::new(address, resource));
        let challenged = client.ask(Code::GET, ".well-known/core", "", &[], "");
        assert_eq!(challenged.message().code(), Code::UNAUTHORIZED);
        assert_eq!(challenged.message().payload(), b"repeat with Echo (RFC 9175)");
        let echo = challenged.bytes(OptionNumber::ECHO).unwrap();
        let again = [(OptionNumber::ECHO, &echo[..])];
        let refused = other.ask(Code::GET, ".well-known/core", "", &again, "");
        assert_eq!(refused.message().code(), Code::UNAUTHORIZED, "that was for another address");
        assert_ne!(refused.bytes(OptionNumber::ECHO), Some(echo.clone()));
        let shown = client.ask(Code::GET, ".well-known/core", "", &again, "");
        assert_eq!(shown.message().code(), Code::CONTENT);
        let later = client.ask(Code::GET, ".well-known/core", "", &[], "");
        assert_eq!(later.message().code(), Code::CONTENT, "it has shown that");
        // What is short is answered at once.
        assert_eq!(other.ask(Code::GET, "resources", "", &[], "").message().code(), Code::CONTENT);
    });
    clients.await.unwrap();
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_computed_stream_is_observed_as_any_other_and_takes_no_readings() {
    let cloud = start().await;
    let (address, resource) = (cloud.running.coap.unwrap(), cloud.resource);
    let post = move || Client::new(address, resource).post(1);
    tokio::task::spawn_blocking(post).await.unwrap();
    let store = &cloud.running.store;
    let owner = store.owner_of(resource).await.unwrap().unwrap();
    let t = InputReference { resource: None, stream: "t".into() };
    let (expression, time_zone) = ("t * 10".into(), "UTC".into());
    let computation = Computation { expression, time_zone, inputs: [("t".into(), t)].into() };
    let computed = store.add_computed_stream((owner.id, resource), ("ten", None, ""), &computation).await;
    let stream = computed.unwrap().stream.id;
    while store.computed_stream(stream).await.unwrap().unwrap().backfill.is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let clients = tokio::task::spawn_blocking(move || {
        let (mut device, mut observer) = (Client::new(address, resource), Client::new(address, resource));
        // The first client's messages had the same ids and tokens.
        (device.id, observer.id) = (100, 200);
        let first = observer.observe_stream(stream.0, true);
        assert!(first.text().ends_with(" 10 ten\n"), "{}", first.text());
        device.post(7);
        let notification = observer.notified(Type::Acknowledgement);
        assert!(notification.text().ends_with(" 70 ten\n"), "{}", notification.text());
        let format = [(OptionNumber::CONTENT_FORMAT, &[110u8][..])];
        let pack = r#"[{"n":"u","v":1},{"n":"ten","v":1}]"#;
        let refused = device.ask(Code::POST, "resources/data", "", &format, pack);
        assert_eq!(refused.message().code(), Code::BAD_REQUEST);
        assert_eq!(refused.text(), "a stream that is computed takes no readings");
        let query = format!("id={}&all=true", stream.0);
        let refused = device.ask(Code::DELETE, "streams/data", &query, &[], "");
        assert_eq!(refused.message().code(), Code::CONFLICT);
        assert!(refused.text().starts_with("this stream is computed"), "{}", refused.text());
    });
    clients.await.unwrap();
    assert_eq!(store.streams(resource).await.unwrap().len(), 2, "nothing of the post was stored");
    cloud.running.stop().await.unwrap();
}
