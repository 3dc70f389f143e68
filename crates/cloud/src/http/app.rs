//! What every handler can use.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use sixlock_store::{ResourceId, Store, UserId, now_ms};
use sixlock_telemetry::Events;
use tokio::sync::watch;

use super::documents::Documents;
use super::failure::Failure;
use super::live_feeds::LiveFeeds;
use super::reach::Reach;
use super::sign_in_backoff::Backoff;
use super::sign_in_link::SignInLink;
use super::strangers::Strangers;
use crate::Error;
use crate::alerts::Tellers;
use crate::brokers::BrokerAccess;
use crate::oidc::Oidc;
use crate::pollers::Guard;

/// What a handler answers when all is well, or why it is not.
pub(super) type Answer<T> = Result<Json<T>, Failure>;
/// A request's body.
pub(super) type Body<T> = Result<Json<T>, JsonRejection>;

/// What every handler can use.
pub(crate) struct App {
    pub(super) store: Store,
    pub(super) events: Events,
    /// What `/network` shows, as JSON; nothing where the cloud runs without a network of its own.
    pub(super) network: Option<watch::Receiver<Arc<str>>>,
    pub(super) link: SignInLink,
    pub(super) reach: Reach,
    pub(super) live_feeds: LiveFeeds,
    /// How much those who are not signed in have asked for.
    pub(super) strangers: Strangers,
    pub(super) backoff: Backoff,
    /// How often wrong one-time codes were tried of late.
    pub(super) codes: Backoff,
    /// How often accounts were asked for of late.
    pub(super) sign_ups: Backoff,
    /// The provider by which people sign in, if there is one, and how often that came to nothing of late.
    pub(super) oidc: Option<Arc<Oidc>>,
    pub(super) oidc_tries: Backoff,
    /// Where pollers may poll.
    pub(super) guard: Guard,
    /// How messages of alerts are told.
    pub(super) tellers: Tellers,
    /// How publishing to brokers goes, and where they may be.
    pub(super) brokers: BrokerAccess,
    /// Where backups are that the cloud takes by itself, if it takes any.
    pub(super) backup_folder: Option<PathBuf>,
    /// The pages below `/docs/`.
    pub(super) documents: Documents,
    /// When the cloud was started.
    pub(super) started: i64,
    pub(super) stopping: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(
        store: Store,
        events: Events,
        network: Option<watch::Receiver<Arc<str>>>,
        link: SignInLink,
        reach: Reach,
        (guard, tellers, brokers): (Guard, Tellers, BrokerAccess),
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let (live_feeds, strangers, backoff, codes, sign_ups, oidc_tries) = Default::default();
        Self {
            store,
            events,
            network,
            link,
            reach,
            live_feeds,
            strangers,
            backoff,
            codes,
            sign_ups,
            oidc: None,
            oidc_tries,
            guard,
            tellers,
            brokers,
            backup_folder: None,
            documents: Documents::default(),
            started: now_ms(),
            stopping,
        }
    }

    /// The id of the resource of `owner` with this id or label; `None` without a name.
    pub(super) async fn resource_named(
        &self,
        owner: UserId,
        name: Option<&str>,
    ) -> Result<Option<ResourceId>, Error> {
        let Some(name) = name else { return Ok(None) };
        let resource = self.store.resource(owner, name).await?.ok_or(Error::Unknown("resource"))?;
        Ok(Some(resource.id))
    }

    /// The same, where people sign in by this provider.
    pub(crate) fn with_oidc(self, oidc: Option<Arc<Oidc>>) -> Self {
        Self { oidc, ..self }
    }

    /// The same, which serves these pages.
    pub(crate) fn with_documents(self, documents: Documents) -> Self {
        Self { documents, ..self }
    }

    /// The same, which takes backups by itself into this folder.
    pub(crate) fn with_backups(self, folder: Option<PathBuf>) -> Self {
        Self { backup_folder: folder, ..self }
    }
}
