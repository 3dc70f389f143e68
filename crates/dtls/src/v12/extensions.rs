use sixlock_dtls_msg::{Extension, ExtensionType, Extensions, Window};

use super::parameters::HandshakeParameters;
use crate::engine::role::Side;
use crate::{MAX_CONNECTION_ID, OptionalPart, Profile, Suite};

/// The longest extensions of a hello: extended_master_secret, connection_id, record_size_limit, max_fragment_length,
/// those of public keys and an empty renegotiation_info.
pub(crate) const EXTENSIONS: usize = 4 + (5 + MAX_CONNECTION_ID) + 6 + 5 + PUBLIC_KEY_EXTENSIONS + 5;
/// signature_algorithms, supported_groups, ec_point_formats and both of the certificates' types.
const PUBLIC_KEY_EXTENSIONS: usize = 8 + 8 + 6 + 2 * 7;

/// The extensions of a hello.
pub(crate) fn extensions<'a, P: Profile>(
    parameters: &HandshakeParameters<P::Features>,
    extended_master_secret: bool,
    renegotiation_info: bool,
    side: Side,
    room: &'a mut [u8; EXTENSIONS],
) -> Extensions<'a> {
    let mut window = Window::new(0, &mut room[..]);
    if extended_master_secret {
        Extension { kind: ExtensionType::EXTENDED_MASTER_SECRET, data: &[] }.emit(&mut window);
    }
    if P::CONNECTION_IDS
        && let Some(id) = &parameters.own_id
    {
        Extension { kind: ExtensionType::CONNECTION_ID, data: id.extension() }.emit(&mut window);
    }
    if P::RECORD_LIMITS
        && let Some(size) = parameters.limits.size
    {
        Extension { kind: ExtensionType::RECORD_SIZE_LIMIT, data: &size.to_be_bytes() }.emit(&mut window);
    }
    if P::RECORD_LIMITS
        && let Some(number) = parameters.limits.fragment
    {
        Extension { kind: ExtensionType::MAX_FRAGMENT_LENGTH, data: &[number] }.emit(&mut window);
    }
    if let Some(keys) = parameters.keys.get() {
        let emit = |kind, data: &[u8]| Extension { kind, data }.emit(&mut window);
        match side {
            Side::Client => keys.ask(
                parameters.first_suite::<P>(Suite::has_public_keys).is_some(),
                parameters.first_suite::<P>(Suite::has_ephemeral_keys).is_some(),
                emit,
            ),
            Side::Server if parameters.suite::<P>().has_ephemeral_keys() && !parameters.resumed => {
                keys.answer(parameters.suite::<P>().has_public_keys(), emit);
            }
            // A session that is resumed has proved its keys, and pre-shared ones are not spoken of.
            Side::Server => {}
        }
    }
    if renegotiation_info {
        Extension { kind: ExtensionType::RENEGOTIATION_INFO, data: &[0] }.emit(&mut window);
    }
    let filled = window.filled();
    Extensions(&room[..filled])
}

/// What a hello says of session tickets; it is too long for the room of the others.
pub(crate) const fn ticket_extension(data: &[u8]) -> Extension<'_> {
    Extension { kind: ExtensionType::SESSION_TICKET, data }
}
