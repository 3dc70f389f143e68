//! What of a device can be set: a lamp and a valve, by `PUT /actuators/NAME` with a value in SenML
//! ([RFC 8428 section 5.1.7](https://www.rfc-editor.org/rfc/rfc8428#section-5.1.7)).

use sixlock_base::{Cx, Entropy, Eui64};
use sixlock_coap::{Responder, Response};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, Message, OptionNumber};
use sixlock_senml::json::{PackReader, PackWriter};
use sixlock_senml::{Decimal, DeviceName, Number, Numeral, Reading, Value};

use crate::measurement::Measurement;
use crate::service::KNOWN;

/// Where they are.
const PATH: &str = "actuators";
/// The longest answer, in bytes: a pack of one record, with the name of the device.
const LONGEST_ANSWER: usize = 160;
/// The longest name in a pack that is read, in bytes: that of the device and of what it has.
const LONGEST_NAME: usize = 64;

/// Something that can be set.
struct Actuator {
    name: &'static str,
    unit: &'static str,
    /// The highest value; the lowest is 0. A switch takes true and false, too.
    most: i32,
}

/// What there is: a lamp, on or off, and a valve, by how many in a hundred it is open.
const ACTUATORS: [Actuator; 2] =
    [Actuator { name: "led", unit: "", most: 1 }, Actuator { name: "valve", unit: "/100", most: 100 }];

/// The links to them, in the link format ([RFC 6690](https://www.rfc-editor.org/rfc/rfc6690)).
pub(crate) const LINKS: &[u8] = b"</sensors>;ct=110;obs,</actuators/led>;ct=110,</actuators/valve>;ct=110";

/// What each is set to; all are 0 until then.
pub(crate) struct Actuators {
    responder: Responder,
    values: [i32; ACTUATORS.len()],
    /// Whether each was set.
    are_set: [bool; ACTUATORS.len()],
    /// Which was set last, until that was told: its place, counted from 1.
    latest: usize,
    /// The answer to what was asked in a session of the device's own.
    answer: heapless::Vec<u8, LONGEST_ANSWER>,
}

impl Actuators {
    /// None was set yet.
    pub(crate) const NEW: Self = Self {
        responder: Responder::new(),
        values: [0; ACTUATORS.len()],
        are_set: [false; ACTUATORS.len()],
        latest: 0,
        answer: heapless::Vec::new(),
    };

    /// The name and value of the one that was set last, told once.
    pub(crate) fn poll_set(&mut self) -> Option<(&'static str, i32)> {
        let place = core::mem::take(&mut self.latest).checked_sub(1)?;
        Some((ACTUATORS.get(place)?.name, *self.values.get(place)?))
    }

    /// What those are set to that were set, as the device tells it with its readings.
    pub(crate) fn measurements(&self) -> impl Iterator<Item = Measurement> {
        let all = ACTUATORS.iter().zip(self.values).zip(self.are_set);
        all.filter(|(_, is_set)| *is_set).map(|((Actuator { name, unit, .. }, value), _)| Measurement {
            name,
            unit,
            value: Decimal::new(value, 0),
        })
    }

    /// Whether a request is for one of them.
    pub(crate) fn are_asked(request: &Message<'_>) -> bool {
        request.path().next() == Some(PATH.as_bytes())
    }

    /// Answers a request for one of them; the device is called `name`.
    pub(crate) fn answer(
        &mut self,
        request: &Message<'_>,
        response: Response<'_>,
        name: &DeviceName,
    ) -> Result<usize, BuildError> {
        let asked = ACTUATORS.iter().position(|actuator| request.path_is(&[PATH, actuator.name]));
        let Some((place, actuator)) = asked.and_then(|place| Some((place, ACTUATORS.get(place)?))) else {
            return response.with_code(Code::NOT_FOUND).map(Builder::finish);
        };
        let code = match request.code() {
            Code::GET => return self.show(place, actuator, response, name),
            Code::PUT => self.set(place, actuator, request),
            _ => Code::METHOD_NOT_ALLOWED,
        };
        response.with_code(code).map(Builder::finish)
    }

