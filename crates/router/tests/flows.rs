//! Datagrams through real sockets and back.

use std::net::UdpSocket;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use sixlock_base::{Counters, Cx, Entropy, Eui64, Instant, Nv, NvError, NvSlot};
use sixlock_crypto::Soft;
use sixlock_gateway::{Config, Csma, FlowId, Gateway, Uplink as MeshUplink};
use sixlock_router::{Inbound, Outbound, Uplink, run};

struct Zeros;
impl Entropy for Zeros {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(0);
    }
}
impl Nv for Zeros {
    fn reserve(&mut self, _: NvSlot, _: u32) -> Result<u32, NvError> {
        Ok(0)
    }
}

fn flows(n: usize) -> Vec<FlowId> {
    let (mut crypto, mut entropy, mut nv, mut counters) = (Soft, Zeros, Zeros, Counters::new());
    let now = Instant::from_millis(0);
    let mut cx = Cx { now, crypto: &mut crypto, entropy: &mut entropy, nv: &mut nv, counters: &mut counters };
    let config = Config {
        address: Eui64::of_node(0),
        pan_id: 0xabcd,
        csma: Csma::default(),
        ack: true,
        security: None,
        uplink: MeshUplink::External,
        reassembly_timeout: sixlock_base::Duration::from_secs(8),
    };
    let mut gateway = Gateway::<Soft, 2, 2, 256, 2, 2, 2>::new(&mut cx, config);
    (1..=n)
        .map(|id| gateway.open(&mut cx, "fd00:c::1".parse().unwrap(), Eui64::of_node(id as u32), 7))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_flow_has_a_socket_of_its_own_and_gets_its_own_answers() {
    let cloud = UdpSocket::bind("127.0.0.1:0").unwrap();
    cloud.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let uplink = Uplink { coap: None, coaps: cloud.local_addr().unwrap() };
    let (outbound, receiver) = tokio::sync::mpsc::channel(16);
    let (inbound, answers) = sync_channel(16);
    tokio::spawn(run(uplink, receiver, inbound));

    let ids = flows(3);
    let send = |flow, port, payload: &[u8]| Outbound { flow, port, payload: payload.to_vec() };
    outbound.send(send(ids[0], Uplink::COAP, b"no CoAP here")).await.unwrap();
    outbound.send(send(ids[0], Uplink::COAPS, b"first")).await.unwrap();
    outbound.send(send(ids[1], Uplink::COAPS, b"second")).await.unwrap();

    let mut buffer = [0; 64];
    let mut from = Vec::new();
    for expected in [&b"first"[..], b"second"] {
        let (len, peer) = cloud.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..len], expected);
        from.push(peer);
    }
    assert_ne!(from[0], from[1]);
    cloud.send_to(b"to the second", from[1]).unwrap();
    let answer = answers.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(answer, Inbound { flow: ids[1], payload: b"to the second".to_vec() });

    // The gateway has room for two flows: the third took the place of one of them.
    outbound.send(send(ids[2], Uplink::COAPS, b"third")).await.unwrap();
    let (_, third) = cloud.recv_from(&mut buffer).unwrap();
    assert_ne!(third, from[ids[2].index()]);
}
