//! What a node has measured, as lines of text.

use crate::meter::{EchoTimes, SIZES, StateTimes};

/// The first line of a report.
pub const HEADER: &str =
    "# sixlock meter 1: times in microseconds, by a clock that counts 16 of them at a time";
/// The last one.
pub const LAST_LINE: &str = "end";

/// What the columns of the lines are that begin with `echo`, and with `state`.
const OF_ECHOES: &str = "# echo,hops,security,mac,bytes,sent,answered,mean,least,most";
const OF_STATES: &str = "# state,name,time";

/// Symbols of 16 µs in a second.
const SECOND: u32 = 62_500;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// How many hops the peer is away, in digits: the node does not find that out.
    pub hops: &'a [u8],
    /// How packets are protected, as modes of security are spelt.
    pub security: &'a str,
    /// How the node contends for the channel, and listens: `csma`, `null` or `contikimac`.
    pub mac: &'a str,
}

/// Writes the report, piece by piece, with a line feed behind each line.
pub fn write_report(
    setup: &Setup<'_>,
    echoes: &[EchoTimes; SIZES.len()],
    times: &StateTimes,
    mut put: impl FnMut(&[u8]),
) {
    let put = &mut put;
    line(put, &[HEADER.as_bytes()]);
    line(put, &[OF_ECHOES.as_bytes()]);
    for (bytes, echo) in SIZES.iter().zip(echoes) {
        put_all(put, &[b"echo,", setup.hops, b",", setup.security.as_bytes(), b",", setup.mac.as_bytes()]);
        for number in [*bytes, echo.sent, echo.answered] {
            put(b",");
            put_number(put, number.into(), 1);
        }
        let answered = u32::from(echo.answered);
        let whole = echo.sum.checked_div(answered);
        // What is left over makes less than a symbol.
        let rest = echo.sum.checked_rem(answered).map_or(0, |rest| rest * 16 / answered);
        for (symbols, more) in
            [(whole, rest), (whole.and(Some(echo.least)), 0), (whole.and(Some(echo.most)), 0)]
        {
            put(b",");
            if let Some(symbols) = symbols {
                put_micros(put, symbols, more);
            }
        }
        line(put, &[]);
    }
    line(put, &[OF_STATES.as_bytes()]);
    for (name, symbols) in [
        ("radio-off", times.off),
        ("radio-listen", times.listen),
        ("radio-receive", times.receive),
        ("radio-send", times.send),
        ("radio-acknowledge", times.acknowledge),
        ("processor-active", times.active),
        ("processor-low-power", times.low_power),
    ] {
        put_all(put, &[b"state,", name.as_bytes(), b","]);
        put_micros(put, symbols, 0);
        line(put, &[]);
    }
    line(put, &[LAST_LINE.as_bytes()]);
}

fn put_all(put: &mut impl FnMut(&[u8]), pieces: &[&[u8]]) {
    for piece in pieces {
        put(piece);
    }
}

fn line(put: &mut impl FnMut(&[u8]), pieces: &[&[u8]]) {
    put_all(put, pieces);
    put(b"\n");
}

/// Writes so many symbols in microseconds, and `more` of these, less than 16: all together may be more than 32 bits hold.
fn put_micros(put: &mut impl FnMut(&[u8]), symbols: u32, more: u32) {
    let (seconds, micros) = (symbols / SECOND, symbols % SECOND * 16 + more);
    match seconds {
        0 => put_number(put, micros, 1),
        _ => {
            put_number(put, seconds, 1);
            put_number(put, micros, 6);
        }
    }
}

/// Writes a number, in so many digits at least.
fn put_number(put: &mut impl FnMut(&[u8]), mut number: u32, least: usize) {
    let mut digits = [b'0'; 10];
    let mut begin = digits.len();
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        if number == 0 {
            break;
        }
        (*digit, begin) = (b'0' + (number % 10) as u8, place);
        number /= 10;
    }
    let begin = begin.min(digits.len().saturating_sub(least));
    put(digits.get(begin..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    fn written(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> String {
        let mut text = Vec::new();
        write(&mut |piece| text.extend_from_slice(piece));
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn times_are_microseconds_up_to_the_longest() {
        for (symbols, more, text) in [
            (0, 0, "0"),
            (1, 5, "21"),
            (62_499, 15, "999999"),
            (62_500, 0, "1000000"),
            (u32::MAX, 0, "68719476720"),
        ] {
            assert_eq!(written(|mut put| put_micros(&mut put, symbols, more)), text);
        }
    }

    #[test]
    fn a_report_says_what_its_columns_are_and_has_a_line_for_each_size_and_each_state() {
        let mut echoes = [EchoTimes { sent: 100, answered: 0, sum: 0, least: 0, most: 0 }; SIZES.len()];
        echoes[1] = EchoTimes { sent: 100, answered: 3, sum: 700, least: 200, most: 300 };
        let times =
            StateTimes { off: 0, listen: 1, receive: 2, send: 3, acknowledge: 4, active: 5, low_power: 6 };
        let setup = Setup { hops: b"3", security: "none", mac: "csma" };
        let report = written(|put| write_report(&setup, &echoes, &times, put));
        let lines: Vec<_> = report.lines().collect();
        assert_eq!(lines[..2], [HEADER, OF_ECHOES]);
        assert_eq!(
            lines[2..5],
            [
                "echo,3,none,csma,16,100,0,,,",
                "echo,3,none,csma,64,100,3,3733,3200,4800",
                "echo,3,none,csma,128,100,0,,,",
            ]
        );
        let states = &lines[2 + SIZES.len()..];
        assert_eq!(states[..3], [OF_STATES, "state,radio-off,0", "state,radio-listen,16"]);
        assert_eq!(states[6..], ["state,processor-active,80", "state,processor-low-power,96", LAST_LINE]);
        assert!(report.ends_with('\n'));
    }
}
