import { defineConfig } from 'vitest/config'

const shared = { pool: 'threads' as const, conditions: ['@sluice/source'] }

export default defineConfig({
  resolve: { conditions: shared.conditions },
  ssr: { resolve: { conditions: shared.conditions } },
  test: {
    pool: shared.pool,
    // A slow machine must not fail a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Samples of docs/ are written there, to be run as they stand.
    server: { deps: { inline: [/node_modules\/\.cache\/docs\//] } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'docs/**/*.test.ts'],
          exclude: ['**/*.services.test.ts'],
          isolate: false,
          // By default Vitest leaves one of two cores idle.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'services',
          include: ['packages/*/src/**/*.services.test.ts', 'docs/**/*.services.test.ts'],
          // Most of their time they wait for the programs that they start.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
