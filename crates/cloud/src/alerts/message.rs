//! The content of a message: JSON for programs, text for people.

use jiff::Timestamp;
use serde_json::{Value, json};
use sixlock_store::Message;

/// The body of a webhook.
pub(super) fn json(message: &Message) -> Value {
    json!({
        "id": message.id,
        "event": message.event,
        "alert": message.alert,
        "rule": message.label,
        "severity": message.severity,
        "resource": message.resource,
        "stream": message.stream,
        "unit": message.unit,
        "value": message.value,
        "time": message.time,
        "payload": message.payload,
        "untold": message.untold,
    })
}

/// One line that says what it is about.
pub(super) fn title(message: &Message) -> String {
    if message.event == "confirm" {
        return "Confirm this address for alerts".to_owned();
    }
    let what = match &*message.event {
        "opened" => message.severity.name(),
        "cleared" => "cleared",
        _ => "test",
    };
    let about = match (&message.resource, &message.stream) {
        (Some(resource), Some(stream)) => format!(" ({resource}, {stream})"),
        (Some(resource), None) => format!(" ({resource})"),
        (None, _) => String::new(),
    };
    let title = format!("[{what}] {}{about}", message.label);
    // A label of a device may be long; what cannot be seen is no part of it.
    title.chars().filter(|char| !sixlock_ingest::is_hidden(*char)).take(180).collect()
}

/// The event, in a few lines of text.
pub(super) fn text(message: &Message) -> String {
    if let ("confirm", Some(code)) = (&*message.event, &message.code) {
        // It goes to somebody who may not have asked for it, so nothing in it is of its sender's choice.
        return format!(
            "Somebody asks for alerts of Sixlock to be sent to this address. If that is you, confirm it by this code: {}\n\n\
             If it is not, do nothing: without the code, no alert is sent here.\n",
            String::from_utf8_lossy(code.bytes())
        );
    }
    let mut lines = vec![title(message), String::new()];
    match (&*message.event, &message.value) {
        ("test", _) => lines.push("This is a test: alerts of your rules arrive here.".to_owned()),
        (_, Some(value)) => {
            lines.push(
                format!("value: {value} {}", message.unit.as_deref().unwrap_or_default())
                    .trim_end()
                    .to_owned(),
            );
        }
        ("cleared", None) => lines.push("a reading has come".to_owned()),
        (_, None) => lines.push("no readings".to_owned()),
    }
    if let Ok(time) = Timestamp::from_millisecond(message.time) {
        lines.push(format!("time: {time}"));
    }
    if let Some(alert) = message.alert {
        lines.push(format!("alert: {}", alert.0));
    }
    lines.extend(message.payload.clone());
    if message.untold > 0 {
        lines.push(format!("{} messages before this one were not told: too many waited.", message.untold));
    }
    lines.push(format!("id: {}", message.id));
    lines.join("\n")
}
