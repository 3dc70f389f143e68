//! What readers have measured themselves: a third column beside ours and what was published.

mod meter_report;
mod mistake;
mod typed;

use std::io::Read;

use crate::evaluation::Evaluation;
use crate::experiments::EXPERIMENTS;
use crate::figure::{Figure, Row};
use meter_report::MeasuredEcho;

pub use mistake::Mistake;
pub use typed::has_more_typed;

/// What the columns of a file of measurements are called.
pub(crate) const COLUMNS: [&str; 6] = ["experiment", "figure", "label", "x", "value", "unit"];
/// A file that is larger is refused, in bytes.
const LARGEST: u64 = 16 << 20;

/// The measurements of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Each names its value.
    Values(Vec<Measurement>),
    /// Each is of all values that are of this echo.
    Echoes(Vec<MeasuredEcho>),
}

#[derive(Clone, Debug, PartialEq)]
struct Measurement {
    line: u64,
    experiment: String,
    figure: String,
    label: String,
    x: Option<f64>,
    value: f64,
    unit: String,
}

impl Measurements {
    /// Reads CSV (RFC 4180): a line for each value, below one that names the columns `experiment`, `figure`, `label`, `x`, `value` and
    /// `unit`. A line without a value is left out. Or it reads what has come out of the serial ports of nodes that measure: their reports, one or
    /// several.
    ///
    /// # Errors
    /// All lines that are wrong.
    pub fn read(file: impl Read) -> Result<Self, Vec<Mistake>> {
        let mut bytes = Vec::new();
        let wrong = |why| vec![Mistake { line: 1, why }];
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
        if bytes.len() as u64 > LARGEST {
            return Err(wrong(format!("a file of over {LARGEST} bytes is not read")));
        }
        // A port that is opened while a device starts may say anything.
        if let Some(echoes) = meter_report::read(&String::from_utf8_lossy(&bytes)) {
            return echoes.map(|echoes| Self(Kind::Echoes(echoes)));
        }
        let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        // Behind the line ends of a spreadsheet, the reader counts lines too late.
        let text = text.replace("\r\n", "\n");
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let names = reader.headers().map_err(|error| vec![Mistake::of(&error)])?;
        let columns = columns(names).map_err(|why| vec![Mistake { line: 1, why }])?;
        let (mut measurements, mut mistakes): (Vec<Measurement>, Vec<Mistake>) = (Vec::new(), Vec::new());
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    mistakes.push(Mistake::of(&error));
                    continue;
                }
            };
            let line = record.position().map_or(0, csv::Position::line);
            match Measurement::parse(line, columns.map(|column| record.get(column).unwrap_or_default())) {
                Ok(Some(measurement)) => measurements.push(measurement),
                Ok(None) => {}
                Err(why) => mistakes.push(Mistake { line, why }),
            }
        }
        if measurements.is_empty() && mistakes.is_empty() {
            mistakes.push(Mistake { line: 1, why: "no line has a value".into() });
        }
        if mistakes.is_empty() { Ok(Self(Kind::Values(measurements))) } else { Err(mistakes) }
    }

    /// Enters those of this experiment beside its values: how many there are.
    ///
    /// # Errors
    /// All lines that name none of its values, or one that another line has named.
    pub fn enter(&self, evaluation: &mut Evaluation) -> Result<usize, Vec<Mistake>> {
        let (mut entered, mut mistakes) = (0, Vec::new());
        let mut note = |line, result: Result<(), String>| match result {
            Ok(()) => entered += 1,
            Err(why) => mistakes.push(Mistake { line, why }),
        };
        match &self.0 {
            Kind::Values(measurements) => {
                for one in measurements.iter().filter(|one| one.experiment == evaluation.experiment) {
                    let row = find(&mut evaluation.figures, one);
                    note(one.line, row.and_then(|row| set(row, one.value)));
                }
            }
            Kind::Echoes(echoes) => {
                for row in evaluation.figures.iter_mut().flat_map(|figure| &mut figure.rows) {
                    let wanted = row.echo;
                    for echo in echoes.iter().filter(|echo| wanted == Some(echo.setting())) {
                        note(echo.line, set(row, echo.mean));
                    }
                }
            }
        }
        if mistakes.is_empty() { Ok(entered) } else { Err(mistakes) }
    }
}

/// Enters a measurement beside a value that has none.
fn set(row: &mut Row, measured: f64) -> Result<(), String> {
    match row.measured.replace(measured) {
        None => Ok(()),
        Some(_) => Err("a line before has the measurement of this value".into()),
    }
}

