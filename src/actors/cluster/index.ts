export { alarmsOf } from './cluster-alarms.js';
export { LOOK_FRESH_MS, MAX_DRAINED, PROCESS_ANSWER_MS } from './cluster-limits.js';
export { CANNOT_BE_ASKED, ClusterLook } from './cluster-look.js';
export { LoadBalancer } from './load-balancer.js';
export { BY_LOAD, bestMove, outdated, overloaded } from './load-placement.js';
export { ProcessReporter, type SaidOfItself } from './process-reporter.js';
export { answersIn, refusalOfDrain, refusalOfMove, SteeredCluster } from './steered-cluster.js';
export { Steering } from './steering.js';
