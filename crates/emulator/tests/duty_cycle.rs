//! The image of a device whose radio is off almost all the time says each of a radio's commands. Left out unless it is asked for
//! (`-- --ignored`): `./test` sees to emulators and images.

mod built;
mod duty_cycling;

use duty_cycling::{FRAME, HAPPENINGS, Wish};
use sixlock_lockstep::Command;

fn says_each_command(target: &str) {
    let (wishes, _) = duty_cycling::run(&built::image(target, "duty-cycle"), &HAPPENINGS);
    let wish = |command, wakes| Wish { command, assessments: None, frame: Vec::new(), wakes: Some(wakes) };
    let assess = |wakes| Wish { assessments: Some((2, 38)), ..wish(Command::Assess, wakes) };
    let expected = [
        wish(Command::Off, 7812),
        assess(15_624),
        wish(Command::None, 15_624),
        assess(23_436),
        wish(Command::Listen, 23_436),
        wish(Command::Cca, 23_436),
        Wish { frame: FRAME[..5].to_vec(), ..wish(Command::Transmit, 23_436) },
        wish(Command::Off, 23_436),
        assess(31_248),
        wish(Command::Listen, 31_248),
        wish(Command::Off, 39_060),
        assess(46_872),
        wish(Command::None, 46_872),
    ];
    assert_eq!(wishes, expected, "{target}");
}

#[test]
#[ignore = "needs QEMU and the image"]
fn a_cortex_m3_turns_its_radio_off_and_on_and_assesses_the_channel() {
    says_each_command("thumbv7m-none-eabi");
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn an_msp430_turns_its_radio_off_and_on_and_assesses_the_channel() {
    says_each_command("msp430-none-elf");
}

#[test]
#[ignore = "needs simavr-gdb and the image"]
fn an_avr_turns_its_radio_off_and_on_and_assesses_the_channel() {
    says_each_command("avr-none");
}
