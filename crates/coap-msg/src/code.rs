/// The type of a message ([RFC 7252 section 4](https://www.rfc-editor.org/rfc/rfc7252#section-4)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// To be acknowledged.
    Confirmable,
    /// Not to be acknowledged.
    NonConfirmable,
    /// Acknowledges a confirmable message, and may carry a response.
    Acknowledgement,
    /// Rejects a message.
    Reset,
}

impl Type {
    pub(crate) const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Confirmable,
            1 => Self::NonConfirmable,
            2 => Self::Acknowledgement,
            _ => Self::Reset,
        }
    }
}

/// A method or response code, `class.detail`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u8);

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $class:literal, $detail:literal;)*) => {
        impl Code {
            $($(#[doc = $doc])* pub const $name: Self = Self($class << 5 | $detail);)*
        }
    };
}

codes! {
    /// 0.00: the code of an empty message.
    EMPTY = 0, 0;
    /// 0.01 GET.
    GET = 0, 1;
    /// 0.02 POST.
    POST = 0, 2;
    /// 0.03 PUT.
    PUT = 0, 3;
    /// 0.04 DELETE.
    DELETE = 0, 4;
    /// 0.05 FETCH (RFC 8132).
    FETCH = 0, 5;
    /// 0.06 PATCH (RFC 8132).
    PATCH = 0, 6;
    /// 0.07 iPATCH (RFC 8132).
    IPATCH = 0, 7;
    /// 2.01 Created.
    CREATED = 2, 1;
    /// 2.02 Deleted.
    DELETED = 2, 2;
    /// 2.03 Valid.
    VALID = 2, 3;
    /// 2.04 Changed.
    CHANGED = 2, 4;
    /// 2.05 Content.
    CONTENT = 2, 5;
    /// 2.31 Continue (RFC 7959).
    CONTINUE = 2, 31;
    /// 4.00 Bad Request.
    BAD_REQUEST = 4, 0;
    /// 4.01 Unauthorized.
    UNAUTHORIZED = 4, 1;
    /// 4.02 Bad Option.
    BAD_OPTION = 4, 2;
    /// 4.03 Forbidden.
    FORBIDDEN = 4, 3;
    /// 4.04 Not Found.
    NOT_FOUND = 4, 4;
    /// 4.05 Method Not Allowed.
    METHOD_NOT_ALLOWED = 4, 5;
    /// 4.06 Not Acceptable.
    NOT_ACCEPTABLE = 4, 6;
    /// 4.08 Request Entity Incomplete (RFC 7959).
    REQUEST_ENTITY_INCOMPLETE = 4, 8;
    /// 4.09 Conflict (RFC 8132).
    CONFLICT = 4, 9;
    /// 4.12 Precondition Failed.
    PRECONDITION_FAILED = 4, 12;
    /// 4.13 Request Entity Too Large.
    REQUEST_ENTITY_TOO_LARGE = 4, 13;
    /// 4.15 Unsupported Content-Format.
    UNSUPPORTED_CONTENT_FORMAT = 4, 15;
    /// 4.22 Unprocessable Entity (RFC 8132).
    UNPROCESSABLE_ENTITY = 4, 22;
    /// 4.29 Too Many Requests (RFC 8516).
    TOO_MANY_REQUESTS = 4, 29;
    /// 5.00 Internal Server Error.
    INTERNAL_SERVER_ERROR = 5, 0;
    /// 5.01 Not Implemented.
    NOT_IMPLEMENTED = 5, 1;
    /// 5.02 Bad Gateway.
    BAD_GATEWAY = 5, 2;
    /// 5.03 Service Unavailable.
    SERVICE_UNAVAILABLE = 5, 3;
    /// 5.04 Gateway Timeout.
    GATEWAY_TIMEOUT = 5, 4;
    /// 5.05 Proxying Not Supported.
    PROXYING_NOT_SUPPORTED = 5, 5;
}

impl Code {
    /// The digit before the dot.
    pub const fn class(self) -> u8 {
        self.0 >> 5
    }

    /// The two digits after the dot.
    pub const fn detail(self) -> u8 {
        self.0 & 0x1f
    }

    /// Whether this is a method.
    pub const fn is_request(self) -> bool {
        self.class() == 0 && self.detail() != 0
    }

    /// Whether this is a response code.
    pub const fn is_response(self) -> bool {
        matches!(self.class(), 2 | 4 | 5)
    }

    /// Whether this is a response code that says the request succeeded.
    pub const fn is_success(self) -> bool {
        self.class() == 2
    }

    /// Whether doing a request of this method twice has the effect of doing it once
    /// ([RFC 7252 section 5.1](https://www.rfc-editor.org/rfc/rfc7252#section-5.1)).
    pub const fn is_idempotent(self) -> bool {
        matches!(self, Self::GET | Self::PUT | Self::DELETE | Self::FETCH | Self::IPATCH)
    }
}
