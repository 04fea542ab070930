-- Asks /auth over a plain socket: HAProxy's own HTTP client (core.httpclient) of 2.6 repeats a question that fails three
-- times, and so takes 3 s where Sluice is gone.
local HOST, PORT = "127.0.0.1", 8080
local SECONDS = 0.25 -- for each step

-- The status, the headers and the body of an answer; nothing where there is none.
local function ask(question)
  local socket = core.tcp()
  socket:settimeout(SECONDS)
  if not socket:connect(HOST, PORT) then return end
  socket:send(question)
  local status = tonumber((socket:receive("*l") or ""):match("^HTTP/1%.%d (%d%d%d)"))
  local headers = {}
  while status do
    local line = socket:receive("*l")
    if not line then return end
    local name, value = line:match("^([^:]+):%s*(.-)\r?$")
    if not name then break end
    headers[name:lower()] = value
  end
  local length = tonumber(headers["content-length"] or 0)
  local body = status and length > 0 and socket:receive(length) or ""
  socket:close()
  return status, headers, body
end

core.register_action("sluice", { "http-req" }, function(txn)
  local host = (txn.http:req_get_headers()["host"] or {})[0] or ""
  local status, headers, body = ask(table.concat({
    "GET /auth:domain=shop HTTP/1.0",
    "Host: sluice",
    "X-Forwarded-Method: " .. txn.sf:method(),
    "X-Forwarded-Uri: " .. txn.sf:pathq(), -- without the authority that a client may write before it
    "X-Forwarded-Host: " .. host,
    "X-Forwarded-For: " .. txn.sf:src(),
    "\r\n",
  }, "\r\n"))
  if not status then return end
  if status == 200 then
    txn:set_var("txn.sluice", "answered")
    if headers["ratelimit-policy"] then txn:set_var("txn.limit_policy", headers["ratelimit-policy"]) end
    if headers["ratelimit"] then txn:set_var("txn.limit", headers["ratelimit"]) end
    return
  end
  local reply = txn:reply({ status = status, body = body })
  for _, name in ipairs({ "Content-Type", "Cache-Control", "Retry-After", "RateLimit", "RateLimit-Policy" }) do
    local value = headers[name:lower()]
    if value then reply:add_header(name, value) end
  end
  txn:done(reply)
end)
