//! Commands on their way to devices: as requests, `PUT /actuators/NAME` with the value in SenML
//! ([RFC 8428 section 5.1.7](https://www.rfc-editor.org/rfc/rfc8428#section-5.1.7)).

use serde_json::json;
use sixlock_coap_msg::Code;
use sixlock_store::{Command, CommandId, CommandOutcome, CommandValue, ResourceId, Store};
use sixlock_telemetry::{At, Event, Events};

/// Where a device has what can be set.
pub(crate) const ACTUATORS: &str = "actuators";

/// The payload of a command.
pub(crate) fn payload(command: &Command) -> Vec<u8> {
    let record = match &command.value {
        CommandValue::Boolean(value) => json!({"n": command.actuator, "vb": value}),
        CommandValue::Number(value) => json!({"n": command.actuator, "v": whole(*value)}),
        CommandValue::Text(value) => json!({"n": command.actuator, "vs": value}),
    };
    json!([record]).to_string().into_bytes()
}

/// The number as devices read it best: a whole one without a fraction.
fn whole(value: f64) -> serde_json::Value {
    let exact = value.fract() == 0.0 && value.abs() < 9e15;
    if exact { json!(value as i64) } else { json!(value) }
}

/// What a device has answered.
pub(crate) fn answered(code: Code) -> CommandOutcome {
    CommandOutcome::Answered(u16::from(code.class()) * 100 + u16::from(code.detail()))
}

/// The command that the device of `resource` is to be told now.
pub(crate) async fn next(store: &Store, events: &Events, resource: ResourceId) -> Option<Command> {
    store.next_command(resource).await.unwrap_or_else(|error| {
        events.tell(Event::Fault { at: At::Commands, error: &error });
        None
    })
}

/// Notes what came of a command.
pub(crate) async fn note(store: &Store, events: &Events, id: CommandId, outcome: CommandOutcome) {
    let name = match outcome {
        CommandOutcome::Answered(200..=299) => "done",
        CommandOutcome::Answered(_) | CommandOutcome::Rejected => "refused",
        CommandOutcome::Unanswered => "unanswered",
    };
    let resource = store.resource_of_command(id).map(|ResourceId(resource)| resource);
    events.tell(Event::Commanded { resource, command: id.0, outcome: name });
    if let Err(error) = store.command_ended(id, outcome).await {
        events.tell(Event::Fault { at: At::Commands, error: &error });
    }
}
