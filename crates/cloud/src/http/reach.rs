//! Where the cloud listens, and how HTTP is reached.

use std::net::SocketAddr;

use serde::Serialize;
use utoipa::ToSchema;

use super::body_deadline::MinimumRate;
use super::trusted_proxies::TrustedProxies;

/// Where each server listens.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Endpoints {
    /// The HTTP API
    #[schema(value_type = String)]
    pub(crate) http: SocketAddr,
    /// CoAP without security, if it is switched on
    #[schema(value_type = Option<String>)]
    pub(crate) coap: Option<SocketAddr>,
    /// CoAP over DTLS
    #[schema(value_type = String)]
    pub(crate) coaps: SocketAddr,
}

/// From where, and by which names, HTTP is reached.
pub(crate) struct Reach {
    pub(crate) endpoints: Endpoints,
    /// Whether connections are TLS.
    pub(crate) tls: bool,
    /// Whether a proxy in front does TLS.
    pub(crate) behind_proxy: bool,
    /// Whether whoever reaches it may make an account.
    pub(crate) sign_up: bool,
    /// Names of this server beside those of loopback.
    pub(crate) hosts: Vec<String>,
    /// Proxies that say where requests come from.
    pub(crate) proxies: TrustedProxies,
    /// How slowly bodies of requests may come.
    pub(crate) sending: MinimumRate,
}
