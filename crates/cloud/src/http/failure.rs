//! Answers that are not a success: `{"error":{"code","message","hint"}}`.

use axum::Json;
use axum::extract::rejection::{BytesRejection, JsonRejection, QueryRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sixlock_store::{BadDefinition, BadDevice};
use utoipa::ToSchema;

use super::plain_words::plain;
use super::recorded::AuditDetails;
use super::sign_in_backoff::Wait;
use crate::Error;

/// Why a request was not served.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Failure {
    #[serde(skip)]
    pub(super) status: StatusCode,
    /// The kind of failure, for programs.
    pub(super) code: &'static str,
    /// The fault, for people: a sentence.
    message: Box<str>,
    /// What to do.
    hint: &'static str,
    /// What went wrong inside: it is for the operator, not for the client.
    #[serde(skip)]
    fault: Option<Box<str>>,
    /// After how many seconds the same request may be answered otherwise.
    #[serde(skip)]
    retry_after_s: Option<u32>,
    /// Of devices that came together, those that were refused, and why.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<BadDevice>)]
    devices: Box<[BadDevice]>,
    /// Of rules and channels that came together, those that were refused, and why.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<BadDefinition>)]
    definitions: Box<[BadDefinition]>,
    /// Whether the record has a line of it already.
    #[serde(skip)]
    is_recorded: bool,
    /// The actions that were done before the request failed, for the record.
    #[serde(skip)]
    done: Option<Box<AuditDetails>>,
}

/// Beside an answer: why the client was refused, for the layer in front of the handlers to record.
#[derive(Clone)]
pub(super) struct Refusal(pub(super) &'static str);

/// Beside an answer: why it is no success, in words, for the layer in front of the handlers to tell.
#[derive(Clone)]
pub(super) struct Reason(pub(super) Box<str>);

/// Beside an answer: what went wrong inside, for the layer in front of the handlers to tell.
#[derive(Clone)]
pub(super) struct Fault(pub(super) String);

/// Every answer that is not a success.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct Body {
    error: Failure,
}

