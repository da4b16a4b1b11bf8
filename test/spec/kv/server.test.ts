import { CLUSTER_CASES } from './cases/cluster.js';
import { GENERIC_COLLECTION_CASES } from './cases/generic-collections.js';
import { SERVER_OPERATION_CASES } from './cases/server-operations.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: keys of collections', GENERIC_COLLECTION_CASES);
describeCases('key-value commands: a cluster of one', CLUSTER_CASES);
describeCases('key-value commands: operating a database', SERVER_OPERATION_CASES);
