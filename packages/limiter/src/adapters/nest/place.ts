import { RequestMethod } from '@nestjs/common'
import { HOST_METADATA, METHOD_METADATA, PATH_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js'

/** A handler, or a whole class. */
export interface Place {
  // biome-ignore lint/complexity/noBannedTypes: as Nest has them
  readonly owner: Function
  // biome-ignore lint/complexity/noBannedTypes: as Nest has them
  readonly handler: Function | undefined
}

/**
 * Names a place, alike in every process: a route by its method and path, since bundlers shorten names of classes, and
 * two classes may have one name. What has no route has only these names.
 */
export function placeName({ owner, handler }: Place): string {
  const method: RequestMethod | undefined = handler && Reflect.getMetadata(METHOD_METADATA, handler)
  const ofClass = Reflect.getMetadata(PATH_METADATA, owner)
  if (ofClass === undefined || (handler !== undefined && method === undefined))
    return handler === undefined ? owner.name : `${owner.name}.${handler.name}`
  const host = Reflect.getMetadata(HOST_METADATA, owner)
  const version =
    (handler && Reflect.getMetadata(VERSION_METADATA, handler)) ??
    Reflect.getMetadata(VERSION_METADATA, owner)
  return [
    ...(method === undefined ? [] : [RequestMethod[method]]),
    ...(host === undefined ? [] : [`host ${String(host)}`]),
    ...(version === undefined ? [] : [`version ${[version].flat().map(String)}`]),
    `/${[ofClass, handler && Reflect.getMetadata(PATH_METADATA, handler)].flatMap(pathText).join('/')}`,
  ].join(' ')
}

function pathText(path: string | readonly string[] | undefined): string[] {
  const text = [path ?? '']
    .flat()
    .map((each) => each.replace(/^\/+|\/+$/g, ''))
    .join(',')
  return text === '' ? [] : [text]
}