impl Failure {
    pub(super) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        let mut message = message.into();
        if !message.ends_with(['.', '!', '?']) {
            // Clients show the hint right after it.
            message.push('.');
        }
        Self {
            status,
            code,
            message: message.into(),
            hint,
            fault: None,
            retry_after_s: None,
            devices: Box::default(),
            definitions: Box::default(),
            is_recorded: false,
            done: None,
        }
    }

    /// The fault, for people.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// What to do.
    pub(super) const fn hint(&self) -> &'static str {
        self.hint
    }

    /// The same, of which the record has a line already.
    pub(super) fn recorded(self) -> Self {
        Self { is_recorded: true, ..self }
    }

    /// The same, before which this was done.
    pub(super) fn after(self, done: AuditDetails) -> Self {
        Self { done: Some(Box::new(done)), ..self }
    }

    pub(super) fn unauthenticated() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthenticated",
            "You are not signed in, or no longer.",
            "Sign in, or send Authorization: Bearer with a token.",
        )
    }

    pub(super) fn forbidden() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "This is not yours.",
            "Ask its owner or an administrator.",
        )
    }

    pub(super) fn no_sign_up() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "no_sign_up",
            "Nobody makes an account here for themselves.",
            "Ask an administrator for one; the operator allows it with --sign-up.",
        )
    }

    pub(super) fn unknown(what: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "unknown",
            format!("There is no such {what}."),
            "Check the spelling; ids and labels both do.",
        )
    }

    /// The same answer whether there is no such stream or it is not for whoever asks.
    pub(super) fn not_shared() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "unknown",
            "There is no such stream, or it is not shared with you.",
            "Ask its owner, who can make it public or give you a token for it.",
        )
    }

    pub(super) fn is_owners() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "This is for the owner of the device alone, not for those whom a group lets change it.",
            "Leave out what is the owner's: of a device label, mode and folder, of a stream whether it is public.",
        )
    }

    pub(super) fn ended_command() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "ended",
            "The command has ended.",
            "Read it to see how; to set the device again, give another command.",
        )
    }

    pub(super) fn method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method",
            "This path does not take this method.",
            "GET reads, POST adds, PUT changes and DELETE removes, where the path offers it.",
        )
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message, "Correct the request and send it again.")
    }

    pub(super) fn not_senml() -> Self {
        Self::new(
            StatusCode::NOT_ACCEPTABLE,
            "not_senml",
            "The label of the stream is no name of SenML, or one of these points is older than mid-1978.",
            "Ask for format=json or format=csv.",
        )
    }

    pub(super) fn media_type() -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "media_type",
            "No payload of this media type is understood.",
            sixlock_ingest::Format::OFFER,
        )
    }

    /// Asked for too often, or too much at the same time: 429.
    pub(super) fn too_many(
        code: &'static str,
        message: impl Into<String>,
        hint: &'static str,
        retry_after_s: u32,
    ) -> Self {
        let retry_after_s = Some(retry_after_s);
        Self { retry_after_s, ..Self::new(StatusCode::TOO_MANY_REQUESTS, code, message, hint) }
    }

    pub(super) fn too_large(longest: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("The body is longer than {longest} bytes."),
            "Send less, in more requests if need be.",
        )
    }

    pub(super) fn too_slow() -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            "The body came too slowly.",
            "Send all of it within 15 seconds, or at 4096 bytes a second.",
        )
    }

    /// The answer to somebody who has to wait: as `refused` says after how many seconds, or in a moment if other tries are under way.
    pub(super) fn wait(wait: Wait, refused: impl FnOnce(u32) -> Self) -> Self {
        match wait {
            Wait::Others => Self::busy(1),
            Wait::Seconds(wait_s) => refused(wait_s),
        }
    }

    pub(super) fn busy(retry_after_s: u32) -> Self {
        Self {
            retry_after_s: Some(retry_after_s),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                "There is too much to do.",
                "Try again in a moment.",
            )
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(mut self) -> Response {
        let (status, fault, retry_after_s) = (self.status, self.fault.take(), self.retry_after_s);
        let done = self.done.take();
        let refuses = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let refusal = (refuses && !self.is_recorded).then_some(Refusal(self.code));
        let reason = Reason(self.message.clone());
        let mut response = (status, Json(Body { error: self })).into_response();
        response.extensions_mut().insert(reason);
        if let Some(seconds) = retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(done) = done {
            response.extensions_mut().insert(*done);
        }
        if let Some(fault) = fault {
            response.extensions_mut().insert(Fault(fault.into_string()));
        }
        if let Some(refusal) = refusal {
            response.extensions_mut().insert(refusal);
        }
        if status == StatusCode::UNAUTHORIZED {
            // RFC 9110 section 15.5.2: a 401 says how to authenticate.
            let scheme = header::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Taken(_) => Self::new(
                StatusCode::CONFLICT,
                "taken",
                error.to_string(),
                "Labels are unique for their owner, identities and usernames in the whole cloud.",
            ),
            Error::KeyTaken => Self::new(
                StatusCode::CONFLICT,
                "taken",
                error.to_string(),
                "An administrator sees at /users/{user}/credentials which user has it.",
            ),
            Error::Full(_) => Self::new(
                StatusCode::CONFLICT,
                "full",
                error.to_string(),
                "Delete one that is not needed any more.",
            ),
            Error::Quota { .. } => Self::new(
                StatusCode::FORBIDDEN,
                "quota",
                error.to_string(),
                "GET /users/{user}/quotas tells what there may be, and is.",
            ),
            Error::PointsOfDay { again_ms, .. } => Self::too_many(
                "points_of_day",
                error.to_string(),
                "GET /users/{user}/quotas tells what there may be, and is.",
                again_s(again_ms),
            ),
            Error::Invalid(_)
            | Error::Payload(_)
            | Error::Parser(_)
            | Error::TimeFormat(_)
            | Error::UnknownInput { .. }
            | Error::TextInput { .. } => Self::invalid(error.to_string()),
            Error::Expression(_) => Self::new(
                StatusCode::BAD_REQUEST,
                "expression",
                error.to_string(),
                "Correct it and send it again; an example is mean(t, \"10m\") - outside.",
            ),
            Error::Cycle => Self::new(
                StatusCode::CONFLICT,
                "cycle",
                error.to_string(),
                "Choose inputs that are not computed from this stream.",
            ),
            Error::Computed => Self::new(
                StatusCode::CONFLICT,
                "computed",
                error.to_string(),
                "Delete the points of its inputs, or the computed stream.",
            ),
            Error::LeftOut(_) => Self::new(
                StatusCode::CONFLICT,
                "left_out",
                error.to_string(),
                "GET …/resources/{resource}/retention tells what is kept of each stream, and which are frozen.",
            ),
            Error::Count { .. } => Self::new(
                StatusCode::CONFLICT,
                "count",
                error.to_string(),
                "Look at them again, and send their number if they are meant.",
            ),
            Error::Discards { .. } | Error::DiscardsOfStreams(_) => Self::new(
                StatusCode::CONFLICT,
                "discards",
                error.to_string(),
                "Send it again with \"discard\": true if that is meant.",
            ),
            Error::Devices(devices) => Self {
                devices: devices.into(),
                ..Self::new(
                    StatusCode::CONFLICT,
                    "devices",
                    "None of these devices is enrolled, as some cannot be.",
                    "Correct those that are named and send all again.",
                )
            },
            Error::Definitions(definitions) => Self {
                definitions: definitions.into(),
                ..Self::new(
                    StatusCode::CONFLICT,
                    "definitions",
                    "All rules and channels stay as they were, as some of these cannot be.",
                    "Correct those that are named and send all again.",
                )
            },
            Error::PartlyDeleted { deleted, of, source } => {
                let failure = Self::from(*source);
                let message =
                    format!("{deleted} of {of} devices are deleted, the others are not. {}", failure.message);
                Self { message: message.into(), ..failure }
            }
            Error::Unknown(what) => Self::unknown(what),
            Error::Busy => Self::busy(2),
            // Its operator finds it in the log, a line a minute: not one for each request.
            Error::DiskFull(_) => Self {
                retry_after_s: Some(60),
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "disk_full",
                    "The disk of the cloud is full.",
                    "Try again later; its operator has to make room.",
                )
            },
            error => Self {
                fault: Some(error.to_string().into()),
                ..Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "internal",
                    "The cloud could not do this.",
                    "Its operator finds the reason in the log.",
                )
            },
        }
    }
}

/// In how many seconds the next day has begun for certain.
fn again_s(again_ms: i64) -> u32 {
    u32::try_from(again_ms / 1000 + 1).unwrap_or(u32::MAX)
}

impl From<JsonRejection> for Failure {
    fn from(rejection: JsonRejection) -> Self {
        Self { status: rejection.status(), ..Self::invalid(plain(&rejection.body_text())) }
    }
}

impl From<BytesRejection> for Failure {
    fn from(rejection: BytesRejection) -> Self {
        Self { status: rejection.status(), ..Self::invalid(rejection.body_text()) }
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        Self::invalid(rejection.body_text())
    }
}
