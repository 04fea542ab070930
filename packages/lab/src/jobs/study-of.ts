import { type CompileOptions, compile, type Domain } from '@sluice/limiter/rules'
import { CompareStudy } from '../compare/compare-study.ts'
import { SimulateStudy } from '../simulate/simulate-study.ts'
import type { StudyPlan } from './messages.ts'
import type { Study } from './study.ts'

/** A new study by its plan. */
export function studyOf(plan: StudyPlan, options: CompileOptions): Study<object, unknown> {
  const of = (domain: Domain) => ({ rules: compile([domain], options), domain })
  return plan.kind === 'simulate'
    ? new SimulateStudy(of(plan.domain))
    : new CompareStudy({ old: of(plan.old), new: of(plan.new) })
}

/** The domains of the rules that decide in it. */
export function domainsOf(plan: StudyPlan): Domain[] {
  return plan.kind === 'simulate' ? [plan.domain] : [plan.old, plan.new]
}
