export interface LoadOptions {
  /**
   * Makes `unit: month` of descriptors a month of the calendar, in UTC, in place of 30 days. Default false. For limits
   * that requests bring, see `calendarMonths` of `compile`.
   */
  readonly calendarMonths?: boolean
}
