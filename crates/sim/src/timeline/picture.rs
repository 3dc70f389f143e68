//! A timeline as a picture, in SVG: a band for each station, in columns of time. In a column, each state is as high as its share of the column's
//! time, but not so low that nobody sees it.

use std::fmt::Write;

use crate::meters::RadioState;
use crate::time::{Span, Time};

use super::change::{Change, Component, State, TimelineStation};

/// How many stations a picture has room for.
pub(crate) const PICTURED: usize = 200;

/// Columns of time, each a unit wide.
const COLUMNS: usize = 1200;
/// Where the first begins, and what is left behind the last.
const LEFT: usize = 90;
const RIGHT: usize = 190;
/// Where the first band begins.
const TOP: usize = 84;
/// Between two bands.
const GAP: usize = 7;
/// The share of a band that a state is drawn at least that was there at all.
const LEAST: f64 = 1.0 / 8.0;

/// The most states that a component has.
const STATES: usize = 5;

/// What is drawn of a component: how high, and for each state its colour and what the legend calls it, the lowest first. One without colour
/// is left blank.
struct Look {
    component: Component,
    height: usize,
    states: &'static [(Option<&'static str>, &'static str)],
}

/// Colours that are told apart by those who see colours differently, too: of Okabe and Ito.
const LOOKS: [Look; 5] = [
    Look {
        component: Component::Radio,
        height: 28,
        states: &[
            (Some("#d55e00"), "radio sends a frame"),
            (Some("#e69f00"), "radio sends an acknowledgement"),
            (Some("#0072b2"), "a frame comes in"),
            (Some("#a6d3ee"), "radio listens"),
            (Some("#ececec"), "radio is off"),
        ],
    },
    Look {
        component: Component::Cpu,
        height: 9,
        states: &[(Some("#009e73"), "CPU at work"), (Some("#ececec"), "CPU in low power")],
    },
    Look {
        component: Component::Engine,
        height: 5,
        states: &[(Some("#b3a800"), "accelerator at work"), (None, "")],
    },
    Look {
        component: Component::Storage,
        height: 5,
        states: &[(Some("#000000"), "storage is written to"), (None, "")],
    },
    Look {
        component: Component::Handshake,
        height: 5,
        states: &[(Some("#cc79a7"), "DTLS handshake under way"), (None, "")],
    },
];

/// Which of the states of its look a state is.
fn index(state: State) -> usize {
    match state {
        State::Radio(RadioState::Transmit) | State::Busy(true) => 0,
        State::Radio(RadioState::Acknowledge) | State::Busy(false) => 1,
        State::Radio(RadioState::Receive) => 2,
        State::Radio(RadioState::Listen) => 3,
        State::Radio(RadioState::Off) => 4,
    }
}

/// The times of a component's states, by column.
struct Row {
    look: &'static Look,
    /// The state that it is in, if that is known, and since when.
    state: Option<usize>,
    since: u64,
    columns: Vec<[u64; STATES]>,
}

impl Row {
    /// The state lasts until `time`, of `all` microseconds.
    fn until(&mut self, time: u64, all: u64) {
        let (from, columns) = (self.since, self.columns.len() as u64);
        self.since = time;
        let Some(state) = self.state else { return };
        let begin_of =
            |column: u64| (u128::from(column) * u128::from(all)).div_ceil(u128::from(columns)) as u64;
        let column_of = |time: u64| (u128::from(time) * u128::from(columns) / u128::from(all)) as u64;
        let mut begin = from;
        while begin < time {
            let column = column_of(begin).min(columns - 1);
            let end = if column + 1 == columns { time } else { begin_of(column + 1).min(time) };
            self.columns[column as usize][state] += end - begin;
            begin = end;
        }
    }

    /// How high the states of a column are, the lowest first; in tenths of a unit, so that equal ones look equal.
    fn heights(&self, column: usize) -> [u32; STATES] {
        let times = self.columns[column];
        let all: u64 = times.iter().sum();
        if all == 0 {
            return [0; STATES];
        }
        let height = self.look.height as f64;
        let mut heights = times.map(|time| match time {
            0 => 0.0,
            time => height * (time as f64 / all as f64).max(LEAST),
        });
        // The highest makes room for what is drawn higher than it is.
        let over = heights.iter().sum::<f64>() - height;
        if let Some(highest) = heights.iter_mut().max_by(|a, b| a.total_cmp(b)) {
            *highest -= over;
        }
        heights.map(|height| (height * 10.0).round() as u32)
    }

    /// Whether it was ever in a state that is drawn.
    fn shows_anything(&self) -> bool {
        let is_drawn = |state: usize| self.look.states.get(state).is_some_and(|(colour, _)| colour.is_some());
        self.columns.iter().any(|times| (0..STATES).any(|state| is_drawn(state) && times[state] > 0))
    }

