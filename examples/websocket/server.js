import { createServer } from 'node:http'
import { rateLimit } from '@sluice/limiter/adapters/websocket'
import { WebSocketServer } from 'ws'

// For each address: 20 messages at once, then 5 per second. Sockets that send more are closed with 1008.
const limit = rateLimit({ algorithm: 'token-bucket', limit: 5, period: '1s', burst: 20 })

const server = createServer((_request, response) => response.end('speak WebSocket'))

new WebSocketServer({ server }).on('connection', (socket, request) => {
  limit(socket, request, (data) => socket.send(`you said ${data}`))
})

server.listen(process.env.PORT ?? 3000, () => console.log(server.address()))
