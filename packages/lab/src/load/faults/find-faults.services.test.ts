import { describe, expect, test } from 'vitest'
import { statedBound } from '../admission-bound.ts'
import { createSender } from '../http-sender.ts'
import { requestMaker } from '../request-template.ts'
import { FAULTS, type FaultName } from './fault.ts'
import { startFaulty } from './faulty-server.test-support.ts'
import { type FaultReport, findFaults } from './find-faults.ts'

const LIMIT = 10
const PERIOD_MS = 2_000
/** Servers that are looked at side by side: more would slow each other down. */
const AT_ONCE = 3

async function reportOn(fault: FaultName | undefined): Promise<FaultReport> {
  const server = await startFaulty(fault, LIMIT, PERIOD_MS)
  const sender = createSender(new URL(server.url).origin, { connections: 20, timeoutMs: 10_000 })
  try {
    let keys = 0
    return await findFaults({
      stated: statedBound(LIMIT, PERIOD_MS),
      request: requestMaker({ url: server.url, ownAddresses: true }),
      sender,
      freshKey: () => `${keys++}`,
      signal: AbortSignal.timeout(60_000),
    })
  } finally {
    await sender.stop()
    await server.close()
  }
}

async function inGroups(faults: readonly (FaultName | undefined)[]): Promise<FaultReport[]> {
  const reports: FaultReport[] = []
  for (let i = 0; i < faults.length; i += AT_ONCE)
    reports.push(...(await Promise.all(faults.slice(i, i + AT_ONCE).map(wholeReportOn))))
  return reports
}

/** A machine that stands still for a moment leaves faults that could not be tried: then all are tried again. */
async function wholeReportOn(fault: FaultName | undefined): Promise<FaultReport> {
  for (let tries = 0; ; tries++) {
    const report = await reportOn(fault)
    if (tries === 2 || report.findings.every((each) => each.found !== undefined)) return report
  }
}

const found = ({ findings }: FaultReport) => findings.filter((each) => each.found).map((each) => each.fault)

describe('Acceptance 14.2: within a minute', () => {
  const names = Object.keys(FAULTS) as FaultName[]
  const reports: Promise<readonly FaultReport[]> = inGroups([undefined, ...names])

  test.each(names)('%s is found in a server that has it, and nothing else', async (fault) => {
    const report = (await reports)[1 + names.indexOf(fault)]!
    expect(found(report), JSON.stringify(report.findings, null, 1)).toEqual([fault])
    expect(report.seconds).toBeLessThan(60)
  })

  test('nothing is found where nothing is wrong', async () => {
    const report = (await reports)[0]!
    expect(found(report)).toEqual([])
    expect(report.findings.filter((each) => each.found === undefined)).toEqual([])
  })
})
