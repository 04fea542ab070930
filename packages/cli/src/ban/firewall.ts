import { spawn } from 'node:child_process'
import { ipKey, parseCidr } from '@sluice/limiter/address'
import { UsageError } from '../usage-error.ts'
import type { Offender } from './offender.ts'

/** The table of bans, in the network namespace of this process. Only `nft` is started, with rules on its standard input. */
export class Firewall {
  readonly #env: NodeJS.ProcessEnv

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = { ...env, PATH: `${env.PATH ?? ''}:/usr/sbin:/sbin` }
  }

  /**
   * Makes the table anew, with what is never banned.
   * @throws UsageError where rules may not be changed here
   */
  async open(never: readonly string[], size: number): Promise<void> {
    await this.#load(tableText(never, size))
  }

  /** Bans each for its time from now on, also where it is banned already. */
  async ban(offenders: readonly Offender[]): Promise<void> {
    const last = new Map(offenders.map((offender) => [`${offender.version} ${offender.address}`, offender]))
    await this.#load([...last.values()].map(elementText).join(''))
  }

  async #load(rules: string): Promise<void> {
    const nft = spawn('nft', ['-f', '-'], { env: this.#env, stdio: ['pipe', 'ignore', 'pipe'] })
    let said = ''
    nft.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(0, 1_000)
    })
    nft.stdin.on('error', () => undefined) // it ended early, and says why
    nft.stdin.end(rules)
    const code = await new Promise<number | null>((resolve, reject) => {
      nft.once('error', () => reject(new UsageError('cannot start nft: install nftables')))
      nft.once('close', resolve)
    })
    if (code === 0) return
    if (/Operation not permitted|must be root/.test(said))
      throw new UsageError(
        'may not change the rules of the firewall here: it needs the capability CAP_NET_ADMIN',
      )
    throw new UsageError(`nft refuses: ${said.split('\n')[0]}`)
  }
}

/** Only what clients began is dropped: answers to connections of this machine's own come through. */
function tableText(never: readonly string[], size: number): string {
  const versions = [4, 6] as const
  const sets = versions.map((version) => {
    const elements = never
      .map((text) => ({ cidr: parseCidr(text)!, host: text.split('/')[0]! }))
      .filter(({ cidr }) => cidr.address.version === version)
      .map(({ cidr, host }) => ipKey(host, cidr.bits, cidr.bits)!)
    return `  set never_v${version} { type ipv${version}_addr; flags interval; auto-merge; elements = { ${elements.join(', ')} }; }
  set banned_v${version} { type ipv${version}_addr; size ${size}; flags timeout; }
`
  })
  return `table inet sluice_ban
delete table inet sluice_ban
table inet sluice_ban {
${sets.join('')}  chain input {
    type filter hook input priority filter - 20; policy accept;
    iif lo accept
    ip saddr @never_v4 accept
    ip6 saddr @never_v6 accept
    ct direction original ip saddr @banned_v4 counter drop
    ct direction original ip6 saddr & ffff:ffff:ffff:ffff:: @banned_v6 counter drop
  }
}
`
}

/** Added, removed and added: an element that is there already would keep its old time. */
function elementText({ address, version, seconds }: Offender): string {
  const element = (more: string) => `element inet sluice_ban banned_v${version} { ${address}${more} }\n`
  return `add ${element(' timeout 1s')}delete ${element('')}add ${element(` timeout ${seconds}s`)}`
}
