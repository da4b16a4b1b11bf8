import type { KvCase } from '../../../support/kv-case.js';

export const HYPERLOGLOG_CASES: readonly KvCase[] = [];
