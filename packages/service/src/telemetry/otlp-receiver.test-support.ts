import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'protobufjs'

/** What of OpenTelemetry's messages tests look at, by the numbers that their definitions have. */
const OTLP = parse(
  `
  syntax = "proto3";
  message Value { oneof value { string s = 1; bool b = 2; int64 i = 3; double d = 4; } }
  message KeyValue { string key = 1; Value value = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Status { uint32 code = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; uint32 kind = 6;
    repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15;
  }
  message ScopeSpans { repeated Span spans = 2; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopes = 2; }
  message Traces { repeated ResourceSpans resources = 1; }
  message NumberPoint { double as_double = 4; sfixed64 as_int = 6; repeated KeyValue attributes = 7; }
  message HistogramPoint {
    fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
    repeated KeyValue attributes = 9;
  }
  message Gauge { repeated NumberPoint points = 1; }
  message Sum { repeated NumberPoint points = 1; uint32 temporality = 2; bool monotonic = 3; }
  message Histogram { repeated HistogramPoint points = 1; uint32 temporality = 2; }
  message Metric { string name = 1; string unit = 3; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scopes = 2; }
  message Metrics { repeated ResourceMetrics resources = 1; }
`,
  { keepCase: true },
).root

type Attributes = Readonly<Record<string, unknown>>

interface ReceivedSpan {
  readonly trace: string
  readonly id: string
  readonly parent: string
  readonly name: string
  readonly kind: number
  readonly attributes: Attributes
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[]
  readonly status: number
}

interface ReceivedSeries {
  readonly name: string
  readonly unit: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  readonly attributes: Attributes
  /** Of a histogram: its count. */
  readonly value: number
  readonly sum?: number
  readonly buckets?: readonly number[]
}

/** A collector of OTLP over HTTP that keeps what it is sent. */
export interface OtlpReceiver {
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** Of the last export. */
  series: readonly ReceivedSeries[]
  resource: Attributes
  readonly headers: NodeJS.Dict<string | string[]>[]
  close(): void
}

/** @param status of its answers */
export async function otlpReceiver(status = 200): Promise<OtlpReceiver> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    receiver.headers.push(request.headers)
    if (status === 200) {
      const kind = request.url === '/v1/traces' ? 'Traces' : 'Metrics'
      const type = OTLP.lookupType(kind)
      const { resources } = type.toObject(type.decode(Buffer.concat(chunks)), {
        longs: Number,
        bytes: Buffer,
        defaults: true,
      })
      receiver.resource = plain(resources[0].resource.attributes)
      const parts = resources.flatMap((each: Message) => each.scopes)
      if (kind === 'Traces') receiver.spans.push(...parts.flatMap((each: Message) => each.spans.map(spanOf)))
      else receiver.series = parts.flatMap((each: Message) => each.metrics.flatMap(seriesOf))
    }
    response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    series: [],
    resource: {},
    headers: [],
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return receiver
}

// biome-ignore lint/suspicious/noExplicitAny: messages of every shape
type Message = any

function plain(attributes: readonly Message[]): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value).find((each) => each !== undefined)]),
  )
}

function spanOf(span: Message): ReceivedSpan {
  return {
    trace: span.trace_id.toString('hex'),
    id: span.span_id.toString('hex'),
    parent: span.parent_span_id.toString('hex'),
    name: span.name,
    kind: span.kind,
    attributes: plain(span.attributes),
    events: span.events.map((event: Message) => ({ name: event.name, attributes: plain(event.attributes) })),
    status: span.status?.code ?? 0,
  }
}

function seriesOf({ name, unit, gauge, sum, histogram }: Message): ReceivedSeries[] {
  const kind = gauge ? 'gauge' : sum ? 'sum' : 'histogram'
  return (gauge ?? sum ?? histogram).points.map((point: Message) => ({
    name,
    unit,
    kind,
    attributes: plain(point.attributes),
    value: kind === 'histogram' ? point.count : point.as_double || point.as_int,
    ...(kind === 'histogram' && { sum: point.sum, buckets: point.bucket_counts }),
  }))
}
