//! The way of a payload into the store, over HTTP or CoAP.

pub(crate) mod points;

use sixlock_ingest::{Format, Parser, Specification};
use sixlock_store::{Append, Idempotency, Reading, ResourceId, Store, Stored, now_ms};
use sixlock_telemetry::{Event, Events};

use crate::Error;

/// Tells what was left out of a post that was stored.
pub(crate) fn tell_left_out(events: &Events, resource: ResourceId, Stored { left_out }: &Stored) {
    for left_out in left_out {
        events.tell(Event::LeftOut { resource: resource.0, what: &left_out.reason() });
    }
}

/// Stores what `payload` says. When this returns, it survives power loss, but for what it tells to be left out.
/// The first payload of a resource without parsers makes them.
pub(crate) async fn post(
    (store, events): (&Store, &Events),
    resource: ResourceId,
    format: Format,
    payload: &[u8],
    idempotency: Idempotency,
) -> Result<Stored, Error> {
    let (readings, new) = match format {
        Format::SenmlJson | Format::SenmlCbor => {
            (sixlock_ingest::read(format, payload, &[], now_ms())?, Vec::new())
        }
        Format::Json | Format::Cbor | Format::Text => {
            let known = store.specifications(resource).await?;
            read(known, format, payload.to_vec()).await?
        }
    };
    let stored = store.append(Append { resource, idempotency, readings }).await?;
    tell_left_out(events, resource, &stored);
    if !new.is_empty() {
        store.add_first_parsers(resource, &new).await?;
    }
    Ok(stored)
}

/// What `parsers` read in `payload`, which arrives now; where there are none, what those read that it makes, and these.
///
/// The time that this takes is bounded, and still too long for a thread that serves others meanwhile.
pub(crate) async fn read(
    parsers: Vec<Specification>,
    format: Format,
    payload: Vec<u8>,
) -> Result<(Vec<Reading>, Vec<Specification>), Error> {
    let arrival = now_ms();
    let read = move || {
        let new = if parsers.is_empty() { sixlock_ingest::discover(format, &payload)? } else { Vec::new() };
        let parsers = parsers.iter().chain(&new).map(Parser::new).collect::<Result<Vec<_>, _>>()?;
        Ok((sixlock_ingest::read(format, &payload, &parsers, arrival)?, new))
    };
    tokio::task::spawn_blocking(read).await.map_err(|_| Error::Died("parser"))?
}
