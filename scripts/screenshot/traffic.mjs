const PER_SECOND = 60

/** Requests to the rules of examples/rulebook: users who search, and one address that guesses passwords, in waves. */
export async function sendTraffic(http, seconds) {
  let last = 0
  const random = () => {
    last = (Math.imul(last, 1_664_525) + 1_013_904_223) >>> 0
    return last / 2 ** 32
  }
  for (let second = 0; second < seconds; second++) {
    const began = performance.now()
    const wave = 1 + Math.sin(second / 9) * 0.5 + (second % 40 > 28 ? 1.5 : 0)
    const count = Math.round(PER_SECOND * wave)
    await Promise.all(Array.from({ length: count }, () => ask(http, requestOf(random))))
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1_000 - (performance.now() - began))))
  }
}

function requestOf(random) {
  const kind = random()
  if (kind < 0.12) {
    const ip = random() < 0.7 ? '203.0.113.77' : `198.51.100.${Math.floor(random() * 60)}`
    return { method: 'POST', path: '/login', ip }
  }
  if (kind < 0.5)
    return { path: '/search/shoes', attributes: { user: `user-${Math.floor(random() ** 3 * 12)}` } }
  if (kind < 0.8) {
    const tenant = `tenant-${Math.floor(random() * 4)}`
    return { path: '/v1/models', attributes: { tenant, plan: tenant === 'tenant-0' ? 'free' : 'pro' } }
  }
  return { path: '/', attributes: {} }
}

async function ask(http, request) {
  const response = await fetch(`${http}/v1/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'shop', request }),
  })
  await response.arrayBuffer()
}
