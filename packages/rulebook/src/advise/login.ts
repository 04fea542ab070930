import type { Limit } from '@sluice/limiter/rules'

/** Names of what takes a password, a code or a link that stands for one. */
const LOGIN =
  /^(?:log-?in|sign-?in|logon|authenticate|otp|totp|mfa|2fa|passw(?:or)?d-?reset|reset-?passw(?:or)?d|forgot-?passw(?:or)?d)$/i

/** Whether a limit is for requests that try a password: by a segment of its paths, or by its name. */
export function isOnLogin({ name, when }: Pick<Limit, 'name' | 'when'>): boolean {
  return (when?.path ?? [name]).some(namesLogin)
}

/** Whether a part of a text, between slashes and other marks, is the name of a login. */
export function namesLogin(text: string): boolean {
  return text.split(/[/.:_\s]+/).some((part) => LOGIN.test(part))
}
