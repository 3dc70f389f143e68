//! `sixlock decode`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};

use serde::Serialize;
use serde_json::Value;
use sixlock_decode::{Capture, Decoder, Keys, Layer, Reason, Record};

use crate::args::Decode;
use crate::standard_streams::unless_closed;

/// One frame, as it is written as JSON.
#[derive(Serialize)]
struct Frame {
    /// Its number in the capture, counted from 1.
    number: u64,
    us: u64,
    bytes: usize,
    layers: Vec<Layer>,
}

pub(crate) fn run(args: &Decode) -> Result<(), Box<dyn Error>> {
    let mut keys = Keys::default();
    for path in &args.keys {
        let told = |error: &dyn Error| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| told(&error))?;
        keys.add(&text).map_err(|error| told(&error))?;
    }
    let path = &args.capture;
    let told = |error: &dyn Error| format!("{}: {error}", path.display());
    let input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|error| told(&error))?)
    };
    let capture = Capture::new(BufReader::new(input)).map_err(|error| told(&error))?;
    let mut printer = Printer::new(args, BufWriter::new(io::stdout().lock()));
    let mut decoder = Decoder::new(keys);
    let mut damaged = None;
    for record in capture {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                damaged = Some(told(&error));
                break;
            }
        };
        if let Err(error) = printer.frame(&record, decoder.decode(&record)) {
            return Ok(unless_closed(error)?);
        }
    }
    if let Err(error) = printer.end() {
        return Ok(unless_closed(error)?);
    }
    damaged.map_or(Ok(()), |error| Err(error.into()))
}

/// Writes frames, and counts those that were not read whole.
struct Printer<'a, W> {
    args: &'a Decode,
    out: W,
    frames: u64,
    unread: BTreeMap<Reason, u64>,
}

impl<'a, W: Write> Printer<'a, W> {
    fn new(args: &'a Decode, out: W) -> Self {
        Self { args, out, frames: 0, unread: BTreeMap::new() }
    }

    fn frame(&mut self, record: &Record, layers: Vec<Layer>) -> io::Result<()> {
        self.frames += 1;
        for layer in &layers {
            if let Layer::Unread(unread) = layer {
                *self.unread.entry(unread.reason).or_default() += 1;
            }
        }
        let frame = Frame { number: self.frames, us: record.us, bytes: record.frame.len(), layers };
        if self.args.json {
            self.out.write_all(if self.frames == 1 { b"[" } else { b",\n" })?;
            return serde_json::to_writer(&mut self.out, &frame).map_err(io::Error::from);
        }
        let Frame { number, us, bytes, layers } = &frame;
        let (seconds, micros) = (us / 1_000_000, us % 1_000_000);
        write!(self.out, "{number:>5} {seconds:>4}.{micros:06} {bytes:>3}")?;
        for (place, layer) in layers.iter().enumerate() {
            write!(self.out, "{}{layer}", if place == 0 { "  " } else { " | " })?;
        }
        writeln!(self.out)?;
        if self.args.verbose {
            for layer in layers {
                writeln!(self.out, "        {layer}")?;
                if let Value::Object(mut fields) = serde_json::to_value(layer)? {
                    fields.remove("layer");
                    print_fields(&mut self.out, &fields, 12)?;
                }
            }
        }
        Ok(())
    }

    fn end(mut self) -> io::Result<()> {
        if self.args.json {
            self.out.write_all(if self.frames == 0 { b"[]\n" } else { b"]\n" })?;
        }
        self.out.flush()?;
        let mut summary = format!("{} frames", self.frames);
        for (reason, count) in &self.unread {
            summary += &format!("; not read: {count}, {}", reason.name());
        }
        to_stderr!("{summary}");
        Ok(())
    }
}

/// Prints fields, a line each, and those inside of them further in.
fn print_fields(
    out: &mut impl Write,
    fields: &serde_json::Map<String, Value>,
    indent: usize,
) -> io::Result<()> {
    for (name, value) in fields {
        let name = name.replace('_', " ");
        match value {
            Value::Null => {}
            Value::Object(inner) => {
                writeln!(out, "{:indent$}{name}", "")?;
                print_fields(out, inner, indent + 4)?;
            }
            Value::Array(values) if values.iter().any(Value::is_object) => {
                for value in values {
                    writeln!(out, "{:indent$}{name}", "")?;
                    if let Value::Object(inner) = value {
                        print_fields(out, inner, indent + 4)?;
                    }
                }
            }
            Value::Array(values) => {
                let values: Vec<_> = values.iter().map(plain).collect();
                writeln!(out, "{:indent$}{name}: {}", "", values.join(", "))?;
            }
            value => writeln!(out, "{:indent$}{name}: {}", "", plain(value))?,
        }
    }
    Ok(())
}

/// A value without the quotes of JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
