use core::marker::PhantomData;

use crate::{Certificates, FeatureSet, Features, RoundTrip, RoundTrips, SessionTickets, Suite};

/// What a role can do beyond what every session needs. What it cannot is not linked, and a [`Config`](crate::Config) that
/// asks for it is ignored.
pub trait Profile {
    /// The only suite; none if [`Config::suites`](crate::Config::suites) says which.
    const SUITE: Option<Suite>;
    /// Keys may be pre-shared.
    const PRE_SHARED_KEYS: bool = match Self::SUITE {
        Some(suite) => !suite.has_public_keys(),
        None => true,
    };
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
    /// What handshakes have memory for.
    type Features: FeatureSet;
}

/// All of it, for hosts. Keys are pre-shared unless `F` says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Full<F = Features>(PhantomData<F>);

impl<F: FeatureSet> Profile for Full<F> {
    const SUITE: Option<Suite> = None;
    const CONNECTION_IDS: bool = true;
    const RECORD_LIMITS: bool = true;
    const RESUMPTION: bool = true;
    type RoundTrip = RoundTrip;
    type Features = F;
}

/// With public keys: raw ones and those of certificates.
pub type Certified = Full<Features<Certificates>>;

/// As [`Certified`], with session tickets.
pub type Ticketed = Full<Features<Certificates, SessionTickets>>;

/// What every device with such keys has, and no more: the suite of
/// [RFC 7925 section 4](https://www.rfc-editor.org/rfc/rfc7925#section-4) for them. Keys are pre-shared unless `F` says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Plain<F = Features>(PhantomData<F>);

impl<F: FeatureSet> Profile for Plain<F> {
    const SUITE: Option<Suite> = Some(F::SUITE);
    const CONNECTION_IDS: bool = false;
    const RECORD_LIMITS: bool = false;
    const RESUMPTION: bool = false;
    type RoundTrip = ();
    type Features = F;
}

/// As [`Plain`], and sessions are resumed, which saves a flight and bytes of the next handshake: for a device with one server.
#[derive(Clone, Copy, Debug)]
pub struct Resuming<F = Features>(PhantomData<F>);

impl<F: FeatureSet> Profile for Resuming<F> {
    const SUITE: Option<Suite> = Some(F::SUITE);
    const CONNECTION_IDS: bool = false;
    const RECORD_LIMITS: bool = false;
    const RESUMPTION: bool = true;
    type RoundTrip = ();
    type Features = F;
}
