//! Reports of nodes that measure echoes, as they come out of serial ports.

use sixlock_node::meter::{HEADER, LAST_LINE};

use super::mistake::Mistake;
use crate::figure::EchoSetting;

/// What a header begins with, of whatever version.
const ANY_HEADER: &str = "# sixlock meter ";

/// The echoes of one size that a node has measured.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeasuredEcho {
    pub(super) line: u64,
    hops: u32,
    bytes: u16,
    security: String,
    mac: String,
    /// Their mean time there and back, in milliseconds.
    pub(super) mean: f64,
}

impl MeasuredEcho {
    pub(super) fn setting(&self) -> EchoSetting<'_> {
        EchoSetting { hops: self.hops, bytes: self.bytes, security: &self.security, mac: &self.mac }
    }

    /// Reads a line; nothing if no such echo came back.
    fn parse(line: u64, fields: &[&str]) -> Result<Option<Self>, String> {
        let [_, hops, security, mac, bytes, _, answered, mean, _, _] = fields else {
            return Err(format!("{} columns instead of 10", fields.len()));
        };
        if mean.is_empty() || *answered == "0" {
            return Ok(None);
        }
        let number = |name: &str, text: &str| {
            text.parse::<u32>().map_err(|_| format!("{name} is no whole number: {text:?}"))
        };
        let bytes =
            u16::try_from(number("bytes", bytes)?).map_err(|_| format!("bytes are not so many: {bytes}"))?;
        let (hops, mean) = (number("hops", hops)?, f64::from(number("mean", mean)?) / 1000.0);
        Ok(Some(Self { line, hops, bytes, security: (*security).into(), mac: (*mac).into(), mean }))
    }
}

/// What is wrong in the last line of `text`.
fn cut_off(text: &str) -> Mistake {
    let why = format!("a report is cut off: its last line is {LAST_LINE:?}");
    Mistake { line: text.lines().count() as u64, why }
}

/// The echoes of all reports in `text`, if there are any: what a serial port says before one, and behind it, is left out.
pub(super) fn read(text: &str) -> Option<Result<Vec<MeasuredEcho>, Vec<Mistake>>> {
    let (mut echoes, mut mistakes) = (Vec::new(), Vec::new());
    let (mut is_inside, mut is_any) = (false, false);
    for (line, said) in (1..).zip(text.lines()) {
        let said = said.trim();
        let mut refuse = |why| mistakes.push(Mistake { line, why });
        if said.starts_with(ANY_HEADER) {
            is_any = true;
            if is_inside {
                refuse("another report begins before the one above has ended".into());
            }
            is_inside = said == HEADER;
            if !is_inside {
                refuse(format!("a report of this program's version begins with {HEADER:?}"));
            }
        } else if is_inside && said == LAST_LINE {
            is_inside = false;
        } else if is_inside {
            let fields: Vec<_> = said.split(',').collect();
            match fields[0] {
                "echo" => match MeasuredEcho::parse(line, &fields) {
                    Ok(echo) => echoes.extend(echo),
                    Err(why) => refuse(why),
                },
                "state" => {}
                _ if said.starts_with('#') => {}
                _ => refuse(format!("this is no line of a report: {said:?}")),
            }
        }
    }
    if is_inside {
        mistakes.push(cut_off(text));
    }
    is_any.then_some(if mistakes.is_empty() { Ok(echoes) } else { Err(mistakes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lines: &str) -> String {
        format!("{HEADER}\r\n# echo,hops\r\n{lines}\r\nstate,radio-off,0\r\n{LAST_LINE}\r\n")
    }

    #[test]
    fn echoes_of_all_reports_are_read_whatever_stands_around_them() {
        let one = report(
            "echo,1,none,csma,16,100,99,3296,3200,4160\r\necho,1,none,csma,64,100,0,,,\r\necho,1,none,csma,512,100,0,0,0,0",
        );
        let text = format!("booting\r\n{one}\u{fffd}noise\n{}", report("echo,3,none,null,64,9,9,12000,1,2"));
        let echoes = read(&text).unwrap().unwrap();
        let settings: Vec<_> = echoes.iter().map(|echo| (echo.line, echo.setting(), echo.mean)).collect();
        let echo = |hops, bytes, mac| EchoSetting { hops, bytes, security: "none", mac };
        assert_eq!(settings, [(4, echo(1, 16, "csma"), 3.296), (12, echo(3, 64, "null"), 12.0)]);
        assert!(read("experiment,figure\nend\n").is_none(), "there is no report");
    }

    #[test]
    fn what_is_wrong_in_a_report_is_told_with_its_line() {
        let whole = report("echo,1,none,csma,16,100,99,3296,3200,4160");
        for (text, line, why) in [
            (report("echo,1,none,csma,16,100"), 3, "6 columns instead of 10"),
            (report("echo,far,none,csma,16,1,1,1,1,1"), 3, "hops is no whole number: \"far\""),
            (report("echo,1,none,csma,65552,1,1,1,1,1"), 3, "bytes are not so many: 65552"),
            (report("ech"), 3, "this is no line of a report: \"ech\""),
            (whole.replace("meter 1", "meter 2"), 1, "a report of this program's version begins with"),
            (whole.replace(LAST_LINE, ""), 5, "this is no line of a report: \"\""),
            (whole.trim_end().replace("\r\nend", ""), 4, "a report is cut off: its last line is \"end\""),
            (format!("{HEADER}\n{whole}"), 2, "another report begins before the one above has ended"),
        ] {
            let mistakes = read(&text).unwrap().unwrap_err();
            assert_eq!(mistakes[0].line, line, "{mistakes:?}");
            assert!(mistakes[0].why.starts_with(why), "{mistakes:?}");
        }
    }
}
