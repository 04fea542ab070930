import { type handleBidiStreamingCall, status } from '@grpc/grpc-js'
import { DESCRIPTOR_SET } from './descriptor-set.ts'
import { type FileSymbols, filesOf } from './file-descriptors.ts'

interface ReflectionRequest {
  readonly host?: string
  readonly file_by_filename?: string
  readonly file_containing_symbol?: string
  readonly file_containing_extension?: { readonly containing_type?: string }
  readonly all_extension_numbers_of_type?: string
  readonly list_services?: string
}

type ReflectionResponse = Readonly<Record<string, unknown>>

/** Requests that one stream may send: a client asks for each of a few files. */
const MOST_REQUESTS = 10_000

/**
 * Server reflection, of either version. It answers with the real descriptors of files, and with all that they import:
 * clients in Go resolve `google.protobuf` wrappers by them.
 * @param services that the server has
 */
export function reflection(
  services: readonly string[],
): handleBidiStreamingCall<ReflectionRequest, ReflectionResponse> {
  const files = filesOf(Buffer.from(DESCRIPTOR_SET, 'base64'))
  return (call) => {
    let requests = 0
    call.on('data', (request: ReflectionRequest) => {
      if (++requests > MOST_REQUESTS) {
        call.emit('error', {
          code: status.RESOURCE_EXHAUSTED,
          details: `${MOST_REQUESTS} requests are the most`,
        })
        return
      }
      call.write({
        valid_host: request.host ?? '',
        original_request: request,
        ...answerTo(request, files, services),
      })
    })
    call.on('end', () => call.end())
    call.on('error', () => undefined)
  }
}

function answerTo(
  request: ReflectionRequest,
  files: readonly FileSymbols[],
  services: readonly string[],
): ReflectionResponse {
  const { file_by_filename: name, file_containing_symbol: symbol } = request
  if (request.list_services !== undefined) {
    return { list_services_response: { service: services.map((each) => ({ name: each })) } }
  }
  const type = request.all_extension_numbers_of_type
  if (type !== undefined) {
    return files.some(({ symbols }) => symbols.includes(type))
      ? { all_extension_numbers_response: { base_type_name: type, extension_number: [] } }
      : notFound()
  }
  const file = files.find(
    (each) => each.name === name || (symbol !== undefined && symbol !== '' && each.symbols.includes(symbol)),
  )
  if (file === undefined) return notFound()
  return {
    file_descriptor_response: { file_descriptor_proto: withImports(file, files).map(({ bytes }) => bytes) },
  }
}

function notFound(): ReflectionResponse {
  return { error_response: { error_code: status.NOT_FOUND, error_message: 'nothing has that name' } }
}

/** The file first, then all that it imports, each once. */
function withImports(file: FileSymbols, files: readonly FileSymbols[]): readonly FileSymbols[] {
  const found = new Set([file])
  for (const each of found) {
    for (const name of each.imports) found.add(files.find((other) => other.name === name)!)
  }
  return [...found]
}
