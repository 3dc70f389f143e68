//! Every path, and the handler of each.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::{Extension, Router};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use super::app::App;
use super::body_limits::{LONGEST_BODY, LONGEST_IMPORT_BODY, LONGEST_SIGN_IN};
use super::openapi::Document;
use super::{
    access, alert_definitions, alerts, all_resources, audit, brokers, channels, commands, computed_streams,
    credentials, dashboard, data, device_metrics, endpoints, fleet, followed, groups, identities, import,
    live, memberships, metrics, network, oidc, oidc_links, openapi, parsers, paths, poller, profiles, quotas,
    reset_links, resource_groups, resource_log, resources, retention, rules, second_factors, shared, sign_in,
    sign_up, statistics, stream_groups, streams, tokens, user_export, users,
};

/// The API: every handler with its path. Who may use it, [`access`] says: a route that is not listed there is closed.
fn api(document: Arc<Document>) -> OpenApiRouter<Arc<App>> {
    let api = OpenApiRouter::new()
        .routes(routes!(openapi::show).layer(Extension(document)))
        .routes(routes!(sign_in::login).layer(DefaultBodyLimit::max(LONGEST_SIGN_IN)))
        .routes(routes!(sign_up::show, sign_up::sign_up).layer(DefaultBodyLimit::max(LONGEST_SIGN_IN)))
        .routes(routes!(sign_in::logout))
        .routes(routes!(reset_links::reset).layer(DefaultBodyLimit::max(LONGEST_SIGN_IN)))
        .routes(routes!(users::me))
        .routes(routes!(endpoints::show))
        .routes(routes!(endpoints::public_keys))
        .routes(routes!(network::show))
        .routes(routes!(audit::list))
        .routes(routes!(statistics::show))
        .routes(routes!(live::all))
        .routes(routes!(users::list, users::add))
        .routes(routes!(users::show, users::change, users::delete))
        .routes(routes!(reset_links::make))
        .routes(routes!(
            second_factors::show,
            second_factors::begin,
            second_factors::confirm,
            second_factors::remove
        ))
        .routes(routes!(oidc_links::show, oidc_links::begin, oidc_links::remove))
        .routes(routes!(user_export::export))
        .routes(routes!(all_resources::list))
        .routes(routes!(device_metrics::all))
        .routes(routes!(device_metrics::of_user))
        .routes(routes!(quotas::show, quotas::set))
        .routes(routes!(tokens::list, tokens::add))
        .routes(routes!(tokens::delete))
        .routes(routes!(identities::list, identities::add))
        .routes(routes!(identities::delete))
        .routes(routes!(resources::list, resources::add))
        .routes(routes!(resources::show, resources::change, resources::delete))
        .routes(routes!(resource_log::show))
        .routes(routes!(fleet::show))
        .routes(routes!(fleet::places))
        .routes(routes!(fleet::change))
        .routes(routes!(profiles::list))
        .routes(routes!(profiles::show, profiles::set, profiles::remove))
        .routes(routes!(groups::list, groups::add))
        .routes(routes!(groups::show, groups::rename, groups::delete))
        .routes(routes!(groups::set_member, groups::remove_member))
        .routes(routes!(groups::remove_device))
        .routes(routes!(groups::remove_stream))
        .routes(routes!(memberships::list))
        .routes(routes!(memberships::show, memberships::join, memberships::leave))
        .routes(routes!(memberships::resources))
        .routes(routes!(memberships::streams))
        .routes(routes!(resource_groups::list))
        .routes(routes!(resource_groups::give, resource_groups::take))
        .routes(routes!(stream_groups::list))
        .routes(routes!(stream_groups::give, stream_groups::take))
        .routes(routes!(credentials::all))
        .routes(routes!(credentials::list, credentials::rotate, credentials::remove_all))
        .routes(routes!(credentials::remove))
        .routes(routes!(import::import).layer(DefaultBodyLimit::max(LONGEST_IMPORT_BODY)))
        .routes(routes!(poller::show, poller::set, poller::remove))
        .routes(routes!(streams::list, streams::add))
        .routes(routes!(streams::show, streams::change, streams::delete))
        .routes(routes!(retention::list))
        .routes(routes!(retention::show, retention::change))
        .routes(routes!(data::export, data::post))
        .routes(routes!(data::read, data::add, data::delete))
        .routes(routes!(parsers::list, parsers::add))
        .routes(routes!(parsers::test))
        .routes(routes!(parsers::show, parsers::replace, parsers::remove))
        .routes(routes!(computed_streams::list, computed_streams::add))
        .routes(routes!(computed_streams::test))
        .routes(routes!(computed_streams::show, computed_streams::replace, computed_streams::delete))
        .routes(routes!(commands::list, commands::add))
        .routes(routes!(commands::show, commands::withdraw))
        .routes(routes!(rules::triggers, rules::add_trigger))
        .routes(routes!(rules::list, rules::add))
        .routes(routes!(rules::show, rules::replace, rules::delete))
        .routes(
            routes!(alert_definitions::show, alert_definitions::replace)
                .layer(DefaultBodyLimit::max(LONGEST_IMPORT_BODY)),
        )
        .routes(routes!(alerts::list))
        .routes(routes!(alerts::show))
        .routes(routes!(alerts::acknowledge))
        .routes(routes!(channels::list, channels::add))
        .routes(routes!(channels::show, channels::delete))
        .routes(routes!(channels::test))
        .routes(routes!(channels::confirm))
        .routes(routes!(brokers::list, brokers::add))
        .routes(routes!(brokers::show, brokers::change, brokers::delete))
        .routes(routes!(brokers::test))
        .routes(routes!(live::stream))
        .routes(routes!(shared::find))
        .routes(routes!(shared::show))
        .routes(routes!(shared::read))
        .routes(routes!(live::shared))
        .routes(routes!(followed::list))
        .routes(routes!(followed::follow, followed::unfollow));
    OpenApiRouter::with_openapi(openapi::empty()).nest(paths::API, api)
}

/// Every path there is. What they are is told to `document`.
pub(super) fn all(document: &Arc<Document>) -> Router<Arc<App>> {
    let (api, routes) = api(document.clone()).split_for_parts();
    document.describe(routes);
    api.route(paths::SIGN_IN, get(sign_in::sign_in))
        .route(paths::OIDC_SIGN_IN, get(oidc::begin))
        .route(paths::OIDC_CALLBACK, get(oidc::callback))
        .route(paths::OIDC_LINK, post(oidc::link))
        .route(paths::OIDC_CODE, post(oidc::code))
        .route(paths::RESET_PASSWORD, get(reset_links::page).post(reset_links::send))
        .route(paths::METRICS, get(metrics::show))
        .fallback(dashboard::serve)
}

/// All that HTTP serves, behind the layer that says who may.
pub(crate) fn router(app: Arc<App>) -> Router {
    let document = Arc::<Document>::default();
    all(&document)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state((app.clone(), document), access::guard))
        .with_state(app)
}
