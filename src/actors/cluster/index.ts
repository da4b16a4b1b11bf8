export { AlarmTeller } from './alarm-teller.js';
export { alarmsOf } from './cluster-alarms.js';
export { ClusterLook } from './cluster-look.js';
export { ProcessReporter, type ProcessReporterPorts } from './process-reporter.js';
export { MAX_DRAINED, Steering } from './steering.js';
