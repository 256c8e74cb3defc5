-- The UDP socket to whoever started this world: one peer on loopback, every datagram opens with the token.
return function(insecure)
	local ffi = insecure.require("ffi")
	ffi.cdef([[
		struct mcrl_address { uint16_t family; uint16_t port; uint8_t host[4]; uint8_t zero[8]; };
		int socket(int domain, int type, int protocol);
		int connect(int fd, const struct mcrl_address *address, unsigned int length);
		ssize_t recv(int fd, void *bytes, size_t length, int flags);
		ssize_t send(int fd, const void *bytes, size_t length, int flags);
	]])
	local AF_INET, SOCK_DGRAM, MSG_DONTWAIT, ROOM = 2, 2, 0x40, 65536
	local port = tonumber(minetest.settings:get("mcrl_port"))
	local token = minetest.settings:get("mcrl_token")
	assert(port and token, "mcrl: mcrl_port and mcrl_token must be set")
	local address = ffi.new("struct mcrl_address")
	address.family = AF_INET
	address.port = bit.bor(bit.lshift(bit.band(port, 255), 8), bit.rshift(port, 8))
	address.host[0], address.host[3] = 127, 1
	local fd = ffi.C.socket(AF_INET, SOCK_DGRAM, 0)
	assert(fd >= 0 and ffi.C.connect(fd, address, ffi.sizeof(address)) == 0, "mcrl: no socket")
	local buffer = ffi.new("uint8_t[?]", ROOM)

	local link = {}

	-- Yields what has come since; what lacks the token is dropped.
	function link.requests()
		return function()
			while true do
				local count = tonumber(ffi.C.recv(fd, buffer, ROOM, MSG_DONTWAIT))
				if count < 0 then return nil end
				local text = ffi.string(buffer, count)
				if text:sub(1, #token) == token then
					local request = minetest.parse_json(text:sub(#token + 1))
					if type(request) == "table" then return request end
				end
			end
		end
	end

	function link.send(message)
		local text = token .. minetest.write_json(message)
		ffi.C.send(fd, text, #text, MSG_DONTWAIT)
	end

	return link
end
