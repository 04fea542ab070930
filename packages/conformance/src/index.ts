export {
  type AdapterUnderTest,
  type Application,
  adapterSuite,
  type Listening,
  served,
} from './adapter.ts'
export * from './algorithm.ts'
export { type DialectSuiteOptions, dialectSuite } from './dialect.ts'
export { type Difference, runVectors, type VectorReport } from './run-vectors.ts'
export type { Runner } from './runner.ts'
export { type MakeStore, storeSuite } from './store.ts'
export { type Variant, variantsOf } from './variants.ts'
export { type Expectation, parseVectors, type Scenario, type VectorStep, type Vectors } from './vectors.ts'
