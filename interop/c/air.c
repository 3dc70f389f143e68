/*
 * air MONITOR ETHERNET: takes frames of IEEE 802.15.4 from the interface MONITOR of mac802154_hwsim to Ethernet, and back.
 *
 * Each frame, its FCS included, stands behind one byte with its length in an Ethernet frame. A monitor delivers frames with their
 * FCS, but the kernel adds its own to those that are sent.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The type of Ethernet frames by which Wireshark knows IEEE 802.15.4. */
#define IEEE_802_15_4 0x809a
#define FCS 2
#define LONGEST 127

static const unsigned char ends[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, IEEE_802_15_4 >> 8, IEEE_802_15_4 & 0xff };
/* The addresses and the type, and the length. */
#define HEADER (sizeof ends + 1)

static int open_interface(const char *name, int protocol)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	int interface = socket(AF_PACKET, SOCK_RAW, htons(protocol));

	address.sll_ifindex = if_nametoindex(name);
	if (interface < 0 || !address.sll_ifindex || bind(interface, (struct sockaddr *)&address, sizeof address)) {
		perror(name);
		_exit(1);
	}
	return interface;
}

/* What has come in, which is not what goes out. */
static ssize_t receive(int interface, unsigned char *frame, size_t room)
{
	struct sockaddr_ll from;
	socklen_t length = sizeof from;
	ssize_t received = recvfrom(interface, frame, room, 0, (struct sockaddr *)&from, &length);

	return from.sll_pkttype == PACKET_OUTGOING ? 0 : received;
}

int main(int count, char **arguments)
{
	struct pollfd both[2] = { { .events = POLLIN }, { .events = POLLIN } };

	if (count != 3)
		return 2;
	both[0].fd = open_interface(arguments[1], ETH_P_ALL);
	both[1].fd = open_interface(arguments[2], IEEE_802_15_4);
	for (;;) {
		unsigned char frame[HEADER + LONGEST];
		ssize_t length;

		poll(both, 2, -1);
		if (both[0].revents) {
			length = receive(both[0].fd, frame + HEADER, LONGEST);
			memcpy(frame, ends, sizeof ends);
			frame[HEADER - 1] = length;
			if (length > 0 && send(both[1].fd, frame, HEADER + length, 0) < 0)
				perror("to Ethernet");
		}
		if (both[1].revents) {
			length = receive(both[1].fd, frame, sizeof frame);
			if (length <= (ssize_t)HEADER || frame[HEADER - 1] <= FCS || frame[HEADER - 1] > length - (ssize_t)HEADER)
				continue;
			if (send(both[0].fd, frame + HEADER, frame[HEADER - 1] - FCS, 0) < 0)
				perror("to the radio");
		}
	}
}