/// Where the columns of [`COLUMNS`] stand.
fn columns(names: &csv::StringRecord) -> Result<[usize; 6], String> {
    if let Some(unknown) = names.iter().find(|name| !COLUMNS.contains(name)) {
        return Err(format!("there is no column {unknown:?}; the columns are {}", COLUMNS.join(", ")));
    }
    let mut places = [0; 6];
    for (place, wanted) in places.iter_mut().zip(COLUMNS) {
        let mut found = names.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(n, _)| n);
        *place = found.next().ok_or(format!(
            "the column {wanted} is missing; the first line names the columns, which are {}",
            COLUMNS.join(", ")
        ))?;
        if found.next().is_some() {
            return Err(format!("the column {wanted} stands there twice"));
        }
    }
    Ok(places)
}

impl Measurement {
    /// Returns `None` if the line has no value.
    fn parse(line: u64, fields: [&str; 6]) -> Result<Option<Self>, String> {
        let [experiment, figure, label, x, value, unit] = fields;
        if !EXPERIMENTS.iter().any(|known| known.name == experiment) {
            return Err(format!(
                "there is no experiment {experiment:?}; sixlock eval --list has their names"
            ));
        }
        if value.is_empty() {
            return Ok(None);
        }
        let number = |name: &str, text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or(format!("{name} is no number: {text:?}"))
        };
        Ok(Some(Self {
            line,
            experiment: experiment.into(),
            figure: figure.into(),
            label: label.into(),
            x: if x.is_empty() { None } else { Some(number("x", x)?) },
            value: number("value", value)?,
            unit: unit.into(),
        }))
    }
}

