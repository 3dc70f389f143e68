-- 6LoWPAN with compressed AH and ESP headers, headers of DTLS compressed by Lithe, and generic header compression (RFC 7400), for
-- Wireshark and tshark (4.0 and later).
--
-- Wireshark's own 6LoWPAN dissector does not know the bytes that announce them. This one takes the
-- datagrams that have one, and leaves it all others: it restores what was compressed and hands the IPv6 packet on, so that
-- Wireshark's dissectors of AH, ESP and DTLS do the rest, with the keys in their preferences.
-- README.md beside this file says how to install it.

local proto = Proto("sixlock", "6LoWPAN with compressed IPsec, DTLS and payloads")

local PAPER, DRAFTS = 1, 2
proto.prefs.format = Pref.enum("Encoding", PAPER, "Which encoding of AH and ESP the network uses",
    { { 1, "2012", PAPER }, { 2, "drafts", DRAFTS } }, false)
proto.prefs.default_spi = Pref.uint("SPI left out", 1, "The security parameters index that headers leave out")
proto.prefs.ah_length = Pref.uint("Length of AH", 24, "Length of AH in bytes where nothing says it, ICV included")
proto.prefs.context0 = Pref.string("Context 0", "fd00:0000:0000:0000", "The first 64 bits of context 0's prefix, in hexadecimal")

local fields = {
    kind = ProtoField.string("sixlock.kind", "Header"),
    spi = ProtoField.uint32("sixlock.spi", "Security parameters index", base.HEX),
    sequence = ProtoField.uint32("sixlock.sequence", "Sequence number"),
    carried = ProtoField.uint32("sixlock.carried", "Bytes of it that were carried"),
    whole = ProtoField.uint32("sixlock.whole", "Bytes that they stand for"),
    compressed = ProtoField.uint32("sixlock.compressed", "Bytes of all compressed headers"),
    restored = ProtoField.uint32("sixlock.restored", "Bytes of all headers restored"),
    tell_whole = ProtoField.uint8("sixlock.tell_whole", "Asks for whole sequence numbers", base.HEX),
    tag = ProtoField.uint16("sixlock.fragment.tag", "Datagram tag", base.HEX),
    size = ProtoField.uint16("sixlock.fragment.size", "Datagram size"),
    offset = ProtoField.uint16("sixlock.fragment.offset", "Fragment offset"),
}
proto.fields = fields

local refused = ProtoExpert.new("sixlock.refused", "The headers cannot be restored", expert.group.MALFORMED,
    expert.severity.ERROR)
proto.experts = { refused }

local source64, destination64 = Field.new("wpan.src64"), Field.new("wpan.dst64")
local source16, destination16 = Field.new("wpan.src16"), Field.new("wpan.dst16")
local ipv6 = Dissector.get("ipv6")
local data = Dissector.get("data")

-- What frames before told: the state of flows, datagrams under way, and what each frame was found to be.
local flows, datagrams, frames

function proto.init()
    flows, datagrams, frames = {}, {}, {}
end

-- A frame of this byte alone asks who gets it to say sequence numbers whole.
local TELL_WHOLE = "\62"

local HOP_BY_HOP, UDP, IPV6, ROUTING, FRAGMENT, ESP, AH, DESTINATION, MOBILITY = 0, 17, 41, 43, 44, 50, 51, 60, 135
local ICMPV6 = 58
local EXTENSIONS = { [0] = HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION, MOBILITY }

-- Bits `low` to `low + count - 1` of `value`.
local function bits(value, low, count)
    return math.floor(value / 2 ^ low) % 2 ^ count
end

local function number(bytes)
    local value = 0
    for at = 1, #bytes do value = value * 256 + bytes:byte(at) end
    return value
end

local function bytes_of(value, length)
    local bytes = ""
    for _ = 1, length do
        bytes = string.char(value % 256) .. bytes
        value = math.floor(value / 256)
    end
    return bytes
end

