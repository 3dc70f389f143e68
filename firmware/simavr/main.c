/* simavr's own program listens for GDB at one port only and does not show how many cycles went by. This one takes
 * the port, and shows the cycles at a reserved address among the ATmega128's I/O registers: 0xf0, eight bytes.
 * Told where GDB will have breakpoints, it asks what GDB wants there and now and then, not at each instruction: to
 * ask takes far longer than an instruction.
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

enum { CYCLES = 0xf0, NOW_AND_THEN = 65536 };

/* Where GDB may have breakpoints. */
static avr_flashaddr_t stops[16];
static int stop_count;

static void run(avr_t *avr)
{
    static unsigned count;
    int asks = avr->state != cpu_Running || ++count % NOW_AND_THEN == 0;
    for (int n = 0; n < stop_count && !asks; n++)
        asks = avr->pc == stops[n];
    (asks ? avr_callback_run_gdb : avr_callback_run_raw)(avr);
}

int main(int argc, char **argv)
{
    static elf_firmware_t firmware;
    if (argc < 4 || argc > 3 + (int)(sizeof stops / sizeof *stops)) {
        fputs("usage: simavr-gdb IMAGE PORT BREAKPOINT...\n", stderr);
        return 2;
    }
    for (int n = 3; n < argc; n++)
        stops[stop_count++] = strtoul(argv[n], NULL, 10);
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
    avr->run = run;
    puts("ready");
    fflush(stdout);
    int state;
    do {
        memcpy(avr->data + CYCLES, &avr->cycle, sizeof avr->cycle);
        state = avr_run(avr);
    } while (state != cpu_Done && state != cpu_Crashed);
    return 0;
}
