import type { KvCase } from '../../../support/kv-case.js';

export const GEO_CASES: readonly KvCase[] = [];