-- Reads from a string; what is not there is an error.
local function reader(bytes)
    local self = { at = 1 }
    function self.take(length)
        local taken = bytes:sub(self.at, self.at + length - 1)
        if #taken < length then error({ why = "it ends too early" }) end
        self.at = self.at + length
        return taken
    end
    function self.byte() return self.take(1):byte() end
    function self.left() return #bytes - self.at + 1 end
    function self.peek() return bytes:byte(self.at) end
    return self
end

-- The interface identifiers of a frame's ends.
local function link_ends()
    local function id(long, short)
        local found = long()
        if found then
            -- On the air an EUI-64 is the wrong way round.
            local bytes = found.range:bytes():raw():reverse()
            local first = bytes:byte()
            return string.char(bits(first, 1, 1) == 1 and first - 2 or first + 2) .. bytes:sub(2)
        end
        found = short()
        if found then return "\0\0\0\255\254\0" .. bytes_of(found.value, 2) end
    end
    return id(source64, source16), id(destination64, destination16)
end

local LINK_LOCAL = "\254\128\0\0\0\0\0\0"

local function context0()
    local hex = proto.prefs.context0:gsub("[^%x]", "")
    local prefix = hex:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
    return (prefix .. LINK_LOCAL:gsub(".", "\0")):sub(1, 8)
end

-- A unicast address (RFC 6282, section 3.1.1).
local function unicast(read, context, mode, id)
    if mode == 0 then return read.take(16) end
    local prefix = context and context0() or LINK_LOCAL
    if mode == 1 then return prefix .. read.take(8) end
    if mode == 2 then return prefix .. "\0\0\0\255\254\0" .. read.take(2) end
    return prefix .. (id or error({ why = "an address is left out that the frame does not have" }))
end

local function multicast(read, mode)
    if mode == 0 then return read.take(16) end
    local zeros = string.rep("\0", 16)
    if mode == 1 then
        return "\255" .. read.take(1) .. zeros:sub(1, 9) .. read.take(5)
    elseif mode == 2 then
        return "\255" .. read.take(1) .. zeros:sub(1, 11) .. read.take(3)
    end
    return "\255\2" .. zeros:sub(1, 13) .. read.take(1)
end

-- Restores an IPv6 header but for its length, and says whether the next header is compressed.
local function iphc(read, source_id, destination_id)
    local first, second = read.byte(), read.byte()
    if bits(first, 5, 3) ~= 3 then error({ why = "it is no IPv6 header" }) end
    if bits(second, 7, 1) == 1 and read.byte() ~= 0 then error({ why = "it has a context other than 0" }) end
    local traffic, class, flow = bits(first, 3, 2), 0, "\0\0\0"
    if traffic == 0 then
        class, flow = read.byte(), read.take(3)
    elseif traffic == 1 then
        flow = read.take(3)
        class = bits(flow:byte(), 6, 2) * 64
    elseif traffic == 2 then
        class = read.byte()
    end
    -- Congestion notification goes before the differentiated services.
    class = bits(class, 0, 6) * 4 + bits(class, 6, 2)
    local header = string.char(0x60 + bits(class, 4, 4), bits(class, 0, 4) * 16 + bits(flow:byte(), 0, 4)) .. flow:sub(2)
    local elided = bits(first, 2, 1) == 1
    local next_header = elided and "\0" or read.take(1)
    local hops = ({ [0] = false, 1, 64, 255 })[bits(first, 0, 2)] or read.byte()
    local source_mode = bits(second, 4, 2)
    local source
    if bits(second, 6, 1) == 1 and source_mode == 0 then
        source = string.rep("\0", 16)
    else
        source = unicast(read, bits(second, 6, 1) == 1, source_mode, source_id)
    end
    local destination
    if bits(second, 3, 1) == 1 then
        if bits(second, 2, 1) == 1 then error({ why = "its multicast address is made of a context" }) end
        destination = multicast(read, bits(second, 0, 2))
    else
        destination = unicast(read, bits(second, 2, 1) == 1, bits(second, 0, 2), destination_id)
    end
    return header .. "\0\0" .. next_header .. string.char(hops) .. source .. destination, elided
