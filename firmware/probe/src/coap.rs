//! CoAP exchanges and the SenML packs that they carry.

use sixlock_base::{Cx, Entropy, Eui64};
use sixlock_coap::{Client, Exchanges, Inline, ServerConfig};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat};
use sixlock_senml::{Decimal, DeviceName, NoRoom, Reading, cbor, json};

use crate::io;
use crate::sizes::{EXCHANGES, MESSAGE};

pub struct Coap {
    client: Client<MESSAGE>,
    exchanges: Exchanges<Inline<64>, EXCHANGES>,
}

pub fn new() -> Coap {
    Coap { client: Client::new(), exchanges: Exchanges::new() }
}

#[inline(never)]
pub fn probe<C, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, coap: &mut Coap) {
    let mut datagram = io::bytes::<MESSAGE>();
    let Coap { client, exchanges } = coap;
    match io::byte() {
        0 => {
            let requested = client.request(cx, true, Code::POST, build);
            io::write(&[requested.is_ok().into(), client.is_busy().into()]);
        }
        1 => {
            if let Some(response) = client.handle(cx, &datagram) {
                io::write(response.payload());
            }
        }
        2 => client.restart(cx),
        3 => serve(cx, exchanges, &datagram),
        4 => exchanges.handle_timeout(cx),
        _ => client.handle_timeout(cx),
    }
    let client_sent = client.poll_transmit(cx, &mut datagram);
    let server_sent = exchanges.poll_transmit(cx, &ServerConfig::default(), &mut datagram);
    io::write(&datagram[..client_sent.or(server_sent).unwrap_or(0).min(MESSAGE)]);
    let waiting = client.poll_timeout().or(exchanges.poll_timeout());
    io::write(&[client.poll_event().is_some().into(), waiting.is_some().into()]);
}

fn build(mut builder: Builder<'_>) -> Result<usize, BuildError> {
    let in_cbor = io::byte() != 0;
    let format = if in_cbor { ContentFormat::SENML_CBOR } else { ContentFormat::SENML_JSON };
    builder.path(&["resources", "data"])?.content_format(format)?;
    let mut pack = [0; MESSAGE / 2];
    let name = DeviceName::new(Eui64(io::bytes()));
    let written = if in_cbor { write_cbor(&mut pack, name) } else { write_json(&mut pack, name) };
    builder.finish_with(&pack[..written.unwrap_or(0).min(MESSAGE / 2)])
}

fn write_json(out: &mut [u8], name: DeviceName) -> Result<usize, NoRoom> {
    let mut pack = json::PackWriter::new(out, name.as_str());
    pack.record("temperature", "Cel", reading())?;
    pack.finish()
}

fn write_cbor(out: &mut [u8], name: DeviceName) -> Result<usize, NoRoom> {
    let mut pack = cbor::PackWriter::new(out, name.as_str());
    pack.record("temperature", "Cel", reading())?;
    pack.finish()
}

fn reading<'a>() -> Reading<'a> {
    Reading::Number(Decimal::new(io::number() as i32, -1))
}

fn serve<C, E: Entropy, N>(
    cx: &mut Cx<'_, C, E, N>,
    exchanges: &mut Exchanges<Inline<64>, EXCHANGES>,
    datagram: &[u8],
) {
    let Some(request) = exchanges.handle(cx, &ServerConfig::default(), datagram) else { return };
    let pack = request.message.payload();
    let understood = request.message.path_is(&["resources", "data"])
        && match request.message.content_format() {
            Some(ContentFormat::SENML_CBOR) => {
                cbor::PackReader::new(pack).is_ok_and(|mut records| records.all(|record| record.is_ok()))
            }
            _ => json::PackReader::new(pack).is_ok_and(|mut records| records.all(|record| record.is_ok())),
        };
    let code = if understood { Code::CHANGED } else { Code::BAD_REQUEST };
    let answered = exchanges.respond(cx, request.id, code.into());
    io::write(&[answered.is_ok().into()]);
}
