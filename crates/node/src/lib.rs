//! A sensor node, as firmware runs it and the simulator drives it: an application that posts
//! SenML readings by confirmable CoAP, over DTLS or in the clear, through a 6LoWPAN interface, and tells
//! the latest reading to who asks.
//!
//! A driver owns radio, clock and sensors. It hands [`Node`] every received frame and the
//! outcome of every radio command, wakes it at [`RadioMachine::poll_timeout`] and
//! [`RadioMachine::poll_radio_timeout`], and after each call does what [`RadioMachine::poll_radio`] and
//! [`Node::poll_event`] say.
#![no_std]

mod actuators;
mod application;
mod asked_sensor;
mod channel;
mod config;
mod echo_server;
mod event;
mod measurement;
pub mod meter;
mod node;
mod schedule;
mod secured_readings;
mod sensor;
mod server;
mod service;
mod sessions;

pub use actuators::Commands;
pub use application::{Application, UnderWay};
pub use asked_sensor::AskedSensor;
pub use channel::{
    AnyChannel, Authenticator, Channel, ChannelEvent, DeviceSession, Dtls, DtlsPsk, DtlsPublicKey, KeyPair,
    Plain, PreShared,
};
pub use config::{
    Access, COAP_PORT, COAPS_PORT, Cloud, Config, DTLS_ECHO_PORT, ECHO_PORT, Identity, KeyRing, MAX_NAME,
    Resource, StartError, TooLong,
};
pub use echo_server::EchoServer;
pub use event::Event;
pub use measurement::Measurement;
pub use node::Node;
pub use sensor::Sensor;
pub use server::Server;
pub use service::{Readings, Service};
pub use sixlock_dtls::KeyLogEntry;
pub use sixlock_interface::{
    Backoff, Config as InterfaceConfig, Context, Csma, Datagram, Datagrams, DutyCycled, Format, ForwardError,
    FrameOutcome, Ghc, HEADERS, Interface, Layers, Link, LinkLayer, LinkSecurity, Listening, Lithe,
    MacConfig, MacOf, Neighbour, NetworkSecurity, Occupied, PayloadCompression, Payloads, RadioCommand,
    RadioMachine, Reassembler, Route, Router, Routes, Routing, Rules, SecurityGateway, SendError, Stack,
    Uplink, contikimac, ipsec, mac, rpl, security_level,
};
pub use sixlock_senml::{Decimal, DeviceName};