    /// Draws it from `top` on, each state as a path.
    fn draw(&self, top: usize, to: &mut String) {
        let mut paths = [const { String::new() }; STATES];
        let bottom = top + self.look.height;
        let mut column = 0;
        while column < self.columns.len() {
            let heights = self.heights(column);
            let same =
                (column..self.columns.len()).take_while(|&other| self.heights(other) == heights).count();
            let mut below = 0;
            for (path, height) in paths.iter_mut().zip(heights) {
                if height > 0 {
                    let y = bottom as f64 - f64::from(below) / 10.0;
                    let height = f64::from(height) / 10.0;
                    // A string takes whatever is written.
                    let _ = write!(path, "M{} {y}h{same}v-{height}h-{same}z", LEFT + column);
                }
                below += height;
            }
            column += same;
        }
        for ((colour, _), path) in self.look.states.iter().zip(paths) {
            if let Some(colour) = colour.filter(|_| !path.is_empty()) {
                let _ = write!(to, "<path fill=\"{colour}\" d=\"{path}\"/>");
            }
        }
    }
}

/// What stands around a picture.
pub(crate) struct Caption {
    pub(crate) title: String,
    /// Behind the band of each station.
    pub(crate) notes: Vec<String>,
}

/// A picture that is being made.
pub(crate) struct Picture {
    /// How many microseconds it shows.
    all: u64,
    /// By station: what it is called, and its components.
    bands: Vec<(String, Vec<Row>)>,
}

impl Picture {
    /// That of these stations, of which the first is the border router, for so long.
    pub(crate) fn new(stations: &[TimelineStation], duration: Span) -> Self {
        let bands = stations.iter().map(|station| {
            let looks = LOOKS.iter().filter(|look| station.components.contains(&look.component));
            let row = |look| Row { look, state: None, since: 0, columns: vec![[0; STATES]; COLUMNS] };
            let name = match (station.number, station.components == Component::OF_ROUTERS) {
                (0, _) => "router".into(),
                (number, true) => format!("router {number}"),
                (number, false) => format!("node {number}"),
            };
            (name, looks.map(row).collect())
        });
        Self { all: duration.micros().max(1), bands: bands.collect() }
    }

    /// A component enters a state.
    pub(crate) fn enter(&mut self, change: &Change) {
        let (time, all) = (change.time.micros().min(self.all), self.all);
        let (_, rows) = &mut self.bands[change.station as usize];
        if let Some(row) = rows.iter_mut().find(|row| row.look.component == change.component) {
            row.until(time, all);
            row.state = Some(index(change.state));
        }
    }

    /// The picture, when the simulation ends at `now`.
    pub(crate) fn draw(&mut self, now: Time, caption: &Caption) -> String {
        let all = self.all;
        for row in self.bands.iter_mut().flat_map(|(_, rows)| rows) {
            row.until(now.micros().min(all), all);
        }
        // What nobody has, is not in the picture.
        let shown: Vec<_> = LOOKS
            .iter()
            .map(|look| look.component)
            .filter(|component| {
                let mut rows = self.bands.iter().flat_map(|(_, rows)| rows);
                rows.any(|row| row.look.component == *component && row.shows_anything())
            })
            .collect();
        let (mut drawn, mut top) = (String::new(), TOP);
        for ((name, rows), note) in self.bands.iter().zip(&caption.notes) {
            let begin = top;
            for row in rows.iter().filter(|row| shown.contains(&row.look.component)) {
                row.draw(top, &mut drawn);
                top += row.look.height + 1;
            }
            let _ = writeln!(
                drawn,
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{name}</text><text x=\"{}\" y=\"{y}\">{}</text>",
                LEFT - 8,
                LEFT + COLUMNS + 8,
                escape(note),
                y = begin + 18
            );
            top += GAP;
        }
        let (width, height) = (LEFT + COLUMNS + RIGHT, top + 40);
        let mut picture = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"{title}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{title}</text>\n",
            title = escape(&caption.title)
        );
        self.legend(&shown, &mut picture);
        picture.push_str(&drawn);
        self.axis(top, &mut picture);
        picture.push_str("</svg>\n");
        picture
    }

    /// What the colours are, and how long a column is.
    fn legend(&self, shown: &[Component], to: &mut String) {
        let looks = LOOKS.iter().filter(|look| shown.contains(&look.component));
        let states = looks.flat_map(|look| look.states);
        let (mut x, mut y) = (LEFT, 40);
        for (colour, name) in states.filter_map(|(colour, name)| Some((colour.as_ref()?, name))) {
            let width = 24 + name.len() * 7;
            if x + width > LEFT + COLUMNS {
                (x, y) = (LEFT, y + 16);
            }
            let _ = writeln!(
                to,
                "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\" stroke=\"#888888\" stroke-width=\"0.5\"/>\
                 <text x=\"{}\" y=\"{y}\">{name}</text>",
                y - 9,
                x + 14
            );
            x += width;
        }
        let column = self.all as f64 / COLUMNS as f64 / 1000.0;
        let _ = writeln!(
            to,
            "<text x=\"{LEFT}\" y=\"{}\" fill=\"#555555\">a column is {} ms; in it, each state is as high as its share of \
             that time, and at least an eighth of the band if it was there at all</text>",
            TOP - 10,
            number(column)
        );
    }

    /// The axis of time below all bands.
    fn axis(&self, y: usize, to: &mut String) {
        let seconds = self.all as f64 / 1e6;
        let (unit, in_unit) = match seconds {
            short if short < 1.0 => ("ms", seconds * 1e3),
            long if long >= 3.0 * 86_400.0 => ("days", seconds / 86_400.0),
            long if long >= 3.0 * 3_600.0 => ("hours", seconds / 3_600.0),
            _ => ("seconds", seconds),
        };
        let step = step(in_unit);
        let end = LEFT + COLUMNS;
        let _ = write!(to, "<path stroke=\"#333333\" fill=\"none\" d=\"M{LEFT} {y}h{COLUMNS}");
        let ticks = (0..).map(|n| f64::from(n) * step).take_while(|tick| *tick <= in_unit * 1.000_001);
        let ticks: Vec<_> = ticks.map(|tick| (tick, LEFT as f64 + tick / in_unit * COLUMNS as f64)).collect();
        for (_, x) in &ticks {
            let _ = write!(to, "M{x:.1} {y}v5");
        }
        to.push_str("\"/>\n");
        for (tick, x) in &ticks {
            let _ = write!(
                to,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                y + 17,
                number(*tick)
            );
        }
        let _ = writeln!(to, "<text x=\"{}\" y=\"{}\">{unit}</text>", end + 26, y + 17);
    }
}

