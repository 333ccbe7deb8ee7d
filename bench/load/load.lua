-- The script of wrk: posts the bodies of the file BODIES in turn, accepts gzip with GZIP=1, and prints the result as JSON.
local requests, index, headers = {}, 0, { ["Content-Type"] = "application/json" }

function init()
  if os.getenv("GZIP") == "1" then headers["Accept-Encoding"] = "gzip" end
  for body in io.lines(os.getenv("BODIES")) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
end

function request()
  index = index % #requests + 1
  return requests[index]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%f,"bytes":%d,"failures":%d,"mean":%f,"p50":%f,"p99":%f}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency.mean / 1e3, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
