//! Counts of what happened. Where a protocol demands a silent drop, its counter is the trace.

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident = $label:literal,)*) => {
        /// Something that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Counter {
            $($(#[doc = $doc])* $name,)*
        }

        impl Counter {
            /// Every counter, in order.
            pub const ALL: &'static [Counter] = &[$(Counter::$name,)*];

            /// The counter's name in logs, metrics and reports.
            pub const fn name(self) -> &'static str {
                match self { $(Counter::$name => $label,)* }
            }
        }
    };
}

counters! {
    /// Frames put on the air, acknowledgements and retries included.
    FramesSent = "frames_sent",
    /// Bytes put on the air (MAC frames with FCS), acknowledgements and retries included.
    BytesSent = "bytes_sent",
    /// Frames sent again because no acknowledgement came.
    MacRetries = "mac_retries",
    /// Frames given up without an acknowledgement.
    MacNoAck = "mac_no_ack",
    /// Frames given up because the channel was never free.
    MacChannelBusy = "mac_channel_busy",
    /// Received frames that found no room in the radio, because the CPU had not yet taken those before.
    RadioReceiveFull = "radio_receive_full",
    /// Received frames that did not parse, had a bad FCS or a type that is not handled.
    MacMalformed = "mac_malformed",
    /// Received frames that repeat the last one of the same neighbour.
    MacDuplicate = "mac_duplicate",
    /// Received frames without the security that policy asks for.
    MacUnsecured = "mac_unsecured",
    /// Received frames whose MIC is wrong or whose key is unknown.
    MacBadMic = "mac_bad_mic",
    /// Received frames with a frame counter that is not fresh.
    MacReplayed = "mac_replayed",
    /// Frames dropped because the neighbour table is full.
    MacNeighboursFull = "mac_neighbours_full",
    /// Data requests without an answer because the table of sleeping neighbours is full.
    MacSleepersFull = "mac_sleepers_full",
    /// Frames not sent because no frame counter was left or its storage failed.
    MacCounterExhausted = "mac_counter_exhausted",
    /// 6LoWPAN payloads that did not parse.
    LowpanMalformed = "lowpan_malformed",
    /// Packets with AH or ESP dropped because of their sequence number only the last bits were carried, and those before
    /// are not known. The neighbour they came from was asked to say it whole.
    LowpanUnknownSequence = "lowpan_unknown_sequence",
    /// Neighbours' requests to say sequence numbers whole.
    LowpanWidened = "lowpan_widened",
    /// Datagrams dropped because the transmit pool is full.
    LowpanTransmitFull = "lowpan_transmit_full",
    /// Datagrams dropped because too many wait for neighbours which are asleep.
    LowpanHeldFull = "lowpan_held_full",
    /// Fragments dropped because every reassembly buffer is in use.
    LowpanReassemblyFull = "lowpan_reassembly_full",
    /// Reassemblies given up for time.
    LowpanReassemblyTimeout = "lowpan_reassembly_timeout",
    /// Reassemblies given up because fragments overlap or disagree.
    LowpanReassemblyConflict = "lowpan_reassembly_conflict",
    /// IPv6 packets that did not parse.
    Ipv6Malformed = "ipv6_malformed",
    /// Packets dropped because of an address that may not stand where it does.
    Ipv6BadAddress = "ipv6_bad_address",
    /// Packets dropped because of a header or option that is not handled.
    Ipv6Unsupported = "ipv6_unsupported",
    /// Packets dropped because they are longer than the next link carries.
    Ipv6TooBig = "ipv6_too_big",
    /// Packets forwarded.
    Ipv6Forwarded = "ipv6_forwarded",
    /// Packets dropped for want of a route.
    Ipv6NoRoute = "ipv6_no_route",
    /// Packets dropped because their hop limit ran out.
    Ipv6HopLimit = "ipv6_hop_limit",
    /// Fragments of packets dropped because every buffer is in use or too small; an older packet may have made room.
    Ipv6ReassemblyFull = "ipv6_reassembly_full",
    /// Packets given up because their fragments did not all come in time.
    Ipv6ReassemblyTimeout = "ipv6_reassembly_timeout",
    /// Packets given up because their fragments overlap, disagree, or are too many.
    Ipv6ReassemblyConflict = "ipv6_reassembly_conflict",
    /// Messages of neighbour discovery that did not parse, or were sent on by a router.
    NdMalformed = "nd_malformed",
    /// Messages of neighbour discovery that are refused: answers that were not asked for, what is out of date or for others, and addresses
    /// that may not be registered.
    NdRefused = "nd_refused",
    /// Messages of neighbour discovery for which a table has no room: registrations, routers, contexts, answers that wait.
    NdFull = "nd_full",
    /// Control messages of RPL that did not parse.
    RplMalformed = "rpl_malformed",
    /// Control messages of RPL that are refused: of another DODAG, out of date, or from who may not send them.
    RplRefused = "rpl_refused",
    /// Neighbours that RPL does not remember because its table is full of better ones.
    RplNeighboursFull = "rpl_neighbours_full",
    /// Routes that RPL refuses because its table is full.
    RplRoutesFull = "rpl_routes_full",
    /// Changes of the preferred parent, the first one among them.
    RplParentChanges = "rpl_parent_changes",
    /// Packets dropped because they went in the wrong direction twice.
    RplRankErrors = "rpl_rank_errors",
    /// UDP datagrams with a wrong checksum or length.
    UdpMalformed = "udp_malformed",
    /// UDP datagrams to a port nobody listens at, or that its echo does not answer.
    UdpNoPort = "udp_no_port",
    /// Packets for which the policy of IPsec demands that they are dropped, on their way out.
    IpsecDiscarded = "ipsec_discarded",
    /// Packets that could not be protected: no room, no sequence number left, a lifetime at its end.
    IpsecNotProtected = "ipsec_not_protected",
    /// Packets with AH or ESP that did not parse.
    IpsecMalformed = "ipsec_malformed",
    /// Packets with AH or ESP of no known security association.
    IpsecNoAssociation = "ipsec_no_association",
    /// Packets whose ICV is wrong.
    IpsecBadIcv = "ipsec_bad_icv",
    /// Packets whose sequence number is replayed or older than the window.
    IpsecReplayed = "ipsec_replayed",
    /// Packets under a security association whose lifetime is at its end.
    IpsecExpired = "ipsec_expired",
    /// Packets that came in without the protection that policy demands, or under that of others.
    IpsecPolicyViolated = "ipsec_policy_violated",
    /// Dummy packets, which ESP sends to hide how much there is to say.
    IpsecDummies = "ipsec_dummies",
    /// DTLS records that did not parse.
    DtlsMalformed = "dtls_malformed",
    /// DTLS records that do not authenticate.
    DtlsBadRecord = "dtls_bad_record",
    /// DTLS records that are replayed or older than the window.
    DtlsReplayed = "dtls_replayed",
    /// DTLS handshake fragments dropped because the one reassembly buffer is in use or too small.
    DtlsReassemblyFull = "dtls_reassembly_full",
    /// DTLS handshakes completed.
    DtlsHandshakes = "dtls_handshakes",
    /// DTLS handshakes among them that resumed an earlier session.
    DtlsResumptions = "dtls_resumptions",
    /// DTLS handshakes that failed or timed out.
    DtlsHandshakesFailed = "dtls_handshakes_failed",
    /// DTLS flights sent again.
    DtlsRetransmissions = "dtls_retransmissions",
    /// DTLS handshake messages that came again, as flights do when something of them or of their answer is lost.
    DtlsDuplicates = "dtls_duplicates",
    /// ClientHellos answered by a HelloVerifyRequest.
    DtlsCookiesSent = "dtls_cookies_sent",
    /// Handshakes refused because there is no room for them, or no time.
    DtlsSessionsFull = "dtls_sessions_full",
    /// DTLS sessions that nobody had used for long, closed to make room for a handshake.
    DtlsSessionsEvicted = "dtls_sessions_evicted",
    /// DTLS records for which there is no session.
    DtlsNoSession = "dtls_no_session",
    /// A client whose DTLS session has a connection id is heard from another address than before.
    DtlsAddressChanges = "dtls_address_changes",
    /// What was to be sent to a client at another address than before, and waited or was dropped because the client had not shown
    /// yet that it receives there.
    DtlsHeldBack = "dtls_held_back",
    /// CoAP messages that did not parse.
    CoapMalformed = "coap_malformed",
    /// CoAP messages sent again.
    CoapRetransmissions = "coap_retransmissions",
    /// CoAP exchanges given up without an answer.
    CoapTimeouts = "coap_timeouts",
    /// CoAP requests received again and answered from memory or not at all.
    CoapDuplicates = "coap_duplicates",
    /// CoAP requests dropped because all that a peer may have under way wait for their responses.
    CoapExchangesFull = "coap_exchanges_full",
    /// Readings handed to CoAP.
    ReadingsSent = "readings_sent",
    /// Readings whose acceptance the far end confirmed.
    ReadingsConfirmed = "readings_confirmed",
    /// Readings dropped because an earlier one was still under way.
    ReadingsSkipped = "readings_skipped",
    /// Packets for hosts outside the mesh that can leave in flows only, and carry no UDP datagram, or have extension headers that
    /// their host refuses.
    GatewayNotUdp = "gateway_not_udp",
    /// Upstream flows dropped to make room for newer ones.
    GatewayFlowsEvicted = "gateway_flows_evicted",
    /// Packets from a serial line that were longer than there is room for, or escaped wrongly.
    LineMalformed = "line_malformed",
}