/// The row that a measurement is one of.
fn find<'f>(figures: &'f mut [Figure], wanted: &Measurement) -> Result<&'f mut Row, String> {
    let titles: Vec<_> = figures.iter().map(|figure| figure.title).collect();
    let Some(figure) = figures.iter_mut().find(|figure| figure.title == wanted.figure) else {
        return Err(format!(
            "there is no figure {:?}; those of {} are {titles:?}",
            wanted.figure, wanted.experiment
        ));
    };
    let (mut labels, mut places) = (Vec::new(), Vec::new());
    for row in &figure.rows {
        if !labels.contains(&row.label) {
            labels.push(row.label.clone());
        }
        if row.label == wanted.label {
            places.push(row.x.map_or("none".into(), |x| x.to_string()));
        }
    }
    match figure.rows.iter_mut().find(|row| row.label == wanted.label && row.x == wanted.x) {
        Some(row) if row.unit == wanted.unit => Ok(row),
        Some(row) => Err(format!("the unit is {:?}, not {:?}", row.unit, wanted.unit)),
        None if places.is_empty() => {
            Err(format!("there is no label {:?}; the labels are {labels:?}", wanted.label))
        }
        None => Err(format!("there is no value at this x; those of this label are at {}", places.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use sixlock_node::meter;

    use super::*;
    use crate::figure::{EchoSetting, Provenance};
    use crate::setup::Parameters;

    const NAMES: &str = "experiment,figure,label,x,value,unit\n";

    fn evaluation() -> Evaluation {
        let row = |label: &str, x: Option<f64>| Row { x, ..Row::new(label, 2.5, "ms", Provenance::Measured) };
        let figure = |title, rows| Figure { title, across: None, rows };
        Evaluation {
            schema: 1,
            experiment: "thesis-fig33",
            source: String::new(),
            paper: String::new(),
            relative_error: None,
            at: "figure 1",
            shows: "times",
            missing: &[],
            is_own: false,
            reproduced: true,
            parameters: Parameters::of("thesis-fig33", 1, "unknown").unwrap(),
            figures: vec![
                figure("Time, \"all\"", vec![row("AH", Some(16.0)), row("AH", Some(64.0)), row("ESP", None)]),
                figure("Time of some", vec![row("AH", Some(16.0))]),
            ],
            claims: Vec::new(),
            unchecked: Vec::new(),
        }
    }

    #[test]
    fn an_echo_that_a_node_has_measured_stands_beside_all_values_of_its_setting() {
        let echo = |hops, bytes| Some(EchoSetting { hops, bytes, security: "none", mac: "csma" });
        let mut evaluation = evaluation();
        let [one, two] = &mut evaluation.figures[..] else { panic!() };
        (one.rows[0].echo, one.rows[1].echo, two.rows[0].echo) = (echo(1, 16), echo(3, 16), echo(1, 16));
        let lines = "echo,1,none,csma,16,100,99,3296,1,2\necho,3,none,null,16,100,99,4000,1,2\n";
        let report = |lines: &str| format!("{}\n{lines}{}\n", meter::HEADER, meter::LAST_LINE);
        let read = |text: &str| Measurements::read(text.as_bytes()).unwrap();
        assert_eq!(read(&report(lines)).enter(&mut evaluation.clone()), Ok(2));
        assert_eq!(read(&report("")).enter(&mut evaluation.clone()), Ok(0));
        read(&report(lines)).enter(&mut evaluation).unwrap();
        let measured = evaluation.figures.iter().flat_map(|figure| &figure.rows).map(|row| row.measured);
        assert_eq!(measured.collect::<Vec<_>>(), [Some(3.296), None, None, Some(3.296)]);
        let twice = read(&report(lines).repeat(2)).enter(&mut evaluation.clone()).unwrap_err();
        assert_eq!(twice[0].why, "a line before has the measurement of this value");
    }

    fn read(lines: &str) -> Result<Measurements, Vec<Mistake>> {
        Measurements::read(format!("{NAMES}{lines}").as_bytes())
    }

    fn enter(lines: &str) -> Result<Evaluation, Vec<Mistake>> {
        let mut evaluation = evaluation();
        read(lines).unwrap().enter(&mut evaluation).map(|_| evaluation)
    }

    #[test]
    fn a_measurement_stands_beside_the_value_of_its_name() {
        let lines = "thesis-fig33,\"Time, \"\"all\"\"\",AH,64,3.5,ms\nthesis-fig33,\"Time, \"\"all\"\"\",ESP,,-1e1,ms\n\
                     thesis-fig33,Time of some,AH,16.0,,ms\nthesis-fig34,another,AH,1,1,ms\n";
        let entered = enter(lines).unwrap();
        let measured: Vec<Vec<_>> = entered
            .figures
            .iter()
            .map(|figure| figure.rows.iter().map(|row| row.measured).collect())
            .collect();
        assert_eq!(measured, [vec![None, Some(3.5), Some(-10.0)], vec![None]]);
    }

    #[test]
    fn columns_have_any_order_and_none_is_missing_unknown_or_twice() {
        let reordered = "unit,value,x,label,figure,experiment\nms,1,16,AH,Time of some,thesis-fig33\n";
        let mut evaluation = evaluation();
        Measurements::read(reordered.as_bytes()).unwrap().enter(&mut evaluation).unwrap();
        assert_eq!(evaluation.figures[1].rows[0].measured, Some(1.0));
        for (names, wanted) in [
            ("experiment,figure,label,x,value\n", "the column unit is missing"),
            ("experiment,figure,label,x,value,unit,when\n", "there is no column \"when\""),
            ("experiment,figure,label,x,value,unit,unit\n", "the column unit stands there twice"),
            ("", "the column experiment is missing"),
        ] {
            let mistakes = Measurements::read(names.as_bytes()).unwrap_err();
            assert!(mistakes[0].why.starts_with(wanted), "{names}: {mistakes:?}");
        }
    }

    #[test]
    fn each_wrong_line_is_told_with_its_number() {
        let lines = "thesis-fig33,Time of some,AH,16,inf,ms\r\nthesis,Time of some,AH,16,1,ms\nthesis-fig33,Time of some,AH,a,1,ms\r\n\
                     thesis-fig33,Time of some,AH,16\n";
        let told: Vec<_> = read(lines)
            .unwrap_err()
            .into_iter()
            .map(|Mistake { line, why }| format!("{line}: {why}"))
            .collect();
        assert_eq!(
            told,
            [
                "2: value is no number: \"inf\"",
                "3: there is no experiment \"thesis\"; sixlock eval --list has their names",
                "4: x is no number: \"a\"",
                "5: 4 columns instead of 6",
            ]
        );
        assert_eq!(read("").unwrap_err()[0].why, "no line has a value");
    }

    #[test]
    fn what_an_experiment_does_not_have_is_told_with_what_it_has() {
        for (line, wanted) in [
            ("Time,AH,16,1,ms", "there is no figure \"Time\"; those of thesis-fig33 are"),
            ("Time of some,ESP,16,1,ms", "there is no label \"ESP\"; the labels are [\"AH\"]"),
            ("Time of some,AH,17,1,ms", "there is no value at this x; those of this label are at 16"),
            ("Time of some,AH,16,1,s", "the unit is \"ms\", not \"s\""),
        ] {
            let mistakes = enter(&format!("thesis-fig33,{line}\n")).unwrap_err();
            assert!(mistakes.len() == 1 && mistakes[0].line == 2, "{mistakes:?}");
            assert!(mistakes[0].why.starts_with(wanted), "{mistakes:?}");
        }
        let twice = "thesis-fig33,Time of some,AH,16,1,ms\n".repeat(2);
        assert_eq!(enter(&twice).unwrap_err()[0].line, 3);
    }
}
