import type { KvCase } from '../../../support/kv-case.js';

export const CLUSTER_CASES: readonly KvCase[] = [];
