import type { ServiceDefinition } from '@grpc/grpc-js'
import { loadFileDescriptorSetFromBuffer, type Options, type PackageDefinition } from '@grpc/proto-loader'
import { DESCRIPTOR_SET } from './descriptor-set.ts'

/** Names as `proto/` has them; what is not set is not there. */
const OPTIONS = { keepCase: true, longs: Number, arrays: true } as const

/** Services and messages by their full names. */
export function definitions(options: Options = {}): PackageDefinition {
  return loadFileDescriptorSetFromBuffer(Buffer.from(DESCRIPTOR_SET, 'base64'), { ...OPTIONS, ...options })
}

export function serviceOf(all: PackageDefinition, name: string): ServiceDefinition {
  return all[name] as ServiceDefinition
}

/** How a message is read and written. */
export interface MessageCodec {
  deserialize(bytes: Buffer): object
  serialize(message: object): Buffer
}

export function messageOf(all: PackageDefinition, name: string): MessageCodec {
  return all[name] as unknown as MessageCodec
}
