use core::fmt;
use std::io;

use crate::image::ImageError;

/// Why an image could not be run, or run on.
#[derive(Debug)]
pub struct Error {
    /// What is wrong.
    pub cause: Cause,
    /// The last lines that the emulator printed.
    pub said: String,
}

/// What is wrong.
#[derive(Debug)]
pub enum Cause {
    /// The image is none, or lacks what is asked of it.
    Image(ImageError),
    /// This emulator is not installed: its program, and what to do.
    NotInstalled {
        /// The program.
        program: &'static str,
        /// What provides it.
        remedy: &'static str,
    },
    /// It could not be started.
    Start(io::Error),
    /// The connection to it broke: it has ended, or it did not answer in time.
    Connection(io::Error),
    /// What it sent makes no sense, in answer to this command.
    Garbled(String),
    /// It refused this command.
    Refused(String),
    /// The image stopped elsewhere than at the function where it was to stop.
    Strayed {
        /// The address where it stands.
        pc: u32,
    },
    /// The image does not come to a stop.
    Stuck {
        /// The address where it was found in the end.
        pc: u32,
    },
    /// Two emulators that ran the same do not agree: the instructions and cycles that the first has counted, and where
    /// they stand.
    Disagreement {
        /// Instructions.
        instructions: u64,
        /// Cycles that the first charges.
        charged: u64,
        /// The address where the first stands.
        pc: u32,
        /// What the second would charge, and where it stands, if it has come to an end.
        second: Option<(u64, u32)>,
    },
    /// The image panicked.
    Panicked,
    /// The device's data do not fit into an image: why.
    Device(String),
    /// The device wants something that there is not: this command.
    Command(u8),
    /// The device asks for more and more, and its task does not end.
    Restless,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        match self.said.as_str() {
            "" => Ok(()),
            said => write!(f, "; the emulator said: {said}"),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(error) => write!(f, "{error}"),
            Self::NotInstalled { program, remedy } => write!(f, "{program} is not there: {remedy}"),
            Self::Start(error) => write!(f, "the emulator could not be started: {error}"),
            Self::Connection(error) => write!(f, "the emulator has ended or does not answer: {error}"),
            Self::Garbled(command) => write!(f, "the emulator's answer to `{command}` makes no sense"),
            Self::Refused(command) => write!(f, "the emulator refused `{command}`"),
            Self::Strayed { pc } => write!(
                f,
                "the image stopped at {pc:#x}, which is not where it was to stop: llvm-addr2line -e IMAGE {pc:#x} says what is there"
            ),
            Self::Stuck { pc } => write!(
                f,
                "the image runs on and on, around {pc:#x}: llvm-addr2line -e IMAGE {pc:#x} says what is there"
            ),
            Self::Disagreement { instructions, charged, pc, second } => {
                write!(
                    f,
                    "after {instructions} instructions mspdebug has charged {charged} cycles and stands at {pc:#x}"
                )?;
                match second {
                    Some((charged, pc)) => {
                        write!(f, ", while ours would have charged {charged} and stands at {pc:#x}")
                    }
                    None => write!(f, ", while ours came to an instruction that there is not"),
                }
            }
            Self::Panicked => write!(f, "the image panicked"),
            Self::Device(why) => write!(f, "the device's data do not fit into an image: {why}"),
            Self::Command(command) => {
                write!(f, "the image gave command {command}, which is none: build it anew")
            }
            Self::Restless => write!(f, "a task of the image asks for more and more and does not end"),
        }
    }
}

impl core::error::Error for Error {}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        Self { cause, said: String::new() }
    }
}

impl From<ImageError> for Error {
    fn from(error: ImageError) -> Self {
        Cause::Image(error).into()
    }
}