/// A round step, of which at most twelve make `range`.
fn step(range: f64) -> f64 {
    let powers = core::iter::successors(Some(0.001), |power| Some(power * 10.0));
    let mut steps = powers.take(20).flat_map(|power| [power, 2.0 * power, 5.0 * power]);
    steps.find(|step| range <= 12.0 * step).unwrap_or(range)
}

/// A number with as many places as it needs here.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn picture(micros: u64) -> Picture {
        let station = TimelineStation { number: 1, platform: None, components: Component::OF_NATIVE_NODES };
        Picture::new(&[station], Span::from_micros(micros))
    }

    fn enter(picture: &mut Picture, micros: u64, state: RadioState) {
        let state = State::Radio(state);
        picture.enter(&Change { time: at(micros), station: 0, component: Component::Radio, state });
    }

    #[test]
    fn the_columns_have_all_the_time_of_each_state() {
        for all in [7, 1200, 1201, 999_983, 3_600_000_000] {
            let mut picture = picture(all);
            enter(&mut picture, 0, RadioState::Listen);
            enter(&mut picture, all / 3, RadioState::Transmit);
            enter(&mut picture, all / 2, RadioState::Off);
            picture.draw(at(all), &Caption { title: String::new(), notes: vec![String::new()] });
            let row = &picture.bands[0].1[0];
            let sum = |state| row.columns.iter().map(|times| times[state]).sum::<u64>();
            assert_eq!([3, 0, 4].map(sum), [all / 3, all / 2 - all / 3, all - all / 2], "{all}");
            let longest = row.columns.iter().map(|times| times.iter().sum::<u64>()).max().unwrap();
            assert!(longest <= all.div_ceil(COLUMNS as u64), "{all}: {longest}");
        }
    }

    #[test]
    fn what_is_short_is_drawn_and_a_band_is_as_high_as_ever() {
        let mut picture = picture(1_200_000_000);
        enter(&mut picture, 0, RadioState::Listen);
        enter(&mut picture, 500, RadioState::Transmit);
        enter(&mut picture, 510, RadioState::Listen);
        let caption = Caption { title: "a < b".into(), notes: vec!["1 mJ".into()] };
        let drawn = picture.draw(at(1_200_000_000), &caption);
        let row = &picture.bands[0].1[0];
        assert_eq!(row.heights(0), [35, 0, 0, 245, 0]);
        assert_eq!(row.heights(1), [0, 0, 0, 280, 0]);
        assert!(drawn.contains("<path fill=\"#d55e00\" d=\"M90 112h1v-3.5h-1z\"/>"), "{drawn}");
        assert!(drawn.contains("h1199v-28h-1199z"), "columns that look the same are one: {drawn}");
        assert!(
            drawn.contains("a &lt; b") && drawn.contains(">1 mJ<") && drawn.contains(">seconds<"),
            "{drawn}"
        );
        assert!(!drawn.contains("handshake"), "nothing is said of what there is none of");
    }
}
