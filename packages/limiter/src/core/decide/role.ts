/**
 * What a refusal by a rule means: `enforce` refuses the request; `quota` refuses it only when every quota rule of the
 * request does; `shadow` never does, it only reports; `deprioritize` never does, it lowers the request's priority.
 */
export type Role = 'enforce' | 'quota' | 'shadow' | 'deprioritize'

/**
 * Whether a rule in this role can refuse a request.
 * @example
 * canRefuse('shadow') // false
 */
export function canRefuse(role: Role): boolean {
  return role === 'enforce' || role === 'quota'
}
