//! Datagrams through real sockets and back.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_crypto::Soft;
use sixlock_gateway::{
    Config, Csma, Datagrams, Exit, FlowId, Gateway, Link, MacConfig, Route, Routes, Stack,
    Uplink as MeshUplink,
};
use sixlock_router::{Client, Clients, Inbound, Outbound, Services, Uplink, run};
use sixlock_testing::Rig;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn flows(n: usize) -> Vec<FlowId> {
    let mut rig = Rig::seeded(0);
    let mut cx = rig.cx();
    let config = Config {
        mac: MacConfig {
            address: Eui64::of_node(0),
            pan_id: 0xabcd,
            csma: Csma::default(),
            ack: true,
            security: None,
        },
        uplink: MeshUplink::External,
    };
    let mut gateway = Gateway::<Soft, Stack<Link<true, 2, 2>, Datagrams<256, 2>, Routes<[Route; 2]>>, 2>::new(
        &mut cx,
        &config,
        Exit::Flows,
    );
    (1..=n)
        .map(|id| {
            gateway.open(
                &mut cx,
                "fd00:c::1".parse().unwrap(),
                Eui64::of_node(id as u32).with_prefix(MESH_PREFIX),
                7,
            )
        })
        .collect()
}

/// The next datagram, waited for also if the process is stopped meanwhile.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> (usize, SocketAddr) {
    loop {
        match socket.recv_from(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => return received.unwrap(),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_flow_has_a_socket_of_its_own_and_gets_its_own_answers() {
    let cloud = UdpSocket::bind("127.0.0.1:0").unwrap();
    cloud.set_read_timeout(Some(PATIENCE)).unwrap();
    let uplink = Uplink { coap: None, coaps: cloud.local_addr().unwrap() };
    let (outbound, receiver) = tokio::sync::mpsc::channel(16);
    let (inbound, answers) = sync_channel(16);
    tokio::spawn(run(uplink, Services::bind(&[], None).await.unwrap(), None, receiver, inbound));

    let ids = flows(3);
    let send = |flow, port, payload: &[u8]| Outbound::Datagram { flow, port, payload: payload.to_vec() };
    outbound.send(send(ids[0], Uplink::COAP, b"no CoAP here")).await.unwrap();
    outbound.send(send(ids[0], Uplink::COAPS, b"first")).await.unwrap();
    outbound.send(send(ids[1], Uplink::COAPS, b"second")).await.unwrap();

    let mut buffer = [0; 64];
    let mut from = Vec::new();
    for expected in [&b"first"[..], b"second"] {
        let (len, peer) = receive(&cloud, &mut buffer);
        assert_eq!(&buffer[..len], expected);
        from.push(peer);
    }
    assert_ne!(from[0], from[1]);
    cloud.send_to(b"to the second", from[1]).unwrap();
    let answer = answers.recv_timeout(PATIENCE).unwrap();
    assert_eq!(answer, Inbound::Datagram { flow: ids[1], payload: b"to the second".to_vec() });

    // The gateway has room for two flows: the third took the place of one of them.
    outbound.send(send(ids[2], Uplink::COAPS, b"third")).await.unwrap();
    let (_, third) = receive(&cloud, &mut buffer);
    assert_ne!(third, from[ids[2].index()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn clients_ask_each_service_at_a_loopback_port_of_its_own() {
    let services = Services::bind(&[LOOPBACK; 2], None).await.unwrap();
    let addresses = services.addresses().unwrap();
    assert!(addresses.iter().all(|address| address.ip().is_loopback()));
    let uplink = Uplink { coap: None, coaps: ([127, 0, 0, 1], 9).into() };
    let (outbound, receiver) = tokio::sync::mpsc::channel(16);
    let (inbound, requests) = sync_channel(16);
    let router = tokio::spawn(run(uplink, services, None, receiver, inbound));

    let programs = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    for (n, program) in programs.iter().enumerate() {
        program.set_read_timeout(Some(PATIENCE)).unwrap();
        program.send_to(&[n as u8], addresses[1]).unwrap();
        let client = Client { service: 1, address: program.local_addr().unwrap() };
        let request = requests.recv_timeout(PATIENCE).unwrap();
        assert_eq!(request, Inbound::Request { client, payload: vec![n as u8] });
        outbound.send(Outbound::Answer { client, payload: vec![n as u8, 7] }).await.unwrap();
    }
    for (n, program) in programs.iter().enumerate() {
        let mut buffer = [0; 8];
        assert_eq!(receive(program, &mut buffer), (2, addresses[1]));
        assert_eq!(buffer[..2], [n as u8, 7]);
    }
    drop(outbound);
    router.await.unwrap();
    let ended = requests.recv_timeout(PATIENCE);
    assert_eq!(ended, Err(RecvTimeoutError::Disconnected), "its readers end with it");
}

#[test]
fn a_client_is_forgotten_with_its_flow() {
    let ids = flows(3);
    let client = |port| Client { service: 0, address: ([127, 0, 0, 1], port).into() };
    let mut clients = Clients::default();
    for (port, &id) in (0..).zip(&ids[..2]) {
        clients.insert(client(port), id);
        assert_eq!((clients.flow(client(port)), clients.client(id)), (Some(id), Some(client(port))));
    }
    // The gateway has room for two flows: the third took the place of one of them.
    assert_eq!(clients.client(ids[2]), None, "it may go to the cloud");
    clients.insert(client(2), ids[2]);
    let (gone, left) = if ids[2].index() == ids[0].index() { (0, 1) } else { (1, 0) };
    assert_eq!((clients.flow(client(gone)), clients.client(ids[gone as usize])), (None, None));
    let kept = ids[left as usize];
    assert_eq!((clients.flow(client(left)), clients.client(kept)), (Some(kept), Some(client(left))));
    assert_eq!(clients.client(ids[2]), Some(client(2)));
}
