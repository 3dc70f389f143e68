use sixlock_coap_msg::{Code, ContentFormat};

use crate::ids::CommandId;

/// A request to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Tells it from others.
    pub id: CommandId,
    /// The method.
    pub code: Code,
    /// The segments of the path.
    pub path: Vec<String>,
    /// The payload's format.
    pub format: ContentFormat,
    /// The payload.
    pub payload: Vec<u8>,
}
