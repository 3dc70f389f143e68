//! Neighbour discovery's wire formats: messages and options ([RFC 4861](https://www.rfc-editor.org/rfc/rfc4861)), those that
//! 6LoWPAN adds ([RFC 6775](https://www.rfc-editor.org/rfc/rfc6775), [RFC 8505](https://www.rfc-editor.org/rfc/rfc8505),
//! [RFC 7400](https://www.rfc-editor.org/rfc/rfc7400)), and link-layer addresses of IEEE 802.15.4
//! ([RFC 4944 section 8](https://www.rfc-editor.org/rfc/rfc4944#section-8)).
//!
//! A registration ownership verifier has 64 bits here; an option with a longer one counts as one with a wrong length. Redirects
//! are not among the messages: a 6LoWPAN has none ([RFC 6775 section 5](https://www.rfc-editor.org/rfc/rfc6775#section-5)).

mod address_registration;
mod border_router;
mod capabilities;
mod context;
mod link_layer_address;
mod message;
mod option;
mod registered_address;

pub use crate::prefix::Prefix;
pub use crate::prefix_information::{EncodedPrefixInformation, PrefixInformation};
pub use address_registration::{AddressRegistration, EncodedRegistration, Rovr, Status};
pub use border_router::{BorderRouter, EncodedBorderRouter};
pub use capabilities::{Capabilities, EncodedCapabilities};
pub use context::Context;
pub use link_layer_address::LinkLayerAddress;
pub use message::{
    ALL_NODES, ALL_ROUTERS, Builder, DUPLICATE_ADDRESS_CONFIRMATION, DUPLICATE_ADDRESS_REQUEST,
    DuplicateAddress, EncodedMessage, HOP_LIMIT, Message, NEIGHBOUR_ADVERTISEMENT, NEIGHBOUR_SOLICITATION,
    NeighbourAdvertisement, ROUTER_ADVERTISEMENT, ROUTER_SOLICITATION, RouterAdvertisement, is_type,
    solicited_node,
};
pub use option::{NdOption, Options};
pub use registered_address::RegisteredAddress;
