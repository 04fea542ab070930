import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { createLimiter } from '@sluice/limiter'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { spanEvents } from './span-events.ts'

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager()))

function limiterOf(found: Parameters<typeof spanEvents>[0] = trace) {
  return createLimiter({
    name: 'shop',
    policies: { login: { algorithm: 'fixed-window', limit: 1, period: '1d' } },
    observe: spanEvents(found),
  })
}

test('a decision is an event of the active span, without its key', () => {
  const exporter = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer(
    'app',
  )
  const limiter = limiterOf()
  limiter.check('eve@example.com')
  tracer.startActiveSpan('POST /login', (span) => {
    limiter.check('ada@example.com')
    limiter.check('ada@example.com')
    span.end()
  })
  const [{ events } = expect.unreachable()] = exporter.getFinishedSpans()
  expect(events.map(({ name, attributes }) => ({ name, ...attributes }))).toMatchObject([
    { name: 'sluice.decision', 'sluice.domain': 'shop', 'sluice.outcome': 'allowed', 'sluice.remaining': 0 },
    { 'sluice.policy': 'login', 'sluice.outcome': 'denied', 'sluice.retry_after_ms': expect.any(Number) },
  ])
  expect(JSON.stringify(events)).not.toContain('example.com')
})

test('nothing is made for a span that is not recorded', () => {
  const tracer = new BasicTracerProvider({ sampler: new AlwaysOffSampler() }).getTracer('app')
  const limiter = limiterOf()
  tracer.startActiveSpan('POST /login', (span) => {
    const added = vi.spyOn(span, 'addEvent')
    onTestFinished(() => added.mockRestore())
    limiter.check('ada')
    expect(added).not.toHaveBeenCalled()
  })
})
