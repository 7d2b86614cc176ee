-- SPDX-License-Identifier: Apache-2.0

-- Requests of wrk, from a file with one per line, written by bench/load.py. The
-- second argument is the number of responses after which "completed" is
-- printed; with 0, requests are sent in turn until wrk ends. The third one is
-- the rate of requests per second of all connections; with 0, each connection
-- sends the next request after the response.

local ffi = require("ffi")
ffi.cdef[[
   struct timespec { long seconds, nanoseconds; };
   int clock_gettime(int clock, struct timespec *time);
]]
local MONOTONIC = 1

local requests, index = {}, 0

local function milliseconds()
   local time = ffi.new("struct timespec")
   ffi.C.clock_gettime(MONOTONIC, time)
   return tonumber(time.seconds) * 1e3 + tonumber(time.nanoseconds) / 1e6
end

function init(args)
   for line in io.lines(args[1]) do
      local caller, subject, body, method, path = line:match(
         "^(%S*)\t(%S*)\t([^\t]*)\t?(%S*)\t?(%S*)$")
      local headers = {["Content-Type"] = "application/json"}
      if caller ~= "" then headers["X-Auth-Token"] = caller end
      if subject ~= "" then headers["X-Subject-Token"] = subject end
      if method == "" then method = body == "" and "GET" or "POST" end
      if body == "" then body = nil end
      if path == "" then path = nil end
      -- In advance, to leave the processors to the servers.
      table.insert(requests, wrk.format(method, path, headers, body))
   end
   local rate, due = tonumber(args[3])
   if rate > 0 then
      -- Each is due in the middle of its interval, even if others are late.
      function delay()
         due = due and due + 1e3 / rate or milliseconds() + 500 / rate
         return math.max(0, due - milliseconds())
      end
   end
   local remaining = tonumber(args[2])
   if remaining > 0 then
      function response()
         remaining = remaining - 1
         if remaining == 0 then
            wrk.thread:stop()
            io.write("\ncompleted\n")
            io.flush()
         end
      end
   end
end

function request()
   index = index % #requests + 1
   return requests[index]
end

function done(summary, latency)
   local failed, times = summary.errors, {}
   for number = 1, #latency do
      times[number] = string.format("[%d, %d]", latency(number))
   end
   io.write(string.format(
      '\n{"requests": %d, "microseconds": %d, "refused": %d, ' ..
      '"failed": %d, "times": [%s]}\n',
      summary.requests, summary.duration, failed.status,
      failed.connect + failed.read + failed.write + failed.timeout,
      table.concat(times, ", ")))
end