/// The counts, all of them, wrapping.
#[derive(Clone, Debug)]
pub struct Counters([u32; Counter::ALL.len()]);

impl Counters {
    /// All zero.
    pub const fn new() -> Self {
        Self([0; Counter::ALL.len()])
    }

    /// Adds one to `counter`. It is called in many places, each of which it would lengthen.
    #[inline(never)]
    pub fn count(&mut self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Adds `n` to `counter`.
    pub fn add(&mut self, counter: Counter, n: u32) {
        let value = &mut self.0[counter as usize];
        *value = value.wrapping_add(n);
    }

    /// Adds each count of `others`.
    pub fn add_all(&mut self, others: &Self) {
        for (value, n) in self.0.iter_mut().zip(others.0) {
            *value = value.wrapping_add(n);
        }
    }

    /// Sets `counter` to zero.
    pub fn clear(&mut self, counter: Counter) {
        self.0[counter as usize] = 0;
    }

    /// The count of `counter`.
    pub fn get(&self, counter: Counter) -> u32 {
        self.0[counter as usize]
    }

    /// Every counter with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, u32)> + '_ {
        Counter::ALL.iter().map(|&counter| (counter, self.get(counter)))
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_counts_for_itself_and_has_a_name_of_its_own() {
        let mut counters = Counters::new();
        for (n, &counter) in Counter::ALL.iter().enumerate() {
            counters.add(counter, n as u32);
        }
        for (n, (counter, value)) in counters.iter().enumerate() {
            assert_eq!(value, n as u32);
            assert_eq!(Counter::ALL.iter().filter(|c| c.name() == counter.name()).count(), 1);
        }
    }

    #[test]
    fn counts_are_added_each_to_its_own_and_cleared_alone() {
        let (mut sum, mut others) = (Counters::new(), Counters::new());
        for (n, &counter) in (0..).zip(Counter::ALL) {
            sum.add(counter, u32::MAX);
            others.add(counter, n);
        }
        sum.add_all(&others);
        sum.clear(Counter::BytesSent);
        for (n, (counter, value)) in (0u32..).zip(sum.iter()) {
            let expected = if counter == Counter::BytesSent { 0 } else { n.wrapping_sub(1) };
            assert_eq!(value, expected, "{counter:?}");
        }
    }
}
