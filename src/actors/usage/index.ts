/** Monthly reports of the use of accounts. */
export { UsageReporter, UsageReports } from './usage-reporter.js';
