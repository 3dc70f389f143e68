/*
 * llsec INTERFACE key PAN KEY NEIGHBOUR...: gives the interface a key of 16 bytes with index 1, and neighbours that have it, too.
 * llsec INTERFACE level LEVEL: protects what it sends by this security level from now on; by none if that is 0.
 *
 * The tools of Debian cannot: its kernel has link-layer security by the older netlink family alone, the commands and attributes of
 * which include/linux/nl802154.h of the kernel numbers.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SET_PARAMETERS = 37, ADD_KEY = 39, ADD_DEVICE = 42, ADD_LEVEL = 48 };
enum {
	INTERFACE = 1,
	SHORT_ADDRESS = 4,
	ADDRESS = 5,
	PAN = 6,
	ENABLED = 41,
	LEVEL = 42,
	KEY_MODE = 43,
	KEY_INDEX = 46,
	FRAME_COUNTER = 47,
	KEY = 48,
	KEY_FRAME_TYPES = 49,
	FRAME_TYPE = 51,
	LEVELS = 53,
	MAY_OVERRIDE = 54,
	DEVICE_KEY_MODE = 55,
};
enum { DATA_FRAME = 1, BY_INDEX = 1, ANY_KEY = 0, INDEX = 1, ALL_LEVELS = 0xfe };

static int netlink;
static const char *interface;
static union {
	struct nlmsghdr header;
	char bytes[4096];
} message;

static void put(int kind, const void *value, size_t length)
{
	struct nlattr *attribute = (void *)(message.bytes + NLMSG_ALIGN(message.header.nlmsg_len));

	attribute->nla_type = kind;
	attribute->nla_len = NLA_HDRLEN + length;
	memcpy((char *)attribute + NLA_HDRLEN, value, length);
	message.header.nlmsg_len = NLMSG_ALIGN(message.header.nlmsg_len) + NLA_ALIGN(attribute->nla_len);
}

static void put_number(int kind, uint32_t value, size_t length)
{
	put(kind, &value, length);
}

static void begin(int family, int command, int flags)
{
	struct genlmsghdr *generic = NLMSG_DATA(&message.header);

	memset(&message, 0, sizeof message);
	message.header.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	message.header.nlmsg_type = family;
	message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	generic->cmd = command;
	generic->version = 1;
	if (family != GENL_ID_CTRL)
		put(INTERFACE, interface, strlen(interface) + 1);
}

static void refuse(const char *what)
{
	perror(what);
	_exit(1);
}

/* Sends the message; what it is answered with is in its place if that is no acknowledgement. */
static void finish(const char *what)
{
	if (send(netlink, &message, message.header.nlmsg_len, 0) < 0 || recv(netlink, &message, sizeof message, 0) < 0)
		refuse(what);
	if (message.header.nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = NLMSG_DATA(&message.header);

		if (error->error) {
			fprintf(stderr, "%s: %s\n", what, strerror(-error->error));
			_exit(1);
		}
	}
}

static int family(void)
{
	static const char name[] = "802.15.4 MAC";
	char *at, *end;
	int found = 0;

	begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put(CTRL_ATTR_FAMILY_NAME, name, sizeof name);
	finish(name);
	at = (char *)NLMSG_DATA(&message.header) + GENL_HDRLEN;
	end = message.bytes + message.header.nlmsg_len;
	while (at < end) {
		const struct nlattr *attribute = (void *)at;

		if (attribute->nla_type == CTRL_ATTR_FAMILY_ID)
			found = *(uint16_t *)(at + NLA_HDRLEN);
		at += NLA_ALIGN(attribute->nla_len);
	}
	/* The acknowledgement of the question. */
	recv(netlink, &message, sizeof message, 0);
	return found;
}

int main(int count, char **arguments)
{
	int number;

	if (count < 4)
		return 2;
	interface = arguments[1];
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	number = family();
	if (!strcmp(arguments[2], "level")) {
		int level = atoi(arguments[3]);

		begin(number, SET_PARAMETERS, 0);
		put_number(ENABLED, level != 0, 1);
		put_number(LEVEL, level, 1);
		put_number(KEY_MODE, BY_INDEX, 1);
		put_number(KEY_INDEX, INDEX, 1);
		finish("parameters");
	} else if (!strcmp(arguments[2], "key") && count > 5) {
		int added = NLM_F_CREATE | NLM_F_EXCL;
		unsigned char key[16];

		for (size_t at = 0; at < sizeof key; at++)
			if (sscanf(arguments[4] + 2 * at, "%2hhx", &key[at]) != 1)
				return 2;
		begin(number, ADD_KEY, added);
		put_number(KEY_MODE, BY_INDEX, 1);
		put_number(KEY_INDEX, INDEX, 1);
		put_number(KEY_FRAME_TYPES, 1 << DATA_FRAME, 1);
		put(KEY, key, sizeof key);
		finish("key");
		for (char **neighbour = arguments + 5; *neighbour; neighbour++) {
			uint64_t address = __builtin_bswap64(strtoull(*neighbour, NULL, 16));

			begin(number, ADD_DEVICE, added);
			put_number(PAN, strtoul(arguments[3], NULL, 16), 2);
			put_number(SHORT_ADDRESS, 0xffff, 2);
			put(ADDRESS, &address, sizeof address);
			put_number(FRAME_COUNTER, 0, 4);
			put_number(MAY_OVERRIDE, 0, 1);
			put_number(DEVICE_KEY_MODE, ANY_KEY, 1);
			finish("neighbour");
		}
		begin(number, ADD_LEVEL, added);
		put_number(FRAME_TYPE, DATA_FRAME, 1);
		put_number(LEVELS, ALL_LEVELS, 1);
		put_number(MAY_OVERRIDE, 0, 1);
		finish("levels");
	} else {
		return 2;
	}
	return 0;
}
