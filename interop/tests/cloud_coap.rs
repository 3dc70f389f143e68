//! The cloud's CoAP with clients of others: content in blocks both ways, its state, and what there is.

use std::fs;
use std::path::PathBuf;

use sixlock_base::Security;
use sixlock_cloud::{Config, Device, LONGEST_PAGE, Page, ResourceId, Running, Secret};
use sixlock_interop::{PATIENCE, Process};
use tempfile::TempDir;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const STREAMS: usize = 40;

struct Cloud {
    running: Running,
    directory: TempDir,
    resource: ResourceId,
}

impl Cloud {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = Config::on_loopback(directory.path());
        let config = Config { coap: Some(config.coaps), max_sessions: 100, ..config };
        let running = sixlock_cloud::start(config, None).await.unwrap();
        let key = Some(Secret::new(KEY.into()));
        let device = Device { label: "node".into(), mode: Security::default(), identity: None, key };
        let resource = running.enrol(device).await.unwrap().id;
        Self { running, directory, resource }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Readings of as many streams as do not fit a datagram, in a file.
    fn readings(&self) -> PathBuf {
        let records: Vec<String> =
            (0..STREAMS).map(|n| format!(r#"{{"n":"stream-{n:02}","u":"Cel","v":{n}.5}}"#)).collect();
        let file = self.file("readings");
        fs::write(&file, format!("[{}]", records.join(","))).unwrap();
        file
    }

    /// How many streams have a point, which has to be the one of the readings.
    async fn stored(&self) -> usize {
        let streams = self.running.store.streams(self.resource).await.unwrap();
        for (n, stream) in streams.iter().enumerate() {
            let page = Page { limit: LONGEST_PAGE, from: None, until: None };
            let points = self.running.store.points(stream.id, page).await.unwrap();
            assert_eq!(points.iter().map(|point| point.value).collect::<Vec<_>>(), [n as f64 + 0.5]);
        }
        streams.len()
    }

    /// What a client of libcoap, plain or over a library for DTLS, is told.
    async fn libcoap(&self, library: &str, arguments: &[&str], path: &str) -> String {
        let (uri, credentials) = match library {
            "notls" => {
                let address = self.running.coap.unwrap();
                let joint = if path.contains('?') { '&' } else { '?' };
                let key = format!("{joint}resource={0}&id={0}&key={KEY}", self.resource.0);
                (format!("coap://{address}/{path}{key}"), vec![])
            }
            _ => (format!("coaps://{}/{path}", self.running.coaps), vec!["-u", "node", "-k", KEY]),
        };
        let program = format!("coap-client-{library}");
        let arguments = [&credentials[..], &["-B", "20", "-v", "6"], arguments, &[&uri]].concat();
        let mut client = Process::start(&program, "libcoap3-bin", &arguments);
        let done = tokio::task::spawn_blocking(move || (client.succeeds(PATIENCE), client.output()));
        let (succeeded, output) = done.await.unwrap();
        assert!(succeeded, "{output}");
        output
    }

    async fn takes_and_gives_blocks(&self, library: &str) {
        let (readings, list) = (self.readings(), self.file("list"));
        let (readings, list) = (readings.to_str().unwrap(), list.to_str().unwrap());
        let post = ["-m", "post", "-t", "110", "-b", "128", "-f", readings];
        let output = self.libcoap(library, &post, "resources/data").await;
        assert_eq!(self.stored().await, STREAMS, "{output}");
        for size in ["1024", "64"] {
            let output = self.libcoap(library, &["-b", size, "-o", list], "resources/data").await;
            let text = fs::read_to_string(list).unwrap();
            assert_eq!(text.matches("stream-").count(), STREAMS, "{text} {output}");
            fs::remove_file(list).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_of_libcoap_are_put_together_and_the_clouds_by_libcoap() {
    Cloud::start().await.takes_and_gives_blocks("notls").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn so_they_are_over_dtls() {
    Cloud::start().await.takes_and_gives_blocks("openssl").await;
}
