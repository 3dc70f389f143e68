//! Why nobody is signed in by a provider, in words for the person and, where it is theirs to mend, for the operator.

use std::fmt;

/// Why an ID token is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadToken {
    /// It is no signed token, or longer than is read.
    Malformed,
    /// It is not signed, by an algorithm with a secret that both know, or by one that the provider does not name.
    Algorithm,
    /// Its header demands what is not understood here.
    Critical,
    /// The provider has no such key.
    UnknownKey,
    /// The signature is another's.
    Signature,
    /// It is of another issuer.
    Issuer,
    /// It is not for this cloud, or also for somebody else.
    Audience,
    /// It was issued to another client.
    AuthorizedParty,
    /// Its time is over.
    Expired,
    /// It was issued before the sign-in began, or in the future.
    IssuedAt,
    /// It belongs to another sign-in.
    Nonce,
    /// It does not say of whom it is, in 1 to 255 characters of ASCII.
    Subject,
}

impl BadToken {
    /// Each of them.
    #[cfg(test)]
    pub(super) const ALL: [Self; 12] = [
        Self::Malformed,
        Self::Algorithm,
        Self::Critical,
        Self::UnknownKey,
        Self::Signature,
        Self::Issuer,
        Self::Audience,
        Self::AuthorizedParty,
        Self::Expired,
        Self::IssuedAt,
        Self::Nonce,
        Self::Subject,
    ];

    /// What the record calls it.
    const fn code(self) -> &'static str {
        match self {
            Self::Malformed => "oidc_token_malformed",
            Self::Algorithm => "oidc_token_algorithm",
            Self::Critical => "oidc_token_critical",
            Self::UnknownKey => "oidc_token_key",
            Self::Signature => "oidc_token_signature",
            Self::Issuer => "oidc_token_issuer",
            Self::Audience => "oidc_token_audience",
            Self::AuthorizedParty => "oidc_token_party",
            Self::Expired => "oidc_token_expired",
            Self::IssuedAt => "oidc_token_issued_at",
            Self::Nonce => "oidc_token_nonce",
            Self::Subject => "oidc_token_subject",
        }
    }
}

impl fmt::Display for BadToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "it is not a signed token",
            Self::Algorithm => "it is not signed by an algorithm that is allowed",
            Self::Critical => "it demands an extension that is not known here",
            Self::UnknownKey => "the provider does not publish the key that it is signed by",
            Self::Signature => "its signature is wrong",
            Self::Issuer => "it is issued by somebody else",
            Self::Audience => "it is not for this cloud, or not for it alone",
            Self::AuthorizedParty => "it was issued to another client",
            Self::Expired => "it has expired",
            Self::IssuedAt => "it was not issued for this sign-in: its time is another",
            Self::Nonce => "it belongs to another sign-in",
            Self::Subject => "it does not say who you are",
        })
    }
}

/// Why nobody is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OidcFailure {
    /// The sign-in was not begun in this browser, or too long ago.
    State,
    /// It has been finished already.
    Replay,
    /// A link was asked for in another session than the one that confirms it.
    Session,
    /// The answer is of another provider than the one that was asked.
    Issuer,
    /// The provider says no; by this word.
    Denied(String),
    /// The provider takes the code no more, or it is none.
    Code,
    /// The token says what it should not.
    Token(BadToken),
    /// The provider cannot be asked, or its answers cannot be understood. The operator was told why.
    Provider,
    /// Too many sign-ins are being finished.
    Busy,
}

impl OidcFailure {
    /// What the record, and programs, call it.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::State => "oidc_state",
            Self::Replay => "oidc_replay",
            Self::Session => "oidc_session",
            Self::Issuer => "oidc_issuer",
            Self::Denied(_) => "oidc_denied",
            Self::Code => "oidc_code",
            Self::Token(bad) => bad.code(),
            Self::Provider => "oidc_provider",
            Self::Busy => "busy",
        }
    }
}

impl fmt::Display for OidcFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State => f.write_str("This sign-in was not begun in this browser, or too long ago."),
            Self::Replay => f.write_str("This sign-in was finished already."),
            Self::Session => {
                f.write_str("This link was not asked for in the session that is signed in here.")
            }
            Self::Issuer => {
                f.write_str("The answer comes from another provider than the one that was asked.")
            }
            Self::Denied(word) => write!(f, "The provider did not sign you in: {word}."),
            Self::Code => f.write_str("The provider takes the code of this sign-in no more."),
            Self::Token(bad) => write!(f, "The provider's ID token is not believed: {bad}."),
            Self::Provider => f.write_str("The provider cannot be asked at present."),
            Self::Busy => f.write_str("Too many people are signing in."),
        }
    }
}

impl From<BadToken> for OidcFailure {
    fn from(bad: BadToken) -> Self {
        Self::Token(bad)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_cause_has_a_word_of_its_own_in_the_record() {
        let codes: BTreeSet<_> = BadToken::ALL.iter().map(|bad| bad.code()).collect();
        assert_eq!(codes.len(), BadToken::ALL.len());
    }
}
