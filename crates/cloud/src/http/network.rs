//! `/network`: the network that runs beside the cloud.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, RefOr, Schema, Type};

use super::app::App;
use super::failure::Failure;

/// The fields of the network as a whole.
const WHOLE: [(&str, Type, &str); 4] = [
    ("schema", Type::Integer, "The version of this format: 1"),
    ("time_s", Type::Number, "Seconds since the simulation began"),
    ("lag_s", Type::Number, "Seconds by which it is behind the clock"),
    ("routing", Type::String, "How ways are found: static or rpl"),
];

/// The fields that count transmissions, of the border router and of each node.
const TRANSMISSIONS: [(&str, Type, &str); 4] = [
    ("frames", Type::Integer, "Frames on the air, acknowledgements and retries included"),
    ("bytes", Type::Integer, "Their bytes"),
    ("security_bytes", Type::Integer, "Those that are there only because of the security mode"),
    ("control_bytes", Type::Integer, "Those of frames with messages of RPL; only where RPL routes"),
];

/// The other fields of a node.
const NODE: [(&str, Type, &str); 11] = [
    ("id", Type::Integer, "Its number"),
    ("address", Type::String, "Its address in the mesh"),
    ("parent", Type::Integer, "Its next hop to the router, which is 0; null as long as RPL has found none"),
    ("hops", Type::Integer, "Hops to the router; null where parents do not lead there just now"),
    ("rank", Type::Integer, "Its rank in RPL's DODAG; only while it has a parent"),
    ("joined_s", Type::Number, "When packets could go to the router and back first; only where RPL routes"),
    (
        "parent_changes",
        Type::Integer,
        "How often it took a parent, the first included; only where RPL routes",
    ),
    ("security", Type::String, "The security mode"),
    ("handshakes", Type::Integer, "DTLS handshakes completed"),
    ("retransmissions", Type::Integer, "Frames, DTLS flights and CoAP messages sent again"),
    ("points", Type::Integer, "Values accepted at the cloud"),
];

/// The network as others write it: this only describes it.
struct Network;

impl utoipa::PartialSchema for Network {
    fn schema() -> RefOr<Schema> {
        let node = described(described(ObjectBuilder::new(), &NODE), &TRANSMISSIONS);
        let whole = described(ObjectBuilder::new(), &WHOLE)
            .property("router", described(ObjectBuilder::new(), &TRANSMISSIONS))
            .property("nodes", ArrayBuilder::new().items(node));
        Schema::from(whole.build()).into()
    }
}

impl utoipa::ToSchema for Network {}

/// An object that has these, too.
fn described(object: ObjectBuilder, fields: &[(&str, Type, &str)]) -> ObjectBuilder {
    fields.iter().fold(object, |object, (name, kind, about)| {
        let field = ObjectBuilder::new().schema_type(kind.clone()).description(Some(*about));
        object.property(*name, field)
    })
}

/// The network that runs beside the cloud
#[utoipa::path(get, path = "/network", tag = "cloud", responses((status = 200, body = Network)))]
pub(super) async fn show(State(app): State<Arc<App>>) -> Result<Response, Failure> {
    let network = app.network.as_ref().ok_or(Failure::unknown("network: this cloud runs without one"))?;
    let json = network.borrow().to_string();
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response())
}
