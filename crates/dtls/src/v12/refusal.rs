//! Why something is refused that only DTLS 1.2 has.

#[cfg(target_pointer_width = "64")]
use sixlock_base::Counter;

use crate::reasons::reasons;

reasons! {
    /// Why a message of DTLS 1.2 is refused, and what only its hellos say.
    Refusal12 {
        DtlsMalformed:
            /// The HelloVerifyRequest does not parse, or its version is none of DTLS.
            HelloVerifyRequest = "hello-verify-request",
            /// The HelloVerifyRequest brings another cookie than the one taken up, or one too many.
            Cookie = "cookie",
            /// The renegotiation_info of the ServerHello is not empty, though nothing is renegotiated.
            ServerRenegotiationInfo = "server-renegotiation-info",
            /// The server resumes the session without the extended master secret.
            ResumedMasterSecret = "resumed-master-secret",
            /// The ServerKeyExchange does not parse, or its key is not of the group that was offered.
            ServerKeyExchange = "server-key-exchange",
            /// The signature in the ServerKeyExchange is not written as it must be, or by an algorithm that was not offered.
            ServerSignature = "server-signature",
            /// The ServerHelloDone is not empty.
            ServerHelloDone = "server-hello-done",
            /// The NewSessionTicket does not parse.
            NewSessionTicket = "new-session-ticket",
            /// The ClientKeyExchange does not parse.
            ClientKeyExchange = "client-key-exchange";
        DtlsHandshakesFailed:
            /// The renegotiation_info of the ClientHello is not empty, though nothing is renegotiated.
            RenegotiationInfo = "renegotiation-info",
            /// The extended_master_secret of the ClientHello is not empty.
            ExtendedMasterSecret = "extended-master-secret",
            /// The client wants to resume a session without the extended master secret.
            ResumptionUnbound = "resumption-unbound";
    }
}