end

-- The number that ends in `last`, of `length` bytes, near the highest of its flow.
local function recover(highest, last, length)
    local count = 256 ^ length
    local lowest = (highest - math.min(1024, math.floor(count / 4))) % 2 ^ 32
    local above = (last - lowest) % count
    if above > 2 * 1024 then
        error({ why = "its sequence number has its last bits only, which are far from those that were seen before" })
    end
    return (lowest + above) % 2 ^ 32
end

-- Restores AH or ESP behind the byte that announces it. Returns its kind, its bytes and whether what follows AH tells
-- itself what it is, and adds what it is to `found`.
local function ipsec(read, announce, ends, found)
    local started = read.at - 1
    local drafts = proto.prefs.format == DRAFTS
    local next_header, byte = 0, read.byte()
    if drafts and announce % 2 == 0 and bits(byte, 4, 4) ~= 14 then
        next_header, byte = byte, read.byte()
    end
    local kind = ({ [13] = AH, [14] = ESP })[bits(byte, 4, 4)]
    if not kind then error({ why = "it is neither AH nor ESP" }) end
    local elided, length, spi_length, sequence_length
    if drafts then
        elided = kind == AH and announce % 2 == 1
        spi_length = ({ [0] = 0, 1, 2, 4 })[bits(byte, 2, 2)]
        sequence_length = bits(byte, 0, 2) + 1
    else
        elided = kind == AH and bits(byte, 0, 1) == 1
        if kind == AH and not elided then next_header = read.byte() end
        if kind == AH and bits(byte, 3, 1) == 1 then length = (read.byte() + 2) * 4 end
        spi_length = bits(byte, 2, 1) * 4
        sequence_length = 2 + bits(byte, 1, 1) * 2
    end
    local spi = spi_length == 0 and proto.prefs.default_spi or number(read.take(spi_length))
    local sequence = number(read.take(sequence_length))
    local flow = ends .. kind .. "/" .. spi
    local known = flows[flow]
    if sequence_length < 4 then
        if not known then
            error({ why = "its sequence number has its last bits only, and none was seen whole before" })
        end
        sequence = recover(known.highest, sequence, sequence_length)
    end
    local bytes = bytes_of(spi, 4) .. bytes_of(sequence, 4)
    if kind == AH then
        if not length then
            length = not drafts and known and known.length or proto.prefs.ah_length
        end
        if length < 12 or length % 4 ~= 0 then error({ why = "AH has an impossible length" }) end
        bytes = string.char(next_header, length / 4 - 2) .. "\0\0" .. bytes .. read.take(length - 12)
    end
    local ahead = known and (sequence - known.highest) % 2 ^ 32 or 0
    flows[flow] = { highest = ahead < 2 ^ 31 and sequence or known.highest, length = length }
    table.insert(found, {
        kind = kind == AH and "AH" or "ESP", spi = spi, sequence = sequence,
        at = started, carried = read.at - started, whole = #bytes,
    })
    return kind, bytes, elided
end

local PADDING = { [0] = "", "\0", "\1\0", "\1\1\0", "\1\2\0\0", "\1\3\0\0\0", "\1\4\0\0\0\0", "\1\5\0\0\0\0\0" }

local function extension(read, kind, elided)
    local next_header = elided and 0 or read.byte()
    local length = read.byte()
    if kind == FRAGMENT then return string.char(next_header, length) .. read.take(6) end
    local body = read.take(length)
    local padding = (8 - (2 + length) % 8) % 8
    if padding > 0 and kind ~= HOP_BY_HOP and kind ~= DESTINATION then error({ why = "an extension header has an impossible length" }) end
    return string.char(next_header, (2 + length + padding) / 8 - 1) .. body .. PADDING[padding]
end

