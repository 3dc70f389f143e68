use core::marker::PhantomData;

use crate::{Certificates, Extras, Named, RoundTrip, RoundTrips, Suite, WithTickets};

/// What a role can do beyond what every session needs. What it cannot is not linked; a [`Config`](crate::Config) that asks
/// for it asks in vain.
pub trait Profile {
    /// The only suite; none if [`Config::suites`](crate::Config::suites) says which.
    const SUITE: Option<Suite>;
    /// Records may carry connection ids.
    const CONNECTION_IDS: bool;
    /// Records may be shorter than the protocol allows.
    const RECORD_LIMITS: bool;
    /// Sessions may be resumed.
    const RESUMPTION: bool;
    /// What a client measures: [`RoundTrip`], or `()` if each flight's first wait is
    /// [`Config::initial_timeout`](crate::Config::initial_timeout). A server has but one flight whose answer it waits for, and
    /// measures nothing.
    type RoundTrip: RoundTrips;
    /// What handshakes have room for.
    type Extras: Extras;
}

/// All there is, for hosts. Keys are pre-shared unless `K` says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Full<K = ()>(PhantomData<K>);

impl<K: Extras> Profile for Full<K> {
    const SUITE: Option<Suite> = None;
    const CONNECTION_IDS: bool = true;
    const RECORD_LIMITS: bool = true;
    const RESUMPTION: bool = true;
    type RoundTrip = RoundTrip;
    type Extras = K;
}

/// With public keys: raw ones and those of certificates.
pub type Certified = Full<Certificates>;

/// As [`Certified`], with session tickets.
pub type Ticketed = Full<WithTickets<Certificates>>;

/// As [`Ticketed`], for a client that says by which name it knows its server.
pub type Naming = Full<Named<WithTickets<Certificates>>>;

/// What every device with such keys has, and no more: the suite of
/// [RFC 7925 section 4](https://www.rfc-editor.org/rfc/rfc7925#section-4) for them. Keys are pre-shared unless `K` says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Plain<K = ()>(PhantomData<K>);

impl<K: Extras> Profile for Plain<K> {
    const SUITE: Option<Suite> = Some(K::SUITE);
    const CONNECTION_IDS: bool = false;
    const RECORD_LIMITS: bool = false;
    const RESUMPTION: bool = false;
    type RoundTrip = ();
    type Extras = K;
}

/// As [`Plain`], and sessions are resumed, which saves a flight and bytes of the next handshake: for a device with one server.
#[derive(Clone, Copy, Debug)]
pub struct Resuming<K = ()>(PhantomData<K>);

impl<K: Extras> Profile for Resuming<K> {
    const SUITE: Option<Suite> = Some(K::SUITE);
    const CONNECTION_IDS: bool = false;
    const RECORD_LIMITS: bool = false;
    const RESUMPTION: bool = true;
    type RoundTrip = ();
    type Extras = K;
}