    fn show(
        &self,
        place: usize,
        actuator: &Actuator,
        response: Response<'_>,
        name: &DeviceName,
    ) -> Result<usize, BuildError> {
        let value = Reading::Number(Decimal::new(self.values.get(place).copied().unwrap_or_default(), 0));
        let mut content = response.with_code(Code::CONTENT)?;
        content.content_format(ContentFormat::SENML_JSON)?;
        content.finish_written(|out| {
            let mut pack = PackWriter::of_device(out, name);
            pack.record(actuator.name, actuator.unit, value).ok()?;
            pack.finish().ok()
        })
    }

    fn set(&mut self, place: usize, actuator: &Actuator, request: &Message<'_>) -> Code {
        let format = request.content_format();
        if request.value(OptionNumber::CONTENT_FORMAT).is_some() && format != Some(ContentFormat::SENML_JSON)
        {
            return Code::UNSUPPORTED_CONTENT_FORMAT;
        }
        let (Some(value), Some(set), Some(is_set)) =
            (actuator.read(request.payload()), self.values.get_mut(place), self.are_set.get_mut(place))
        else {
            return Code::BAD_REQUEST;
        };
        (*set, *is_set, self.latest) = (value, true, place + 1);
        Code::CHANGED
    }
}

impl Actuator {
    /// The value in a pack of one record, if that is for this one and can be set.
    fn read(&self, pack: &[u8]) -> Option<i32> {
        let mut records = PackReader::new(pack).ok()?;
        let record = records.next()?.ok()?;
        if records.next().is_some() {
            return None;
        }
        let mut name = [0; LONGEST_NAME];
        if !record.write_name(&mut name)?.ends_with(self.name) {
            return None;
        }
        let value = match record.value? {
            Value::Boolean(value) if self.most == 1 => i32::from(value),
            Value::Number(Number { base: None, own: Some(Numeral::Json(text)) }) => text.parse().ok()?,
            _ => return None,
        };
        (0..=self.most).contains(&value).then_some(value)
    }
}

/// What is asked of a device in the session that it has begun, in which the cloud is the server otherwise. Of a device that takes
/// nothing, it is `()`.
pub trait Commands {
    /// All zero bytes.
    const NEW: Self;

    /// Takes in a message; whether it was a request, whose answer [`Commands::poll_transmit`] writes.
    fn handle<C, E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>, _: Eui64, _message: &[u8]) -> bool {
        false
    }

    /// Writes an answer; returns its length.
    fn poll_transmit(&mut self, _out: &mut [u8]) -> Option<usize> {
        None
    }
}

impl Commands for () {
    const NEW: Self = ();
}

impl Commands for Actuators {
    const NEW: Self = Self::NEW;

    fn handle<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, address: Eui64, message: &[u8]) -> bool {
        if !Message::parse(message).is_ok_and(|message| message.code().is_request()) {
            return false;
        }
        let (mut responder, mut answer) = (core::mem::take(&mut self.responder), [0; LONGEST_ANSWER]);
        let length = responder.handle(cx, KNOWN, message, &mut answer, |request, response| {
            match Self::are_asked(request) {
                true => self.answer(request, response, &DeviceName::new(address)),
                false => response.with_code(Code::NOT_FOUND).map(Builder::finish),
            }
        });
        self.responder = responder;
        self.answer.clear();
        // It fits: both are as long.
        let _ =
            self.answer.extend_from_slice(length.and_then(|length| answer.get(..length)).unwrap_or_default());
        true
    }

    fn poll_transmit(&mut self, out: &mut [u8]) -> Option<usize> {
        let length = Some(self.answer.len()).filter(|&length| length > 0)?;
        out.get_mut(..length)?.copy_from_slice(&self.answer);
        self.answer.clear();
        Some(length)
    }
}