local function udp(read, nhc)
    if bits(nhc, 2, 1) == 1 then error({ why = "a UDP checksum is left out" }) end
    local ports, mode = nil, bits(nhc, 0, 2)
    if mode == 0 then
        ports = read.take(4)
    elseif mode == 1 then
        ports = read.take(2) .. "\240" .. read.take(1)
    elseif mode == 2 then
        ports = "\240" .. read.take(3)
    else
        local both = read.byte()
        ports = "\240" .. string.char(0xb0 + bits(both, 4, 4)) .. "\240" .. string.char(0xb0 + bits(both, 0, 4))
    end
    return ports .. "\0\0" .. read.take(2)
end

local STATIC_DICTIONARY = "\22\254\253\23\254\253\0\1\0\0\0\0\0\1\0\0"

-- Restores what generic header compression has made of something (RFC 7400, section 2): an extension header, which ends with a stop
-- code, or all that is left.
local function ghc(read, ends, is_extension)
    local dictionary = ends .. STATIC_DICTIONARY
    local out = dictionary
    local length, distance = 0, 0
    while is_extension or read.left() > 0 do
        local code = read.byte()
        if code < 96 then
            out = out .. read.take(code)
        elseif bits(code, 4, 4) == 8 then
            out = out .. string.rep("\0", bits(code, 0, 4) + 2)
        elseif code == 0x90 and is_extension then
            break
        elseif bits(code, 5, 3) == 5 then
            length, distance = length + bits(code, 4, 1) * 8, distance + bits(code, 0, 4) * 8
        elseif bits(code, 6, 2) == 3 then
            length = length + bits(code, 3, 3) + 2
            distance = distance + bits(code, 0, 3) + length
            if distance > #out then error({ why = "a backreference goes beyond the dictionary" }) end
            out = out .. out:sub(#out - distance + 1, #out - distance + length)
            length, distance = 0, 0
        else
            error({ why = "an instruction of its compression is reserved" })
        end
        if #out > 2048 + #dictionary then error({ why = "it is longer than any datagram" }) end
    end
    return out:sub(#dictionary + 1)
end

local DTLS_1_2 = "\254\253"

-- Restores a hello behind the header of its message.
local function hello(read, is_client)
    local byte = read.byte()
    local version = not is_client and bits(byte, 3, 1) == 1 and read.take(2) or DTLS_1_2
    local out = version .. read.take(32)
    local function field(bit, elided, prefix)
        if bits(byte, bit, 1) == 0 then return elided end
        if prefix == 0 then return read.take(#elided) end
        local length = read.take(prefix)
        return length .. read.take(number(length))
    end
    if is_client then
        return out .. field(3, "\0", 1) .. field(2, "\0", 1) .. field(1, "\0\2\192\174", 2) .. field(0, "\1\0", 1)
    end
    return out .. field(2, "\0", 1) .. field(1, "\192\174", 0) .. field(0, "\0", 0)
end

-- Restores what Lithe leaves of a record of DTLS, but for its lengths. Returns whether it has the header of a message, too.
local function lithe(read)
    local byte = read.byte()
    local kind, with_message = bits(byte, 4, 4), false
    if kind == 8 and bits(byte, 0, 1) == 0 then
        with_message = true
    elseif kind ~= 9 then
        error({ why = "it is no compressed record" })
    end
    local content, nonce = 22, ""
    if not with_message then content = read.byte() end
    local version = bits(byte, 3, 1) == 1 and read.take(2) or DTLS_1_2
    local epoch = bits(byte, 2, 1) == 1 and read.take(2) or "\0" .. read.take(1)
    local carried
    if with_message then
        carried = bits(byte, 1, 1) == 1 and 6 or 2
    else
        carried = ({ [0] = 2, 3, 4, 6 })[bits(byte, 0, 2)]
    end
    local sequence = string.rep("\0", 6 - carried) .. read.take(carried)
    if content >= 128 then content, nonce = content - 128, epoch .. sequence end
    local out = string.char(content) .. version .. epoch .. sequence .. "\0\0" .. nonce
    if with_message then
        local kind = read.byte()
        out = out .. string.char(kind) .. "\0\0\0" .. read.take(2) .. "\0\0\0\0\0\0"
        local first = read.peek()
        if first and (kind == 1 and bits(first, 4, 4) == 10 or kind == 2 and bits(first, 4, 4) == 11) then
            out = out .. hello(read, kind == 1)
        end
    end
    return out, with_message
end

-- Restores all headers of `payload`, the beginning of a packet of `size` bytes; without one, the whole packet.
local function decompress(payload, size, source_id, destination_id, found)
    local read = reader(payload)
    local out, ends = "", ""
    local lengths = {}
    -- Where the next header field stands that is to be filled in; none if nothing compressed follows.
    local named_at
    local function put(kind, bytes, elided, at)
        if named_at then out = out:sub(1, named_at - 1) .. string.char(kind) .. out:sub(named_at + 1) end
        named_at = elided and #out + at or nil
        out = out .. bytes
    end
    local function packet()
        table.insert(lengths, { at = #out + 5, from = #out + 40 })
        local header, elided = iphc(read, source_id, destination_id)
        ends, source_id, destination_id = header:sub(9), header:sub(17, 24), header:sub(33)
        put(IPV6, header, elided, 7)
    end
    -- Notes what `restored` restores: how many bytes of what.
    local function compressed(kind, restored)
        local started, whole = read.at, #out
        found.announced = true
        restored()
        if read.at > started then
            table.insert(found, { kind = kind, at = started, carried = read.at - started, whole = #out - whole })
        end
    end
    packet()
    while named_at do
        local nhc = read.byte()
        if bits(nhc, 3, 5) == 0x1e then
            table.insert(lengths, { at = #out + 5, from = #out })
            put(UDP, udp(read, nhc), false)
        elseif nhc == 0xdf then
            compressed("GHC", function() put(ICMPV6, ghc(read, ends, false), false) end)
        elseif bits(nhc, 3, 5) == 0x1a or bits(nhc, 3, 5) == 0x1b then
            table.insert(lengths, { at = #out + 5, from = #out })
            put(UDP, udp(read, nhc), false)
            local record, from = bits(nhc, 3, 5) == 0x1b, #out
            compressed(record and "Lithe" or "GHC", function()
                if not record then
                    out = out .. ghc(read, ends, false)
                    return
                end
                local bytes, with_message = lithe(read)
                out = out .. bytes
                table.insert(lengths, { at = from + 12, from = from + 13 })
                if with_message then
                    table.insert(lengths, { at = from + 16, from = from + 25 })
                    table.insert(lengths, { at = from + 24, from = from + 25 })
                end
            end)
        elseif bits(nhc, 3, 5) == 0x16 then
            compressed("GHC", function()
                local kind = EXTENSIONS[bits(nhc, 1, 3)]
                local next_header = nhc % 2 == 0 and read.byte() or 0
                local body = ghc(read, ends, true)
                if not kind or kind == FRAGMENT or (2 + #body) % 8 ~= 0 or #body < 6 or #body > 2046 then
                    error({ why = "an extension header has an impossible length" })
                end
                put(kind, string.char(next_header, (2 + #body) / 8 - 1) .. body, nhc % 2 == 1, 1)
            end)
        elseif bits(nhc, 4, 4) ~= 14 then
            error({ why = "a next header is of an unknown kind" })
        elseif bits(nhc, 1, 3) == 7 then
            packet()
        elseif bits(nhc, 1, 3) == 5 then
            found.announced = true
            local kind, bytes, elided = ipsec(read, nhc, ends, found)
            put(kind, bytes, elided, 1)
        else
            local kind = EXTENSIONS[bits(nhc, 1, 3)] or error({ why = "an extension header is of an unknown kind" })
            put(kind, extension(read, kind, nhc % 2 == 1), nhc % 2 == 1, 1)
        end
    end
    found.compressed, found.restored = read.at - 1, #out
    out = out .. payload:sub(read.at)
    for _, length in ipairs(lengths) do
        local behind = (size or #out) - length.from
        if behind < 0 then error({ why = "its headers are longer than it is" }) end
        out = out:sub(1, length.at - 1) .. bytes_of(behind, 2) .. out:sub(length.at + 2)
    end
    return out
end

-- What a frame is: nil if it is not for this dissector. Only to be asked in the order of the frames.
local function examine(payload)
    local source_id, destination_id = link_ends()
    local found = {}
    local function restore(bytes, size)
        local ok, result = pcall(decompress, bytes, size, source_id, destination_id, found)
        if ok then return result end
        if type(result) ~= "table" then error(result, 0) end
        found.why = result.why
    end
    if payload == TELL_WHOLE then return { tell_whole = true } end
    local first = payload:byte()
    local kind = first and bits(first, 3, 5)
    if kind ~= 0x18 and kind ~= 0x1c then
        found.packet = restore(payload)
        return found.announced and found or nil
    end
    if #payload < 5 then return nil end
    found.size = number(payload:sub(1, 2)) % 2048
    found.tag = number(payload:sub(3, 4))
    local key = (source_id or "") .. (destination_id or "") .. payload:sub(3, 4) .. found.size
    if kind == 0x18 then
        found.offset, found.front = 0, 4
        local bytes = restore(payload:sub(5), found.size)
        if not found.announced then
            datagrams[key] = nil
            return nil
        end
        datagrams[key] = { parts = { [0] = bytes } }
    else
        found.offset, found.front = payload:byte(5) * 8, 5
    end
    local datagram = datagrams[key]
    if not datagram then return nil end
    if kind == 0x1c then datagram.parts[found.offset] = payload:sub(6) end
    -- It is whole when the parts follow each other to its end; it is shown once.
    local packet = ""
    while datagram.parts[#packet] and #packet < found.size do packet = packet .. datagram.parts[#packet] end
    if #packet == found.size and not datagram.shown then
        datagram.shown, found.packet = true, packet
    end
    return found
end

-- Returns 0 for a frame that is left to others.
function proto.dissector(tvb, pinfo, tree)
    local found = frames[pinfo.number]
    if found == nil then
        found = examine(tvb:range():bytes():raw()) or false
        frames[pinfo.number] = found
    end
    if not found then return 0 end
    local subtree = tree:add(proto, tvb:range())
    pinfo.cols.protocol = "6LoWPAN"
    if found.tell_whole then
        pinfo.cols.info = "Asks for whole sequence numbers"
        subtree:add(fields.tell_whole, tvb:range(0, 1))
    end
    if found.tag then
        pinfo.cols.info = string.format("Fragment, tag 0x%04x, offset %d of %d", found.tag, found.offset, found.size)
        subtree:add(fields.size, tvb:range(0, 2), found.size)
        subtree:add(fields.tag, tvb:range(2, 2))
        subtree:add(fields.offset, tvb:range(0, found.front), found.offset)
    end
    local front = found.front or 0
    for _, header in ipairs(found) do
        local range = tvb:range(front + header.at - 1, header.carried)
        local item = subtree:add(fields.kind, range, header.kind)
        if header.spi then
            item:add(fields.spi, range, header.spi)
            item:add(fields.sequence, range, header.sequence)
        end
        item:add(fields.carried, range, header.carried)
        item:add(fields.whole, range, header.whole)
    end
    if found.compressed then
        subtree:add(fields.compressed, tvb:range(front, found.compressed), found.compressed)
        subtree:add(fields.restored, tvb:range(front, found.compressed), found.restored):set_generated()
    end
    if found.why then
        subtree:add_proto_expert_info(refused, "The headers cannot be restored: " .. found.why)
        data:call(tvb, pinfo, tree)
    elseif found.packet then
        ipv6:call(ByteArray.new(found.packet, true):tvb("IPv6 restored from 6LoWPAN"), pinfo, tree)
    end
    return tvb:len()
end

-- Heuristics would not do: the one that has taken a frame is asked before all others from then on, and Wireshark's own takes every dispatch.
DissectorTable.get("wpan.panid"):add("0-65535", proto)
