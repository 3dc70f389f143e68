/* simavr's own program listens for GDB at one port only and does not show how many cycles went by. This one takes
 * the port, and shows the cycles at a reserved address among the ATmega128's I/O registers: 0xf0, eight bytes.
 *
 * scripts/emulators.sh builds it; crates/emulator starts it. */
#include <sim_avr.h>
#include <sim_elf.h>
#include <sim_gdb.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { CYCLES = 0xf0 };

int main(int argc, char **argv)
{
    static elf_firmware_t firmware;
    if (argc != 3) {
        fputs("usage: simavr-gdb IMAGE PORT\n", stderr);
        return 2;
    }
    /* Left alone, simavr would run on for ever. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (elf_read_firmware(argv[1], &firmware) != 0) {
        fprintf(stderr, "%s is no image for an AVR\n", argv[1]);
        return 1;
    }
    avr_t *avr = avr_make_mcu_by_name("atmega128");
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr->gdb_port = atoi(argv[2]);
    avr->state = cpu_Stopped;
    if (avr_gdb_init(avr) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    int state;
    do {
        memcpy(avr->data + CYCLES, &avr->cycle, sizeof avr->cycle);
        state = avr_run(avr);
    } while (state != cpu_Done && state != cpu_Crashed);
    return 0;
}
