import { rateLimit } from '@sluice/limiter/adapters/koa'
import Koa from 'koa'

const app = new Koa()

app.use(rateLimit({ limit: 100, period: '15m', algorithm: 'sliding-window-counter' }))

app.use((ctx) => {
  ctx.body = { remaining: ctx.state.rateLimit.remaining }
})

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()))
