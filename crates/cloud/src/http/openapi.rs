//! `/openapi.json`: what the API takes and answers, as OpenAPI. It is made of the routes themselves, and who may use
//! each is what [`crate::access`] says.

use std::sync::{Arc, OnceLock};

use axum::Extension;
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use sixlock_store::GroupAccess;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    Content, ObjectBuilder, Ref, RefOr, Required, ResponseBuilder, SecurityRequirement, Type,
};
use utoipa::{OpenApi, ToSchema};

use super::actions::action;
use super::failure;
use super::paths::OPENAPI;
use crate::access::{Action, People};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Sixlock cloud",
        description = "Users, their resources (devices and other sources of data), the streams of these and the points \
            in them. `{user}`, `{resource}`, `{stream}`, `{parser}`, `{rule}`, `{channel}`, `{broker}`, `{group}` and `{token}` are ids or names: digits \
            alone are an id, all else is a name. Times are milliseconds since 1970. `{shared}`, \
            `{membership}` and `{device}` are ids, and `{member}` is a name. Every path but signing in and `/shared` asks for `Authorization: Bearer TOKEN`, or the cookie that signing in sets.\n\n\
            Devices do the same by CoAP for their own resource, which is the one that the identity of their DTLS session \
            is bound to: `/users` (GET its owner), `/resources` (GET, PUT), `/resources/data` (GET the point of \
            each stream that arrived last, POST SenML, DELETE), `/streams` (GET, POST, PUT, DELETE) and `/streams/data` (GET, POST, DELETE), \
            with `id`, `from`, `until`, `limit`, `after` and `all` in the query. What is another's, and what is for people, is \
            4.03; so is what is over a quota, but points over that of the day are 4.29. An answer holds what fits 1024 \
            bytes: lists go on with `after` the last id of a stream, points with `from` the last time.\n\n\
            A body has at most 65536 bytes, of an import and of all rules of a user 1024000, of a sign-in 8192 (413), and comes within 15 s and 1 s for \
            each 4096 bytes (408); an answer is read as fast, or the connection ends. There are 768 connections: of those on \
            which nobody has signed in 320, and 128 of an address, the oldest ends for a newcomer; 64 of a user are not \
            ended. Wrong passwords make the next try wait (429). A \
            parameter of the query that an operation does not name is refused (400). A user follows 8 live feeds (429). A viewer, \
            and a token to read only, change nothing; a token for a resource leads nowhere else (403), and one for a stream \
            nowhere but to that at `/shared/streams`, or posts points to it and reads nothing.",
    ),
    components(schemas(failure::Body))
)]
struct Description;

/// The description before any route is added to it.
pub(super) fn empty() -> utoipa::openapi::OpenApi {
    Description::openapi()
}

/// The description of all routes, written when it is first asked for.
#[derive(Default)]
pub(super) struct Document {
    routes: OnceLock<utoipa::openapi::OpenApi>,
    text: OnceLock<String>,
}

impl Document {
    /// Says which routes there are: once.
    pub(super) fn describe(&self, routes: utoipa::openapi::OpenApi) {
        let _ = self.routes.set(routes);
    }

    /// The parameters that the query of a route may have; `None` if it is not described.
    pub(super) fn query_parameters(&self, method: &Method, path: &str) -> Option<Vec<&str>> {
        let item = self.routes.get()?.paths.paths.get(path)?;
        let operation = match *method {
            Method::GET | Method::HEAD => &item.get,
            Method::POST => &item.post,
            Method::PUT => &item.put,
            Method::DELETE => &item.delete,
            _ => &None,
        };
        let parameters =
            operation.as_ref()?.parameters.iter().flatten().filter_map(|parameter| match parameter {
                RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => Some(&*parameter.name),
                _ => None,
            });
        Some(parameters.collect())
    }

    fn text(&self) -> &str {
        self.text.get_or_init(|| write(self.routes.get().cloned().unwrap_or_else(empty)))
    }
}

/// Returns the description as JSON, with what all operations have in common.
fn write(mut document: utoipa::openapi::OpenApi) -> String {
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", bearer);
    for (path, item) in &mut document.paths.paths {
        let operations = [
            (Method::GET, &mut item.get),
            (Method::POST, &mut item.post),
            (Method::PUT, &mut item.put),
            (Method::DELETE, &mut item.delete),
        ];
        for (method, operation) in operations {
            if let (Some(operation), Some(action)) = (operation, action(&method, path)) {
                complete(operation, path, action);
            }
        }
    }
    document.to_json().unwrap_or_default()
}

/// For whom an operation is that concerns a resource.
const fn of_resource(action: Action) -> &'static str {
    match action.for_members() {
        None => "For the user whose it is, and for administrators.",
        Some(GroupAccess::Read) => {
            "For the user whose it is, for members of groups that the resource is given to, and for administrators."
        }
        Some(GroupAccess::Change) => {
            "For the user whose it is, for members with the right `change` of groups that the resource is given to, and for administrators."
        }
    }
}

/// Adds what is the same for all operations.
fn complete(operation: &mut Operation, path: &str, action: Action) {
    let (who, open) = match action.people() {
        People::Everybody => ("For everybody.", true),
        People::Readers => (
            "For everybody, if the stream is public; else for the user whose it is, for members of groups that the stream is given \
             to, for administrators, and with a token to read the stream. To anybody else it is as if there were none (404).",
            true,
        ),
        People::ThisMachine => ("For programs on this machine, and for whoever is signed in.", true),
        People::Operator => ("For programs on this machine, and for administrators.", true),
        People::SignedIn => ("For whoever is signed in.", false),
        People::Oneself => ("For the user whose it is.", false),
        People::Owner if path.contains("{resource}") => (of_resource(action), false),
        People::Owner => ("For the user whose it is, and for administrators.", false),
        People::Administrator => ("For administrators.", false),
    };
    let said = operation.description.take().map(|said| format!("{said}\n\n")).unwrap_or_default();
    operation.description = Some(format!("{said}{who}"));
    let token = SecurityRequirement::new("token", Vec::<String>::new());
    let nothing = open.then(SecurityRequirement::default);
    operation.security = Some(nothing.into_iter().chain([token]).collect());
    let parameters = operation.parameters.get_or_insert_default();
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    for name in names {
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some("Its id, which is digits alone, or its name"))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)));
        parameters.push(parameter.build().into());
    }
    let failure = Content::new(Some(Ref::from_schema_name(failure::Body::name())));
    let failure = ResponseBuilder::new()
        .description("Why it was not done: 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 422, 429, 500 or 503; 429 and 503 come with Retry-After")
        .content("application/json", failure);
    operation.responses.responses.insert("default".into(), failure.build().into());
}

/// This description
#[utoipa::path(get, path = OPENAPI, tag = "cloud", responses((status = 200, description = "OpenAPI", body = Object)))]
pub(super) async fn show(Extension(document): Extension<Arc<Document>>) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], document.text().to_owned()).into_response()
}
